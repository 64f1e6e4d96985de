"""The runtime keeps what belongs to one session out of the next, and a plugin's fault out of the conversation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from persona_hooks import hookimpl
from persona_hooks.cards import Card
from persona_hooks.errors import ConflictError, UncertainError
from persona_hooks.journal import MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.verbs import PEOPLE, Call, NoParams, Outcome, Registry, Verb
from persona_host.headless import NoModels, StderrUi, SystemScheduler
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from persona_hooks.ports import Entry, Host, Session
    from persona_hooks.specs import Renderers
    from persona_hooks.turn import Turn

TEXT = "the zebra"


class Blow(NoParams):
    """Fail as no verb should."""


class Clumsy:
    """A plugin with every fault: it raises KeyErrors, and it is late with what went wrong."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        registry.add(Verb("clumsy.blow", Blow, "write", self.blow, self.words, PEOPLE, "clumsy"))

    @hookimpl
    def register_renderers(self, renderers: Renderers) -> None:
        renderers.add("clumsy-card", self.card)

    @hookimpl
    def input(self, session: Session, text: str, turn: Turn) -> None:
        del session, text
        while turn.remaining:
            time.sleep(0.01)
        raise UncertainError("Nobody knows whether it was written.")

    def blow(self, call: Call, params: NoParams) -> Outcome:
        del call, params
        raise KeyError(TEXT)

    def words(self, outcome: Outcome) -> Card:
        del outcome
        return Card("done")

    def card(self, session: Session, data: Mapping[str, object]) -> Card:
        del session, data
        raise KeyError(TEXT)


@pytest.fixture
def runtime(home: Path, agent_dir: Path, environ: dict[str, str]) -> Iterator[Runtime]:
    def plugins() -> Found:
        return [("clumsy", lambda: Clumsy), *entry_points()]

    setup = Setup("test", agent_dir, home, environ, Capabilities(), plugins, patience=1)
    runtime = Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler())
    runtime.open(MemoryJournal("s1", home), session_id="s1", cwd=home)
    yield runtime
    runtime.close()


def test_a_verb_that_fails_as_none_should_is_an_answer_that_says_so(runtime: Runtime) -> None:
    answer = runtime.command("/clumsy")
    assert (answer.ok, answer.changed, answer.details["reason"]) == (False, "unknown", "internal_error")
    assert "KeyError" in answer.text
    assert TEXT not in answer.text
    assert any(plugin == "clumsy.blow" for plugin, _ in runtime.problems)


def test_a_renderer_that_fails_costs_its_card_only(runtime: Runtime) -> None:
    seen: list[Entry] = []
    journal = runtime.session.journal
    assert isinstance(journal, MemoryJournal)
    journal.on_append(seen.append)
    journal.append(runtime.session.guard(), "clumsy-card", {})
    card = runtime.render(seen[0])
    assert card is not None
    assert TEXT not in card.text()
    assert runtime.command("/mind").ok


def test_a_guard_of_a_session_that_ended_appends_nothing(runtime: Runtime, home: Path) -> None:
    old = runtime.session
    runtime.open(MemoryJournal("s2", home), session_id="s2", cwd=home)
    with pytest.raises(ConflictError):
        old.journal.append(old.guard(), "persona-mind-card", {"ids": []})
    assert old.journal.entries() == []


def test_what_failed_after_its_time_was_up_is_told_when_things_have_settled(runtime: Runtime) -> None:
    runtime.input("Hello.")
    assert [card.title for card in settled(runtime)] == ["Nobody knows whether it was written."]


def settled(runtime: Runtime) -> list[Card]:
    for _ in range(500):
        if cards := runtime.settled():
            return cards
        time.sleep(0.02)
    return []
