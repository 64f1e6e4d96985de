"""A delegated task that is blocked suggests the backlog, where somebody sees its report, and writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_mind.capture.blocked import COMPLETION, blocked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Start
    from tests.support.desk import Desk

REPORT = "I looked everywhere.\n[BLOCKED: the zebra registry wants a password]"


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    desk = start()
    desk.open(cwd=project)
    return desk


def result(desk: Desk, text: str = REPORT, tool: str = "delegate", call: str = "c1", parent: str | None = None) -> None:
    desk.runtime.fire("tool_result", tool=tool, call_id=call, text=text, is_error=False, parent_tool_call_id=parent)


def hinted(desk: Desk) -> bool:
    return "reports that it is blocked" in "\n".join(block.text for block in desk.runtime.blocks("go on"))


@pytest.mark.parametrize(
    "report",
    [REPORT, "[blocked: zebra]", "[ Blocked zebra", "flag: unknown", "So: FLAG : UNKNOWN.", "text\nFlag:UNKNOWN\ntext"],
)
def test_a_marker_is_known_in_any_case_and_spacing(report: str) -> None:
    assert blocked(report)
    assert ("zebra" in str(blocked(report))) == ("zebra" in report)


@pytest.mark.parametrize("report", ["", "We were blocked by rain.", "[UNBLOCKED: zebra]", "flag: unknowns", "blocked"])
def test_what_only_speaks_of_being_blocked_is_no_marker(report: str) -> None:
    assert blocked(report) is None


def test_a_reason_is_shown_in_part_and_without_terminal_sequences() -> None:
    assert len(str(blocked(f"[BLOCKED: {'reason ' * 80}]"))) <= 160
    shown = str(blocked("[BLOCKED: wait \x1b]0;title\x07 for \x1b[31mthe\x07 key]"))
    assert shown == "[BLOCKED: wait for the key]"


@pytest.mark.parametrize("tool", ["delegate", "council", "flow"])
def test_a_blocked_report_is_hinted_at_once_without_its_words(desk: Desk, tool: str) -> None:
    result(desk, tool=tool)
    result(desk, tool=tool, call="c2")
    told = [line for line in desk.notices.lines if "blocked" in line]
    assert len(told) == 1
    assert "zebra" in told[0]
    assert "zebra" not in "\n".join(block.text for block in desk.runtime.blocks(""))
    result(desk, tool=tool, call="c3")
    assert hinted(desk)
    assert not hinted(desk)
    assert desk.say("/mind backlog").details["ids"] == []


def test_the_message_of_a_task_that_ended_later_is_hinted_at(desk: Desk) -> None:
    desk.runtime.fire("message_start", custom_type=COMPLETION, text=REPORT)
    assert hinted(desk)


@pytest.mark.parametrize("tool", ["read", "bash", "memory"])
def test_what_other_tools_read_is_no_report(desk: Desk, tool: str) -> None:
    result(desk, tool=tool)
    assert not hinted(desk)


def test_neither_a_timer_nor_a_person_reports(desk: Desk) -> None:
    desk.runtime.fire("message_start", custom_type="persona-mind-wake", text=REPORT)
    desk.runtime.input(REPORT)
    assert not hinted(desk)


def test_a_nested_report_counts_only_where_the_outer_result_relays_it(desk: Desk) -> None:
    result(desk, call="inner", parent="outer")
    assert not hinted(desk)
    result(desk, "All is well.", tool="script", call="outer")
    assert not hinted(desk)
    result(desk, call="inner", parent="outer")
    result(desk, f"It says: {REPORT}", tool="script", call="outer")
    assert hinted(desk)


def test_a_report_that_is_nested_twice_comes_out_through_both(desk: Desk) -> None:
    result(desk, call="inner", parent="middle")
    result(desk, tool="script", call="middle", parent="outer")
    assert not hinted(desk)
    result(desk, tool="script", call="outer")
    assert hinted(desk)


def test_once_things_have_settled_nothing_is_relayed(desk: Desk) -> None:
    result(desk, call="inner", parent="outer")
    desk.runtime.settled()
    result(desk, tool="script", call="outer")
    assert not hinted(desk)


def test_nothing_is_hinted_at_in_the_next_session(desk: Desk, project: Path) -> None:
    result(desk)
    desk.open("s2", cwd=project)
    assert not hinted(desk)


def test_nudge_off_and_a_worker_are_given_no_hint(start: Start, project: Path) -> None:
    for variables in ({"PI_PERSONA_MIND_NUDGE": "off"}, {"PI_PERSONA_LEG": "1"}):
        desk = start(**variables)
        desk.open(cwd=project)
        result(desk)
        desk.runtime.fire("message_start", custom_type=COMPLETION, text=REPORT)
        assert not hinted(desk)
        assert desk.notices.lines == []


def test_without_an_owner_nothing_is_hinted_at(start: Start, project: Path) -> None:
    desk = start(companion=False)
    desk.open(cwd=project)
    result(desk)
    assert not hinted(desk)
    assert desk.notices.lines == []
