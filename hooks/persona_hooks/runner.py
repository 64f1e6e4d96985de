"""One plugin at run time: its lanes, its breaker, and what it did after its time was up.

A call that is late is abandoned: the caller goes on, the implementation runs to its end on its lane. Until it has ended
the plugin is overdue and nobody waits for it; notices are queued behind the late call, questions are skipped. Three
overruns in a row open a breaker, which a ping (a no-op on the lane) closes again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from persona_hooks.enrolment import describe
from persona_hooks.errors import PersonaError
from persona_hooks.lanes import Lane, LoopLane, ThreadLane, is_async, run_plain
from persona_hooks.ports import PluginState
from persona_hooks.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.enrolment import Enrolled, Implementation

OVERRUNS = 3
"""Overruns in a row after which a plugin is not asked until its lane answers a ping."""
PENDING = 64
"""Notices that may wait behind a late call; further ones are dropped and counted."""


class Late(NamedTuple):
    """What an implementation did after its time was up.

    Attributes:
        plugin: Which plugin.
        hook: Which hook.
        generation: The session generation that it worked for.
        result: What it returned.
        error: What it raised, where that may have changed something.
    """

    plugin: str
    hook: str
    generation: int
    result: Any = None
    error: PersonaError | None = None


class Job:
    """One call of one implementation. Its end and its caller's patience race; the runner's lock decides who won.

    Attributes:
        value: What the implementation returned, once it is ``finished``.
        error: What it raised.
    """

    def __init__(self, runner: Runner, hook: str, arguments: dict[str, Any], turn: Turn) -> None:
        self.hook = hook
        self.turn = turn
        self.value: object = None
        self.error: BaseException | None = None
        self.finished = False
        self.abandoned = False
        self.done = threading.Lock()
        self.done.acquire()
        self._runner = runner
        self._implementation: Implementation = runner.enrolled.implementations[hook]
        # Taken here, in the caller's thread: an argument that the host forgot is the host's error.
        self._arguments = {name: arguments[name] for name in self._implementation.arguments if name != "turn"}

    def run(self) -> Any:  # noqa: ANN401 - an awaitable, or None once it has ended
        """Call the implementation; see ``lanes.Job``."""
        if "turn" in self._implementation.arguments:
            self._arguments["turn"] = self.turn
        try:
            value = self._implementation.function(**self._arguments)
        except BaseException as error:  # noqa: BLE001 - fault isolation: whatever it is, it is recorded as the plugin's
            self.end(None, error)
            return None
        if hasattr(value, "__await__"):
            return value
        self.end(value, None)
        return None

    def end(self, value: object, error: BaseException | None) -> None:
        """Take what came of it; see ``lanes.Job``."""
        self.value, self.error = value, error
        self._runner.ended(self)
        self.done.release()


class Runner:
    """Runs one enrolled plugin.

    Args:
        enrolled: The plugin.
        late: Receives what comes after its time. Called under a lock: it must only take note.
    """

    def __init__(self, enrolled: Enrolled, late: Callable[[Late], None]) -> None:
        self.enrolled = enrolled
        self._late = late
        self._lanes = _lanes(enrolled)
        self._lock = threading.Lock()
        self._caught_up = threading.Condition(self._lock)
        self._failed = False
        self._problem = ""
        self._overruns = 0
        self._open = False
        self._overdue = 0
        self._dropped = 0

    @property
    def name(self) -> str:
        """The plugin's entry-point name."""
        return self.enrolled.name

    def implements(self, hook: str) -> bool:
        """Whether the plugin is in and implements ``hook``."""
        return hook in self.enrolled.implementations and not self._failed

    def begin(self, hook: str, arguments: dict[str, Any], turn: Turn, *, queue: bool) -> Job | None:
        """Start a call that its caller will ``wait`` for.

        Args:
            hook: Which hook.
            arguments: All of the hook's arguments but ``turn``.
            turn: What the implementation is given.
            queue: Whether a plugin that is overdue is told later, with nobody waiting, or not at all.

        Returns:
            The job to wait for, or None where there is nothing to wait for.
        """
        job = Job(self, hook, arguments, turn)
        lane = self._lanes[hook]
        if lane.inside():
            # A plugin that makes the host call it again would wait for itself.
            run_plain(job)
            return job
        with self._lock:
            if self._failed:
                return None
            busy = self._overdue > 0 or self._open
            if busy and not self._queued(job, queue=queue):
                return None
        lane.submit(job)
        return None if busy else job

    def _queued(self, job: Job, *, queue: bool) -> bool:
        if not queue:
            self._overran()
            return False
        if self._overdue >= PENDING:
            self._dropped += 1
            return False
        self._overdue += 1
        job.abandoned = True
        job.turn = Turn(job.turn.generation, None, job.turn.alive, job.turn.clock)
        return True

    def wait(self, job: Job) -> bool:
        """Wait until ``job`` has ended or its turn's time is up; False where it is late.

        An interrupt abandons the job like lateness does, so that nothing waits for it.
        """
        expired = False
        try:
            if not job.finished:
                job.done.acquire(timeout=-1 if job.turn.remaining is None else job.turn.remaining)
                expired = True
        finally:
            with self._lock:
                if not job.finished:
                    job.abandoned = True
                    self._overdue += 1
                    if expired:
                        self._overran()
        return job.finished and not job.abandoned

    def ended(self, job: Job) -> None:
        """Take note of a job's end."""
        with self._lock:
            job.finished = True
            if job.abandoned:
                self._overdue -= 1
                self._keep(job)
                self._caught_up.notify_all()
            else:
                self._overruns = 0
            if job.error is not None:
                self._problem = f"{job.hook}: {describe(job.error)}"

    def caught_up(self, timeout: float) -> bool:
        """Wait until no call runs after its time any more, at most ``timeout`` seconds; return whether none does."""
        with self._caught_up:
            return self._caught_up.wait_for(lambda: self._overdue == 0, timeout)

    def keep(self, job: Job) -> None:
        """Treat a job that ended in time as late, since its session was replaced meanwhile."""
        with self._lock:
            self._keep(job)

    def note(self, problem: str) -> None:
        """Record what went wrong, for ``doctor``."""
        with self._lock:
            self._problem = problem

    def fail(self, problem: str) -> None:
        """Take the plugin out for good."""
        with self._lock:
            self._failed, self._problem = True, problem

    def state(self) -> PluginState:
        """Return how the plugin fares."""
        with self._lock:
            state: Literal["loaded", "failed", "slow"] = (
                "failed" if self._failed else "slow" if self._open else "loaded"
            )
            notes = [self._problem] if self._problem else []
            if self._overdue:
                notes.append(f"{self._overdue} call(s) still running after their time")
            if self._dropped:
                notes.append(f"{self._dropped} notice(s) dropped")
            return PluginState(self.name, state, "; ".join(notes), tuple(sorted(self.enrolled.implementations)))

    def close(self) -> None:
        """End the lanes; a lane that hangs is left behind, as a daemon."""
        for lane in set(self._lanes.values()):
            if not lane.inside():
                lane.close(0.0 if self._overdue else 1.0)

    def answered(self) -> None:
        """Close the breaker: the lane is free again. The next overrun opens it at once."""
        with self._lock:
            self._open = False
            self._overruns = OVERRUNS - 1

    def _overran(self) -> None:
        self._overruns += 1
        if self._overruns >= OVERRUNS and not self._open:
            self._open = True
            # The slowest lane answers last; a free one must not close the breaker for it.
            _Ping(self, list(set(self._lanes.values()))).run()

    def _keep(self, job: Job) -> None:
        error = job.error if isinstance(job.error, PersonaError) and job.error.changed != "no" else None
        if error is not None or job.value is not None:
            self._late(Late(self.name, job.hook, job.turn.generation, job.value, error))


class _Ping:
    """A no-op that goes through a plugin's lanes in turn and then closes its breaker."""

    def __init__(self, runner: Runner, lanes: list[Lane]) -> None:
        self._runner, self._left = runner, lanes

    def run(self) -> None:
        if self._left:
            self._left.pop().submit(self)
        else:
            self._runner.answered()

    def end(self, value: object, error: BaseException | None) -> None:
        """The lane ended before the ping came through; it begins anew, and so does the plugin."""
        del value, error
        self._runner.answered()


def _lanes(enrolled: Enrolled) -> dict[str, Lane]:
    plain, loop = ThreadLane(enrolled.name), LoopLane(enrolled.name)
    return {
        hook: loop if is_async(implementation.function) else plain
        for hook, implementation in enrolled.implementations.items()
    }
