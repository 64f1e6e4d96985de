"""Dispatch: calling hooks, within a budget, with one plugin's failure kept from the others.

pluggy finds and validates plugins; it stops at the first exception, knows no time and no async, so the calling is done
here. ``policies.POLICIES`` says what each hook may take and how results combine; ``runner`` runs one plugin.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from persona_hooks.enrolment import Factory, describe, enrol
from persona_hooks.policies import POLICIES, Policy
from persona_hooks.ports import PluginState
from persona_hooks.runner import Late, Runner
from persona_hooks.specs import Block, Continue, Handled, ToolVerdict, Transform
from persona_hooks.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from persona_hooks.runner import Job

__all__ = ["POLICIES", "Dispatched", "Dispatcher", "Late", "Policy", "Staged"]

LATE = 64
"""Late results that are kept until somebody asks."""


@runtime_checkable
class Staged(Protocol):
    """An argument that plugins fill in: what a plugin leaves in it counts only if the plugin did not fail."""

    def staged(self) -> Self:
        """Return an empty one to be filled in."""

    def merge(self, other: Self) -> None:
        """Take over what was filled in, all of it or nothing."""


class Dispatched(NamedTuple):
    """What came of one dispatch.

    Attributes:
        results: What the plugins returned, None left out, in their order.
        handled: For ``input`` the last word (``Handled``, ``Transform`` or ``Continue``); for ``tool_call`` the first
            ``ToolVerdict``; for ``tool_result`` the replaced text. None where nobody decided.
        missed: The plugins that failed, were late or were not asked.
    """

    results: Sequence[Any] = ()
    handled: Any = None
    missed: tuple[str, ...] = ()


class Dispatcher:
    """Calls the hooks of all plugins.

    Any thread may call; calls are synchronous. A host with an event loop uses ``asyncio.to_thread``.

    Args:
        clock: A monotonic clock in seconds, by which deadlines are set.
        released: Told the name of each plugin that is left out or taken out, so that the host can take back what the
            plugin registered elsewhere.
        patience: How many times its budget a hook may take: 1 where a person waits at a prompt, more where a script
            does and a dropped answer would be worse than a late one.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        released: Callable[[str], None] | None = None,
        patience: float = 1.0,
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._released = released
        self._runners: list[Runner] = []
        self._rejected: list[PluginState] = []
        self._table: dict[str, list[Runner]] = {hook: [] for hook in POLICIES}
        self._late: deque[Late] = deque(maxlen=LATE)
        self._late_lock = threading.Lock()

    def load(self, factories: Iterable[tuple[str, Factory]]) -> None:
        """Build and check plugins and put them in order. A bad one is recorded in ``states``, never raised.

        Args:
            factories: Each plugin's entry-point name and what builds its instance.
        """
        enrolment = enrol(factories)
        self._rejected = [PluginState(name, "failed", detail) for name, detail in enrolment.rejected]
        self._runners = [Runner(item, self._take_late) for item in enrolment.enrolled]
        self._fill_table()
        loaded = {runner.name for runner in self._runners}
        for name, _ in enrolment.rejected:
            # A doubled name is also the first one's, which stays.
            if self._released is not None and name not in loaded:
                self._released(name)

    def call(self, hook: str, turn: Turn | None = None, **arguments: Any) -> Dispatched:  # noqa: ANN401 - per hook
        """Call ``hook`` and return what came of it, at the latest when its budget is used up.

        Args:
            hook: One of the hooks in ``specs``.
            turn: Generation and licence of the work; its own deadline, if earlier, counts too.
            arguments: The hook's arguments, all of them but ``turn``.

        Raises:
            LookupError: There is no such hook, or one of its arguments is missing.
        """
        runners, policy = self._table[hook], POLICIES[hook]
        if not runners:
            return Dispatched(handled=Continue() if hook == "input" else None)
        base = turn if turn is not None else Turn()
        deadline = self._clock() + policy.budget * self._patience
        if base.deadline is not None:
            deadline = min(deadline, base.deadline)
        dispatch = _Dispatch(hook, policy, Turn(base.generation, deadline, base.alive, self._clock), arguments)
        if policy.vital:
            return self._vital(dispatch, runners)
        return dispatch.run(runners)

    def states(self) -> list[PluginState]:
        """Return how each plugin fares, in calling order, then those that were left out."""
        return [*(runner.state() for runner in self._runners), *self._rejected]

    def late(self) -> list[Late]:
        """Return, once, what implementations did after their time was up."""
        with self._late_lock:
            items = list(self._late)
            self._late.clear()
        return items

    def caught_up(self, timeout: float) -> bool:
        """Wait until what is late has ended, at most ``timeout`` seconds in all; return whether it has."""
        deadline = time.monotonic() + timeout
        return all(runner.caught_up(max(0.0, deadline - time.monotonic())) for runner in self._runners)

    def close(self) -> None:
        """Call no plugin any more and end the lanes; one that hangs is left behind, as a daemon."""
        self._table = {hook: [] for hook in POLICIES}
        for runner in self._runners:
            runner.close()

    def _vital(self, dispatch: _Dispatch, runners: list[Runner]) -> Dispatched:
        for runner, limit in dispatch.each(runners):
            problem = dispatch.register(runner, limit)
            if problem:
                runner.fail(problem)
                if self._released is not None:
                    self._released(runner.name)
        self._fill_table()
        return dispatch.dispatched()

    def _fill_table(self) -> None:
        self._table = {hook: [runner for runner in self._runners if runner.implements(hook)] for hook in POLICIES}

    def _take_late(self, late: Late) -> None:
        if POLICIES[late.hook].keeps_late or late.error is not None:
            with self._late_lock:
                self._late.append(late)


