"""One rule about brakes, whoever asks: a set one withholds, and an unknown one does where the brief has brakes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.brakes import braked
from persona_hooks.bus import Bus
from persona_hooks.journal import MemoryJournal
from persona_hooks.messages import BRAKE
from persona_hooks.ports import Session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def said(state: str, session: str = "s1", seat: str = "main") -> dict[str, object]:
    return {"provider": "x", "sessionId": session, "seat": seat, "state": state}


CLEAR, SET = said("clear"), said("set")
OPEN: list[Any] = [said("unknown"), said("clear", "s2"), said("set", seat="guest"), {"state": "set"}, OSError("late")]


def withheld(session: Session, answers: Sequence[Any], *, declared: bool) -> bool:
    bus = Bus(report=lambda *_: None)
    for number, answer in enumerate(answers):

        def told(_: object, answer: Any = answer) -> Any:  # noqa: ANN401 - a reply, or what goes wrong
            if isinstance(answer, Exception):
                raise answer
            return answer

        bus.client(f"p{number}").provide(BRAKE, told)
    return braked(bus.client("asker"), session, declared=declared)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session("s1", 0, tmp_path, MemoryJournal("s1", tmp_path))


@pytest.mark.parametrize("others", [[], [CLEAR], *[[one] for one in OPEN]])
@pytest.mark.parametrize("declared", [True, False])
def test_a_brake_that_is_set_withholds_whatever_else_is_said(
    session: Session, others: list[Any], *, declared: bool
) -> None:
    assert withheld(session, [*others, SET], declared=declared)
    assert withheld(session, [SET, *others], declared=declared)


@pytest.mark.parametrize("answers", [[], *[[one] for one in OPEN], *[list(two) for two in product([CLEAR], OPEN)]])
def test_what_nobody_knows_withholds_exactly_where_the_brief_has_brakes(session: Session, answers: list[Any]) -> None:
    assert withheld(session, answers, declared=True)
    assert not withheld(session, answers, declared=False)


@pytest.mark.parametrize("declared", [True, False])
def test_clear_answers_let_objectives_pass(session: Session, *, declared: bool) -> None:
    assert not withheld(session, [CLEAR, CLEAR], declared=declared)
