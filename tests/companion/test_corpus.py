"""The corpus of messages, at the companion's own border: what it answers, and what it believes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import InvalidError
from persona_hooks.messages import (
    BrakeReply,
    CompanionQuery,
    CompanionReply,
    Message,
    OwnerQuery,
    OwnerReply,
    SettingsQuery,
    SettingsReply,
)
from tests.support.corpus import Case, cases
from tests.support.desk import Desk, Start, write_brief

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS: dict[type[Message], type[Message]] = {
    CompanionQuery: CompanionReply,
    OwnerQuery: OwnerReply,
    SettingsQuery: SettingsReply,
}
QUERIES = [case for kind in ANSWERS for case in cases(kind)]


def asked(desk: Desk, case: Case) -> Any:  # noqa: ANN401 - whatever the companion answers
    """Hand the payload to the companion as it comes, since a bus of another process would not have built a message."""
    (registration,) = desk.client._bus._providers[case.kind.channel]
    return registration.handler(case.payload)


@pytest.mark.parametrize("case", [case for case in QUERIES if case.accepted], ids=str)
def test_every_accepted_question_gets_an_answer_that_others_accept(start: Start, case: Case) -> None:
    desk = start()
    session_id = case.kind.parse(case.payload).wire()["sessionId"]
    desk.open(session_id)
    reply = asked(desk, case).wire()
    assert ANSWERS[case.kind].parse(json.loads(json.dumps(reply))).wire() == reply
    assert reply.get("sessionId", session_id) == session_id
    assert reply.get("seat", "main") == case.payload.get("seat", "main")


@pytest.mark.parametrize("case", [case for case in QUERIES if not case.accepted], ids=str)
def test_no_rejected_question_is_answered(start: Start, case: Case) -> None:
    desk = start()
    desk.open("s")
    with pytest.raises(InvalidError):
        asked(desk, case)


@pytest.mark.parametrize("case", cases(BrakeReply), ids=str)
def test_only_an_accepted_answer_that_says_clear_lets_the_objective_through(
    start: Start, personas: Path, case: Case
) -> None:
    write_brief(personas, "seller", "prompt: Be kind.\nobjective: Sell the plan.\nnotebook:\n  sets: [pastoral]\n")
    desk = start()
    desk.open("s", persona="seller")
    desk.answer_brakes(lambda _: case.payload)
    (block,) = desk.runtime.blocks("hello")
    clear = case.accepted and (case.payload["sessionId"], case.payload["seat"], case.payload["state"]) == (
        "s",
        "main",
        "clear",
    )
    assert ("Sell the plan." in block.text) is clear
