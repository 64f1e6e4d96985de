"""Verbs: declared once, checked once, answered always."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from persona_hooks.cards import Card
from persona_hooks.errors import (
    BusyError,
    ConflictError,
    InvalidError,
    NotFoundError,
    PersonaError,
    RefusedError,
    StorageError,
    UncertainError,
)
from persona_hooks.journal import MemoryJournal
from persona_hooks.owner import Owner
from persona_hooks.ports import Session
from persona_hooks.turn import Turn
from persona_hooks.verbs import EVERYONE, PEOPLE, Call, Params, Registry, Verb, perform, refusal, validate
from tests.hooks.sample import Nothing, Recall, Remember, Said, registry, verb


@pytest.fixture
def call(tmp_path: Any) -> Call:  # noqa: ANN401 - a path
    session = Session("s", 1, tmp_path, MemoryJournal("s"))
    return Call(Owner("c", "s", "main", None), session, "user", "person", Turn(1))


class Silent(Params):
    __doc__ = None


class Acting(Params):
    """Take an action."""

    action: str


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (verb("memory"), "prefix.action"),
        (verb("memory.re-member", command="x"), "prefix.action"),
        (verb("Memory.x"), "prefix.action"),
        (verb("a.b", Silent), "docstring"),
        (verb("a.b", Acting), "action"),
        (verb("a.b", command=""), "command"),
        (verb("a.b", command="Mind x"), "plain words"),
        (verb("a.b", command="mind --x"), "plain words"),
        (replace(verb("a.b"), shown_to=frozenset({"model"})), "command"),
    ],
)
def test_a_malformed_verb_is_an_error_at_start(bad: Verb[Any, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Registry().add(bad)


@pytest.mark.parametrize("second", [verb("a.b", command="other"), verb("c.d", command="a b")])
def test_a_doubled_name_or_command_is_an_error_and_adds_nothing(second: Verb[Any, Any]) -> None:
    verbs = Registry()
    verbs.add(verb("a.b"))
    with pytest.raises(ValueError, match="registered twice"):
        verbs.add(verb("e.f"), second)
    assert [item.name for item in verbs] == ["a.b"]


def test_verbs_without_a_command_do_not_collide() -> None:
    verbs = Registry()
    hidden = frozenset({"model"})
    for name in ("a.b", "a.c"):
        verbs.add(Verb(name, Nothing, "read", lambda _c, _p: Said(), lambda _o: Card(""), hidden))
    assert len(verbs) == 2


def test_a_merge_takes_verbs_and_guides_or_nothing() -> None:
    verbs, more = Registry(), Registry()
    verbs.add(verb("a.b"))
    more.add(verb("c.d"))
    more.guide("c", "When to use it.")
    verbs.merge(more)
    assert (len(verbs), verbs.guidance("c"), verbs.guidance("a")) == (2, "When to use it.", "")
    with pytest.raises(ValueError, match="twice"):
        verbs.merge(more)


def test_an_unknown_verb_is_answered_with_its_neighbours() -> None:
    with pytest.raises(NotFoundError, match=r"note\.forget, note\.move") as refused:
        registry().get("note.hunter2")
    assert "hunter2" not in str(refused.value)
    assert refused.value.reason == "unknown_verb"


def test_each_door_is_offered_its_own_verbs() -> None:
    verbs = Registry()
    verbs.add(Verb("a.b", Nothing, "read", lambda _c, _p: Said(), lambda _o: Card(""), PEOPLE, "a"))
    assert [item.name for item in verbs.shown_to("person")] == ["a.b"]
    assert verbs.shown_to("model") == []
    assert len(EVERYONE) == 5


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "text"),
        ({"text": 3}, "text"),
        ({"text": ""}, "text"),
        ({"text": "x" * 401}, "text"),
        ({"text": None}, "text"),
        ({"text": "x", "limit": "5"}, "limit"),
        ({"text": "x", "limit": True}, "limit"),
        ({"text": "x", "limit": 1.5}, "limit"),
        ({"text": "x", "scope": "project"}, "scope"),
        ({"text": "x", "dueInSeconds": 0}, "dueInSeconds"),
        ({"text": "x", "hunter2": 1}, "arguments"),
        ({"text": "x", "inner": {"hunter2": 1}}, "inner"),
        ({"text": "x", "words": {"hunter2": "swordfish"}}, "words"),
        ({"text": float("nan")}, "text"),
        ({"text": "x", "weight": float("inf")}, "weight"),
        ({"text": "\ud800"}, "text"),
        ({"words": {"x": "\ud800"}, "text": "x"}, "words"),
        ({"text": {1, 2}}, "arguments"),
        ({"text": b"x"}, "arguments"),
    ],
)
def test_a_wrong_argument_is_refused_by_field_and_never_repeated(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        validate(verb("a.b", Remember), arguments)
    assert refused.value.details["field"] == field
    assert "hunter2" not in str(refused.value)
    assert "swordfish" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_argument_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidError, match="It takes: query, scope, limit, tags, exact, boost"):
        validate(verb("a.b", Recall), {"qeury": "x"})


def test_json_is_read_strictly_and_a_command_line_is_not() -> None:
    assert validate(verb("a.b", Recall), {"limit": "3"}, lax=True).model_dump()["limit"] == 3
    with pytest.raises(InvalidError):
        validate(verb("a.b", Recall), {"limit": "3"})
    with pytest.raises(InvalidError):
        validate(verb("a.b", Recall), {"limit": "three"}, lax=True)


def test_both_spellings_of_a_name_are_taken() -> None:
    for name in ("dueInSeconds", "due_in_seconds"):
        assert validate(verb("a.b", Remember), {"text": "x", name: 3}).model_dump()["due_in_seconds"] == 3


def test_an_answer_holds_words_facts_and_whether_anything_changed(call: Call) -> None:
    def run(_: Call, params: Params) -> Said:
        return Said(said=f"did {type(params).__name__}", changed="yes")

    doing = Verb("a.b", Nothing, "write", run, lambda outcome: Card(outcome.said, ("more",)), EVERYONE, "a")
    answer = perform(doing, Nothing(), call)
    assert (answer.ok, answer.changed, answer.text) == (True, "yes", "did Nothing\nmore")
    assert answer.details == {"changed": "yes", "said": "did Nothing"}
    assert answer.outcome == Said(said="did Nothing", changed="yes")


@pytest.mark.parametrize(
    ("error", "changed", "level"),
    [
        (RefusedError("No.", reason="why", rule_name="r"), "no", "warning"),
        (ConflictError("No."), "no", "warning"),
        (StorageError("No."), "no", "error"),
        (UncertainError("No."), "unknown", "error"),
    ],
)
def test_a_refusal_is_an_answer(call: Call, error: PersonaError, changed: str, level: str) -> None:
    def run(_call: Call, _params: Params) -> NoReturn:
        raise error

    answer = perform(Verb("a.b", Nothing, "write", run, lambda _: Card(""), EVERYONE, "a"), Nothing(), call)
    assert (answer.ok, answer.changed, answer.card.level, answer.text) == (False, changed, level, "No.")
    assert answer.error is error
    assert answer.details["reason"] == error.reason
    assert refusal("a.b", error).details == answer.details


def test_the_facts_of_a_refusal_are_told_in_camel_case() -> None:
    assert refusal("a.b", RefusedError("No.", rule_name="r")).details == {"reason": "refused", "ruleName": "r"}


def test_a_programming_error_is_no_answer(call: Call) -> None:
    def run(_call: Call, _params: Params) -> NoReturn:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        perform(Verb("a.b", Nothing, "read", run, lambda _: Card(""), EVERYONE, "a"), Nothing(), call)


def test_a_turn_raises_once_its_time_is_up_or_its_session_is_gone() -> None:
    now = [0.0]
    turn = Turn(1, deadline=2.0, clock=lambda: now[0])
    turn.check()
    assert turn.remaining == 2.0
    now[0] = 3.0
    assert turn.remaining == 0.0
    with pytest.raises(BusyError):
        turn.check()
    with pytest.raises(ConflictError):
        Turn(1, alive=lambda: False).check()
    assert Turn().remaining is None
    Turn().check()


def test_late_verbs_are_loaded_when_one_is_looked_at_and_once() -> None:
    loads: list[str] = []

    def load(staged: Registry) -> None:
        loads.append("x")
        staged.add(verb("memory.remember", Remember, command="mind remember"))
        staged.add(verb("memory.recall", Recall, command="mind recall"))
        staged.guide("memory", "When to use it.")

    verbs = Registry()
    verbs.late({"memory.remember": "mind remember", "memory.recall": "mind recall"}, load)
    verbs.add(verb("a.b", command="mind"))
    assert len(verbs) == 3
    assert verbs.at(["mind", "nothing"]) is verbs.get("a.b")
    with pytest.raises(NotFoundError, match=r"memory\.recall, memory\.remember"):
        verbs.get("memory.nothing")
    assert loads == []
    assert verbs.guidance("memory") == "When to use it."
    assert verbs.at(["mind", "recall", "port"]) is verbs.get("memory.recall")
    assert [item.name for item in verbs] == ["a.b", "memory.recall", "memory.remember"]
    assert loads == ["x"]


def test_late_verbs_survive_a_merge_without_being_loaded() -> None:
    verbs, staged = Registry(), Registry()
    staged.late({"a.b": "a"}, lambda registry: registry.add(verb("a.b", command="a")))
    verbs.merge(staged)
    with pytest.raises(ValueError, match="twice"):
        verbs.merge(staged)
    assert verbs.at(["a"]) is verbs.get("a.b")


@pytest.mark.parametrize("commands", [{"a.b": "a", "a.c": "a c"}, {"a.b": "other"}, {"a.c": "a"}, {"a.b": ""}], ids=str)
def test_other_verbs_than_were_registered_are_an_error(commands: dict[str, str]) -> None:
    verbs = Registry()
    verbs.late(commands, lambda registry: registry.add(verb("a.b", command="a")))
    with pytest.raises(ValueError, match="other verbs"):
        list(verbs)


@pytest.mark.parametrize(
    ("commands", "words"),
    [({"memory": "x"}, "prefix.action"), ({"a.b": "Mind x"}, "plain words"), ({"a.b": "a", "a.c": "a"}, "twice")],
)
def test_malformed_late_verbs_are_an_error_at_start(commands: dict[str, str], words: str) -> None:
    verbs = Registry()
    with pytest.raises(ValueError, match=words):
        verbs.late(commands, lambda _: None)
    assert len(verbs) == 0


def test_late_verbs_are_loaded_once_by_many_threads() -> None:
    loads: list[str] = []
    gate = threading.Barrier(8)

    def load(staged: Registry) -> None:
        loads.append("x")
        time.sleep(0.05)
        staged.add(verb("a.b", command="a"))

    def look() -> Any:  # noqa: ANN401 - a verb
        gate.wait()
        return verbs.get("a.b")

    verbs = Registry()
    verbs.late({"a.b": "a"}, load)
    with ThreadPoolExecutor(8) as pool:
        found = [future.result() for future in [pool.submit(look) for _ in range(8)]]
    assert loads == ["x"]
    assert all(item is found[0] for item in found)
