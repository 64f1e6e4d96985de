"""The backlog between two personas, and each state of an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persona_mind.library import Mind
    from tests.mind.conftest import Open


def add(mind: Mind, text: str) -> str:
    return str(mind.call("backlog.add", {"text": text}).details["id"])


def listed(mind: Mind, **arguments: Any) -> list[str]:  # noqa: ANN401 - JSON values
    return [str(identity) for identity in mind.call("backlog.list", arguments).details["ids"]]


def test_a_persona_sees_its_own_items_and_all_when_it_asks_for_all(opened: Open) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    mine, other = add(ann, "write the changelog"), add(bob, "call the printers")
    assert listed(ann) == [mine]
    assert set(listed(ann, all=True)) == {mine, other}
    assert ann.call("backlog.take", {"id": mine}).ok
    assert ann.call("backlog.done", {"id": mine, "note": "it is out"}).ok
    assert listed(ann) == []
    assert listed(bob) == [other]


def test_the_unfinished_are_those_that_are_open_or_taken(mind: Mind) -> None:
    opened, taken, done, dropped = (add(mind, text) for text in ("a", "b", "c", "d"))
    mind.call("backlog.take", {"id": taken})
    mind.call("backlog.done", {"id": done})
    mind.call("backlog.drop", {"id": dropped})
    assert listed(mind) == [taken, opened]
    assert [listed(mind, state=state) for state in ("open", "taken", "done", "dropped")] == [
        [opened],
        [taken],
        [done],
        [dropped],
    ]


def test_an_answer_that_is_no_success_moves_nothing(mind: Mind) -> None:
    only = add(mind, "write the changelog")
    answer = mind.call("backlog.take", {"id": "000000000000"})
    assert (answer.ok, answer.changed, answer.details["reason"]) == (False, "no", "not_found")
    assert listed(mind, state="open") == [only]