class _Dispatch:
    """One dispatch of one hook."""

    def __init__(self, hook: str, policy: Policy, turn: Turn, arguments: dict[str, Any]) -> None:
        self._hook, self._policy, self._turn, self._arguments = hook, policy, turn, arguments
        self._results: list[Any] = []
        self._missed: list[str] = []

    def run(self, runners: list[Runner]) -> Dispatched:
        """Ask the plugins as the hook's policy says."""
        if self._policy.mode == "collect":
            begun = [(runner, self._begin(runner, self._arguments, self._turn)) for runner in runners]
            for runner, job in begun:
                self._take(runner, job)
            return self.dispatched()
        last: object = Continue() if self._hook == "input" else None
        for runner, limit in self.each(runners):
            value = self._take(runner, self._begin(runner, self._arguments, limit))
            if self._policy.closed and runner.name in self._missed:
                value = ToolVerdict(f"The tool was not run: {runner.name} could not check it. See `persona doctor`.")
            if isinstance(value, Handled | ToolVerdict):
                return self.dispatched(value)
            last = self._chained(value) or last
        return self.dispatched(last)

    def each(self, runners: list[Runner]) -> Iterator[tuple[Runner, Turn]]:
        """Give each plugin its turn: half of the time that remains, and to the last one all of it."""
        for index, runner in enumerate(runners):
            now, remaining = self._turn.clock(), self._turn.remaining or 0.0
            share = remaining if index == len(runners) - 1 else remaining / 2
            yield runner, Turn(self._turn.generation, now + share, self._turn.alive, self._turn.clock)

    def register(self, runner: Runner, turn: Turn) -> str:
        """Let one plugin fill in what is staged; return what is wrong, or nothing once it is merged."""
        staged = {name: value.staged() for name, value in self._arguments.items() if isinstance(value, Staged)}
        job = self._begin(runner, {**self._arguments, **staged}, turn)
        self._take(runner, job)
        if job is None or not job.finished or job.abandoned:
            return f"{self._hook}: it took too long"
        if job.error is not None:
            return f"{self._hook}: {describe(job.error)}"
        try:
            for name, value in staged.items():
                self._arguments[name].merge(value)
        except ValueError as error:
            self._missed.append(runner.name)
            return f"{self._hook}: {error}"[:300]
        return ""

    def dispatched(self, handled: object = None) -> Dispatched:
        """Return what came of it."""
        return Dispatched(self._results, handled, tuple(self._missed))

    def _begin(self, runner: Runner, arguments: dict[str, Any], turn: Turn) -> Job | None:
        return runner.begin(self._hook, arguments, turn, queue=self._policy.mode == "notify" and not self._policy.vital)

    def _take(self, runner: Runner, job: Job | None) -> object:
        """Wait for a plugin's answer and check it; None where there is none that counts."""
        if job is None or not runner.wait(job) or job.error is not None:
            self._missed.append(runner.name)
            return None
        value = job.value
        if value is None or self._policy.mode == "notify":
            return None
        if not self._turn.alive():
            runner.keep(job)
            self._missed.append(runner.name)
            return None
        if not _valid(self._hook, value):
            runner.note(f"{self._hook}: it returned {type(value).__name__}, which this hook does not take")
            self._missed.append(runner.name)
            return None
        self._results.append(value)
        return value

    def _chained(self, value: object) -> object:
        """Hand a changed text on to the plugins that follow; return what changed it."""
        text = value.text if isinstance(value, Transform) else value
        if isinstance(text, str):
            self._arguments = {**self._arguments, "text": text}
            return value
        return None


def _valid(hook: str, value: object) -> bool:
    if hook == "input":
        return isinstance(value, Continue | Transform | Handled)
    if hook == "before_agent_start":
        return isinstance(value, list | tuple) and all(isinstance(block, Block) for block in value)
    if hook == "tool_call":
        return isinstance(value, ToolVerdict)
    return isinstance(value, str)
