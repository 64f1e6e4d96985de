"""Laws of the backlog, over any sequence of what two personas may do."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from persona_hooks.errors import NotFoundError, RefusedError
from persona_mind.backlog.model import MAX_STEPS, Item
from persona_mind.backlog.service import Backlog, Draft
from persona_mind.kernel.scope import Project, Scope
from persona_store.admission import Admitted, admit
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from persona_mind.backlog.model import State

PERSONAS = ("Ann", "Bob")
TEXTS = ("write the changelog", "call the printers", "Write the  CHANGELOG")
SECONDS = st.integers(0, 200_000)


def admitted(text: str) -> Admitted:
    verdict = admit(text, "user")
    assert isinstance(verdict, Admitted)
    return verdict


class Transitions(RuleBasedStateMachine):
    """Every step goes through the service and the disk."""

    known = Bundle("known")

    @initialize()
    def start(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
        self.folder = tempfile.TemporaryDirectory()
        self.project = Project(Path("/rocket"), "rocket-0", home=False)
        profile = Profile(Path(self.folder.name) / "profile", lambda: self.now)
        self.backlog = Backlog(profile, lambda: self.now)
        self.closed: dict[str, State] = {}
        self.shown: set[tuple[str, float]] = set()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def scope(self, persona: str) -> Scope:
        return Scope(persona, persona, self.project)

    def items(self) -> dict[str, Item]:
        return {item.id: item for item in self.backlog.files.document(self.project).read().values}

    @rule(
        target=known,
        persona=st.sampled_from(PERSONAS),
        text=st.sampled_from(TEXTS),
        due=st.none() | SECONDS,
        again=st.booleans(),
    )
    def add(self, persona: str, text: str, due: int | None, again: bool) -> object:  # noqa: FBT001 - a drawn value
        when = None if due is None else self.now + timedelta(seconds=due)
        before = self.items()
        try:
            queued = self.backlog.add(self.scope(persona), Draft(admitted(text), due=when, again=again), lambda: None)
        except RefusedError as error:
            assert not again
            assert error.reason in {"already_taken", "already_done", "already_dropped"}  # noqa: PT017 - one of two ends
            assert self.items() == before
            return multiple()
        item = queued.item
        assert (item.state, item.persona) == ("open", persona)
        assert queued.refreshed == (item.id in before and before[item.id].live(self.now))
        if when is not None:
            assert item.expires >= when.replace(microsecond=when.microsecond // 1000 * 1000)
        self.closed.pop(item.id, None)
        return item.id

    @rule(handle=known, persona=st.sampled_from(PERSONAS), to=st.sampled_from(["take", "done", "dropped", "snooze"]))
    def move(self, handle: str, persona: str, to: str) -> None:
        scope, before = self.scope(persona), self.items()
        try:
            if to == "take":
                moved = self.backlog.take(scope, handle, lambda: None)
            elif to == "snooze":
                moved = self.backlog.snooze(scope, handle, self.now + timedelta(hours=1), lambda: None)
            else:
                moved = self.backlog.close(scope, handle, "done" if to == "done" else "dropped", None, lambda: None)
        except (RefusedError, NotFoundError):
            assert self.items() == before
            return
        old, new = before[moved.item.id], self.items()[moved.item.id]
        assert new == moved.item
        assert old.persona == persona
        assert old.active
        if to == "take" and old.state == "taken":
            assert not moved.changed
            assert new == old
        if not new.active:
            self.closed[new.id] = new.state
        others = {key: item for key, item in before.items() if key != new.id}
        assert {key: item for key, item in self.items().items() if key != new.id} == others

    @rule(seconds=SECONDS)
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def remind(self) -> None:
        now = self.now.timestamp() * 1000
        due = [(item.id, at) for item, at in self.backlog.awaited(self.project) if at <= now]
        if due:
            self.backlog.acknowledge(self.project, due, 1.0)
        assert not [at for _, at in self.backlog.awaited(self.project) if at <= now]

    @rule()
    def sweep(self) -> None:
        waiting = {item.id for item, _ in self.backlog.awaited(self.project)}
        live = {handle for handle, item in self.items().items() if item.live(self.now)}
        self.backlog.sweep(self.project, lambda: None)
        assert waiting <= live == self.items().keys()

    @rule(handle=consumes(known))
    def forget(self, handle: str) -> None:
        """Draw no more on this one."""

    @invariant()
    def laws_hold(self) -> None:
        if not hasattr(self, "backlog"):
            return
        rows = self.backlog.files.document(self.project).read()
        assert rows.invalid == 0
        assert len({item.id for item in rows.values}) == len(rows.values)
        for item in rows.values:
            if item.id in self.closed:
                assert item.state == self.closed[item.id]
            history = item.history or ()
            assert 1 <= len(history) <= MAX_STEPS
            assert history[0].to == "open"
            assert [step.at for step in history] == sorted(step.at for step in history)
            states = [step.to for step in history if step.to in {"open", "taken", "done", "dropped"}]
            assert states[-1] == item.state


Transitions.TestCase.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
test_laws = Transitions.TestCase
