"""Forty turns of one person: recall by tool, notes on two branches, a reminder, a restart, and a move to a new home."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from persona_host.embedded.host import EmbeddedHost
from tests.support.embedded import RecordingScreen
from tests.support.model_server import ModelServer, Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from persona_host.place import Place
    from tests.support.clock import ManualClock
    from tests.support.model_server import Request

ORDERS: dict[str, Callable[[str], ToolCall]] = {
    "save": lambda rest: ToolCall("memory", {"action": "remember", "kind": "note", "text": rest}),
    "for-now": lambda rest: ToolCall("memory", {"action": "remember", "scope": "stm", "kind": "note", "text": rest}),
    "find": lambda rest: ToolCall("memory", {"action": "recall", "query": rest}),
    "note": lambda rest: ToolCall("notes", {"action": "save", "text": rest}),
    "notes": lambda _: ToolCall("notes", {"action": "list"}),
    "queue": lambda rest: ToolCall("backlog", {"action": "add", "text": rest, "due": "in 2 hours"}),
    "open": lambda _: ToolCall("backlog", {"action": "list"}),
}


def scripted(request: Request) -> Reply:
    """Call the tool that the first word of the person's line names; answer anything else in words."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return Reply(f"Done: {last['content']}")
    verb, _, rest = request.of("user")[-1].partition(" ")
    order = ORDERS.get(verb)
    return Reply("Yes.") if order is None else Reply("One moment.", calls=(order(rest),))


@dataclass
class Person:
    """Someone who talks in one place, over one clock, and counts the turns."""

    place: Place
    clock: ManualClock
    model: ModelServer
    turns: int = 0
    host: EmbeddedHost | None = None
    screen: RecordingScreen | None = None

    def begin(self, agent_dir: Path | None = None) -> None:
        """Start the host, in the same conversation where there is one."""
        self.end()
        place = replace(self.place, session="journey", agent_dir=agent_dir or self.place.agent_dir)
        self.screen = RecordingScreen()
        self.host = EmbeddedHost.start(place, screen=self.screen, ui=self.screen, scheduler=self.clock, patience=20.0)

    def end(self) -> None:
        if self.host is not None:
            self.host.close()
            self.host = None

    def say(self, text: str) -> str:
        """Say a line; return what the model answers in the end."""
        assert self.host is not None
        assert self.screen is not None
        before = len(self.screen.of("reply"))
        self.host.turns.say(text)
        self.turns += 1
        replies = self.screen.of("reply")[before:]
        assert replies, [(event.kind, event.card.text()) for event in self.screen.events[-3:]]
        return replies[-1].said

    def given(self) -> str:
        """What stood before the conversation in the model's last request."""
        return "\n".join(self.model.requests[-1].of("system"))

    def order(self, line: str) -> str:
        """Give a command; return its answer."""
        assert self.host is not None
        assert self.screen is not None
        self.host.command(line)
        return self.screen.events[-1].card.text()

    @property
    def leaf(self) -> str:
        assert self.host is not None
        leaf = self.host.journal.leaf
        assert leaf is not None
        return leaf


@pytest.fixture
def person(place: Place, clock: ManualClock) -> Iterator[Person]:
    (place.cwd / ".git").mkdir()
    with ModelServer(scripted) as model:
        person = Person(place, clock, model)
        for agent_dir in (place.agent_dir, place.home / "empty"):
            settings = agent_dir / "persona" / "settings.json"
            settings.parent.mkdir(parents=True)
            models = {"models": {"default": {"model": "openai:scripted", "baseUrl": model.url}}}
            settings.write_text(json.dumps(models), "utf-8")
        person.begin()
        yield person
        person.end()
        assert model.unexpected == 0


