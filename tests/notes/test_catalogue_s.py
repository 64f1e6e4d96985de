"""Rows S of the reliability catalogue: a session's events that cannot be what they say, and branches that fork."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.journal import MemoryJournal
from persona_mind.notes.model import MAX_ACTIVE, MAX_BYTES, MAX_EVENTS, MAX_TEXT, TYPE
from tests.notes.test_notes import event, listed, noted, save, saved, write

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.journal import JsonlJournal
    from tests.notes.conftest import Talk
    from tests.support.desk import Desk


def numbered(count: int, **changed: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    return [event(noteId=f"{at:012x}", text=f"Note number {at}.", **changed) for at in range(count)]


def assert_closed(desk: Desk, reason: str, limit: str | None, log: JsonlJournal) -> None:
    """Reading, saving, forgetting and injecting all stop, each for the same reason, and the log stays as it is."""
    before = log.path.read_bytes()
    for line in ("list", "save One more.", "read abcdef012345", "forget abcdef012345"):
        answer = desk.say(f"/mind note {line}")
        assert (answer.ok, answer.changed, answer.details["reason"]) == (False, "no", reason), line
        assert answer.details.get("limit") == limit, line
    assert noted(desk) == ""
    assert log.path.read_bytes() == before


def test_s1_an_event_of_an_unknown_version_closes_the_notes(talk: Talk, log: JsonlJournal) -> None:
    write(log, event(), event(noteId="f" * 12, version=2))
    assert_closed(talk(log), "unsupported_version", None, log)


@pytest.mark.parametrize("there", [MAX_EVENTS - 1, MAX_EVENTS])
def test_s2_the_257th_event_is_refused_by_the_limit(talk: Talk, log: JsonlJournal, there: int) -> None:
    root = log.leaf
    for start in range(0, there, MAX_ACTIVE):
        log.branch_to(root)
        write(log, *numbered(there)[start : start + MAX_ACTIVE])
    log.branch_to(root)
    answer = save(talk(log), "One more.")
    assert answer.ok == (there < MAX_EVENTS)
    assert answer.details.get("limit") == (None if answer.ok else "note_events")


def test_s2_a_log_with_257_events_gives_nothing(talk: Talk, log: JsonlJournal) -> None:
    write(log, *numbered(MAX_EVENTS // 2), *numbered(MAX_EVENTS // 2 + 1, kind="forget"))
    assert_closed(talk(log), "capacity", "note_events", log)


def test_s3_events_beyond_512_kib_are_refused_and_close_the_notes(talk: Talk, log: JsonlJournal) -> None:
    text = "\u20ac" * MAX_TEXT
    write(log, *(event(noteId=f"{at:012x}", text=text) for at in range(MAX_BYTES // (3 * MAX_TEXT))))
    assert save(talk(log), text[1:] + "x").details["limit"] == "note_bytes"
    write(log, event(noteId="f" * 12, text=text))
    assert_closed(talk(log), "capacity", "note_bytes", log)


def test_s4_the_65th_active_note_is_refused_and_closes_the_notes_where_it_stands(talk: Talk, log: JsonlJournal) -> None:
    write(log, *numbered(MAX_ACTIVE))
    assert save(talk(log), "One more.").details["limit"] == "active_notes"
    write(log, event(noteId="f" * 12))
    assert_closed(talk(log), "capacity", "active_notes", log)


def test_s5_a_note_of_8_001_characters_is_refused_and_closes_the_notes_where_it_stands(
    talk: Talk, log: JsonlJournal
) -> None:
    assert MAX_TEXT == 8_000
    refused = save(talk(log), "x" * 8_001)
    assert (refused.ok, refused.details["field"]) == (False, "text")
    assert save(talk(log), "x" * 8_000).ok
    write(log, event(text="x" * 8_001))
    assert_closed(talk(log), "capacity", "note_text", log)


def test_s6_a_forget_before_its_save_holds_on_its_branch_alone(talk: Talk, log: JsonlJournal) -> None:
    root = log.leaf
    write(log, event("forget"), event())
    desk = talk(log)
    assert listed(desk) == []
    log.branch_to(root)
    write(log, event())
    assert listed(desk) == ["abcdef012345"]


def test_s6_forgetting_on_one_branch_leaves_the_note_on_the_other(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    handle = saved(desk, "The mast is two metres tall.")
    fork = log.leaf
    assert desk.say(f"/mind note forget {handle}").changed == "yes"
    forgotten = log.leaf
    log.branch_to(fork)
    assert listed(desk) == [handle]
    assert forgotten is not None
    log.branch_to(forgotten)
    assert listed(desk) == []


def test_s7_a_fork_of_a_fork_keeps_the_session_that_a_note_came_from(
    talk: Talk, log: JsonlJournal, tmp_path: Path
) -> None:
    handle = saved(talk(log), "The mast is two metres tall.")
    first = log.fork(log.leaf, tmp_path / "f1.jsonl", session_id="f1")
    second = first.fork(first.leaf, tmp_path / "f2.jsonl", session_id="f2")
    assert [entry.data["originSessionId"] for entry in second.branch(TYPE)] == ["s1"]
    assert "in session s1" in talk(second).say(f"/mind note read {handle}").text


def test_s9_a_session_in_memory_only_says_that_no_restart_will_find_it(talk: Talk) -> None:
    answer = save(talk(MemoryJournal("m")), "Passing thought.")
    assert (answer.details["durable"], answer.details["storage"]) == (False, "memory")
    assert "memory only" in answer.text