def first_facts(person: Person) -> None:
    """Turns 1 to 10: told by tool and by cue, and recalled by tool."""
    person.say("hello")
    person.say("save the staging database listens on port 5433")
    person.say("Remember that deploys happen on Tuesdays.")
    assert "Tuesdays" in person.given()
    assert "5433" in person.say("find staging port")
    assert "Tuesdays" in person.say("find when deploys happen")
    person.say("for-now the build is broken since the merge")
    for topic in ("weather", "lunch", "music"):
        person.say(f"let us talk of {topic}")
    assert "build is broken" in person.say("find build broken")


def two_branches(person: Person) -> tuple[str, str]:
    """Turns 11 to 22: a note on each of two branches, and neither is seen from the other."""
    assert person.host is not None
    fork = person.leaf
    person.say("note the left road wants a ferry")
    person.say("let us go on to the left")
    assert "ferry" in person.given()
    person.say("and on")
    assert "ferry" in person.say("notes")
    left = person.leaf
    person.host.move(fork)
    person.say("and now to the right")
    assert "ferry" not in person.given()
    person.say("note the right road wants a mountain pass")
    person.say("let us go on to the right")
    assert "mountain" in person.given()
    assert "ferry" not in person.say("notes")
    right = person.leaf
    person.host.move(left)
    told = person.say("notes")
    assert ("ferry" in told, "mountain" in told) == (True, False)
    person.say("left it is")
    left = person.leaf
    person.host.move(right)
    told = person.say("notes")
    assert ("ferry" in told, "mountain" in told) == (False, True)
    person.say("no, right it is")
    return left, person.leaf


def reminded(person: Person) -> None:
    """Turns 23 to 29: an item comes due while nobody speaks, is shown once, and starts no turn."""
    assert person.host is not None
    assert person.screen is not None
    person.say("queue call the printers")
    assert "call the printers" in person.say("open")
    asked, shown = len(person.model.requests), len(person.screen.of("card"))
    person.clock.advance(7_100)
    person.host.turns.drain()
    assert len(person.screen.of("card")) == shown
    person.clock.advance(200)
    person.host.turns.drain()
    cards = [event.card.text() for event in person.screen.of("card")[shown:]]
    assert len(cards) == 1
    assert "call the printers" in cards[0]
    assert len(person.model.requests) == asked
    for line in ("thank you", "later", "and later", "still later", "and so on"):
        person.say(line)
        person.clock.advance(600)
    assert len(person.screen.of("card")) == shown + 1


def restarted(person: Person, left: str) -> None:
    """Turns 30 to 36: the next process knows facts, both branches and the item, and reminds of nothing again."""
    person.begin()
    assert person.host is not None
    assert person.screen is not None
    assert person.screen.of("card") == []
    person.say("which port does staging use?")
    assert "5433" in person.given()
    assert "call the printers" in person.given()
    assert "5433" in person.say("find staging port")
    told = person.say("notes")
    assert ("ferry" in told, "mountain" in told) == (False, True)
    person.host.move(left)
    told = person.say("notes")
    assert ("ferry" in told, "mountain" in told) == (True, False)
    assert "call the printers" in person.say("open")
    person.say("good")
    person.say("let us pack")


def moved(person: Person) -> None:
    """Turns 37 to 40: everything goes into an empty profile, whose model is given and finds it."""
    archive = person.place.home / "all.zip"
    person.order(f"/mind export {archive}")
    assert archive.exists()
    person.begin(person.place.home / "empty")
    person.say("who am I to you?")
    assert "5433" not in person.given()
    assert "Imported" in person.order(f"/mind import {archive}")
    person.say("which port does staging use?")
    assert "5433" in person.given()
    assert "Tuesdays" in person.say("find when deploys happen")
    assert "call the printers" in person.say("open")


def test_forty_turns_with_notes_a_reminder_a_restart_and_a_move(person: Person) -> None:
    first_facts(person)
    left, _ = two_branches(person)
    reminded(person)
    restarted(person, left)
    moved(person)
    assert person.turns == 40
    for log in person.place.home.rglob("*.jsonl"):
        assert b"<persona-mind-" not in log.read_bytes()
