"""Session notes as a person and a model meet them: saved, listed, read, forgotten, branched, injected."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_mind.kernel.budget import tokens
from persona_mind.notes.model import MAX_ACTIVE, MAX_BYTES, MAX_EVENTS, MAX_TEXT, TYPE

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import Answer
    from tests.notes.conftest import Log, Talk
    from tests.support.desk import Desk


def save(desk: Desk, text: str, **options: Any) -> Answer:  # noqa: ANN401 - JSON
    return desk.runtime.call(
        "notes.save", {"text": text, **options}, session=desk.runtime.session, origin="user", audience="person"
    )


def saved(desk: Desk, text: str, **options: Any) -> str:  # noqa: ANN401 - JSON
    answer = save(desk, text, **options)
    assert answer.ok, answer.text
    return str(answer.details["id"])


def listed(desk: Desk) -> list[str]:
    answer = desk.say("/mind note list")
    assert answer.ok, answer.text
    return list(answer.details["ids"])


def noted(desk: Desk, prompt: str = "") -> str:
    """Return the block of notes that the model would be given."""
    return "".join(block.text for block in desk.runtime.blocks(prompt) if block.name == "mind-notes")


def event(kind: str = "save", **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return an event as another program may have written it; None takes a field out."""
    whole = {
        "version": 1,
        "kind": kind,
        "noteId": "abcdef012345",
        "originSessionId": "s1",
        "persona": "Ann",
        **({"noteKind": "note", "text": "The mast is two metres tall.", "origin": "user"} if kind == "save" else {}),
        **changed,
    }
    return {key: value for key, value in whole.items() if value is not None}


def write(log: Log, *events: dict[str, Any]) -> None:
    for data in events:
        log._add("custom", TYPE, data)


# --- what a person sees


def test_a_note_is_saved_listed_and_read_whole(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    text = "The mast is two metres tall.\nIt is painted red."
    answer = save(desk, text, source="the drawing of March")
    handle = answer.details["id"]
    assert answer.text == (
        f"Noted in this session's log [{handle}]\n"
        "A restart of this session finds it; a new session does not inherit it."
    )
    assert (
        desk.say("/mind note list").text
        == f"1 note\n- [{handle}] (note · by user) The mast is two metres tall. It is painted red."
    )
    read = desk.say(f"/mind note read {handle}").text.split("\n")
    assert read[1:3] == [f"| {line}" for line in text.split("\n")]
    assert "source: the drawing of March" in read
    assert "in session s1" in read[-1]


def test_the_log_holds_the_note_and_nothing_else_does(talk: Talk, log: JsonlJournal, agent_dir: Path) -> None:
    saved(talk(log), "The mast is two metres tall.")
    holding = [path for path in agent_dir.rglob("*") if path.is_file() and b"two metres" in path.read_bytes()]
    assert holding == [log.path]
    [entry] = log.branch(TYPE)
    assert entry.data["version"] == 1
    assert entry.data["originSessionId"] == "s1"


def test_saying_it_again_writes_nothing(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    first = saved(desk, "The mast is two metres tall.")
    again = save(desk, "  the MAST is two metres   tall.")
    assert (again.details["id"], again.changed) == (first, "no")
    assert len(log.branch(TYPE)) == 1


def test_a_memory_only_session_says_so(talk: Talk) -> None:
    answer = save(talk(MemoryJournal("m")), "Passing thought.")
    assert answer.details["durable"] is False
    assert answer.details["storage"] == "memory"
    assert "kept in memory only" in answer.text


def test_before_the_first_message_a_note_is_not_called_durable(talk: Talk, tmp_path: Path, project: Path) -> None:
    log = JsonlJournal(tmp_path / "later.jsonl", "later", project)
    desk = talk(log)
    answer = save(desk, "Passing thought.")
    assert (answer.details["durable"], answer.details["storage"]) == (False, "session")
    assert not log.stored
    log.message("user", "Hello.")
    assert listed(talk(JsonlJournal.open(tmp_path / "later.jsonl"))) == [answer.details["id"]]


def test_a_restart_finds_the_notes_and_a_new_session_does_not(talk: Talk, log: JsonlJournal, tmp_path: Path) -> None:
    handle = saved(talk(log), "The mast is two metres tall.", kind="objective")
    assert listed(talk(JsonlJournal.open(log.path))) == [handle]
    fresh = talk(JsonlJournal(tmp_path / "new.jsonl", "new", ""))
    assert listed(fresh) == []
    assert noted(fresh) == ""


def test_a_note_with_a_secret_is_refused_and_nothing_is_appended(talk: Talk, log: JsonlJournal) -> None:
    secret = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    answer = save(talk(log), f"The token is {secret}")
    assert (answer.ok, answer.details["reason"]) == (False, "unsafe_text")
    assert log.branch(TYPE) == []


def test_a_note_that_breaks_a_rule_now_is_withheld_by_rule(talk: Talk, log: JsonlJournal) -> None:
    secret = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    write(log, event(text=f"The token is {secret}"))
    desk = talk(log)
    assert desk.say("/mind note list").details["withheldUnsafe"] == 1
    shown = desk.say("/mind note list").text + desk.say("/mind note read abcdef012345").text + noted(desk)
    assert secret not in shown
    assert "1 withheld: the stored text breaks a rule" in noted(desk)


# --- whose they are


def test_another_persona_neither_sees_nor_forgets_a_note(talk: Talk, log: JsonlJournal) -> None:
    handle = saved(talk(log, "Ann"), "Ann's plan is to paint the mast.")
    bob = talk(log, "Bob")
    assert listed(bob) == []
    assert noted(bob, "the mast") == ""
    assert desk_refusal(bob, f"/mind note read {handle}") == "not_found"
    assert desk_refusal(bob, f"/mind note forget {handle}") == "not_found"
    assert listed(talk(log, "Ann")) == [handle]


def test_switching_the_persona_within_a_session_switches_the_notes(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log, "Ann")
    handle = saved(desk, "Ann's plan is to paint the mast.")
    assert desk.say("/persona use Bob").ok
    assert listed(desk) == []
    assert desk.say("/persona use Ann").ok
    assert listed(desk) == [handle]


def desk_refusal(desk: Desk, line: str) -> str:
    answer = desk.say(line)
    assert not answer.ok
    return str(answer.details["reason"])


def test_nothing_is_appended_once_the_owner_is_revoked(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log, "Ann")

    def revoked(*_: object) -> None:
        desk.client.provide("pi-persona:companion:v1", lambda _: {"provider": "second", "contract": 1})

    # Whoever reads the log last before the append is told of the revocation then.
    reading = log.entries
    log.entries = lambda: (revoked(), reading())[1]  # type: ignore[method-assign]
    answer = save(desk, "Too late.")
    assert (answer.ok, answer.details["reason"]) == (False, "ambiguous_companion")
    assert reading() == [entry for entry in reading() if entry.custom_type != TYPE]


def test_nothing_is_appended_for_a_session_that_was_replaced(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    log.generation += 1
    assert desk_refusal(desk, "/mind note save Too late.") == "stale_session"
    assert log.branch(TYPE) == []


def test_what_another_process_appends_meanwhile_is_counted(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    other = JsonlJournal.open(log.path)
    reading = log.branch
    moved = []

    def move(custom_type: str | None = None) -> Any:  # noqa: ANN401 - a list of entries
        found = reading(custom_type)
        if not moved:
            moved.append(other._add("custom", TYPE, event(text="Said by the other process.")))
        return found

    log.branch = move  # type: ignore[method-assign]
    saved(desk, "Said here.")
    assert [entry.data["text"] for entry in reading(TYPE)] == ["Said by the other process.", "Said here."]


# --- branches, forks, clones


def test_forgetting_is_local_to_its_branch(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    handle = saved(desk, "The mast is two metres tall.")
    fork_point = log.leaf
    gone = desk.say(f"/mind note forget {handle}")
    assert gone.changed == "yes"
    assert f"The transcript keeps what was written: {log.path}" in gone.text
    assert listed(desk) == []
    log.branch_to(fork_point)
    assert listed(desk) == [handle]
    saved(desk, "Only here.")
    assert len(listed(desk)) == 2


def test_forgetting_twice_changes_nothing_more(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    handle = saved(desk, "The mast is two metres tall.")
    desk.say(f"/mind note forget {handle}")
    again = desk.say(f"/mind note forget {handle}")
    assert (again.ok, again.changed) == (True, "no")
    assert len(log.branch(TYPE)) == 2


def test_a_tombstone_before_its_note_holds(talk: Talk, log: JsonlJournal) -> None:
    write(log, event("forget"), event())
    assert listed(talk(log)) == []


def test_forgetting_what_was_never_saved_writes_no_tombstone(talk: Talk, log: JsonlJournal) -> None:
    assert desk_refusal(talk(log), "/mind note forget abcdef012345") == "not_found"
    assert log.branch(TYPE) == []


def test_a_fork_of_a_fork_keeps_where_the_note_came_from(talk: Talk, log: JsonlJournal, tmp_path: Path) -> None:
    handle = saved(talk(log), "The mast is two metres tall.")
    before = log.branch()[0].id
    fork = log.fork(log.leaf, tmp_path / "f1.jsonl", session_id="f1")
    saved(talk(fork), "Said in the fork.")
    second = fork.fork(fork.leaf, tmp_path / "f2.jsonl", session_id="f2")
    desk = talk(second)
    assert handle in listed(desk)
    assert "in session s1" in desk.say(f"/mind note read {handle}").text
    assert [entry.data["originSessionId"] for entry in second.branch(TYPE)] == ["s1", "f1"]
    assert listed(talk(log.fork(before, tmp_path / "f3.jsonl", session_id="f3"))) == []
    assert listed(talk(log.clone(tmp_path / "c.jsonl", session_id="c"))) == [handle]


# --- bounds and histories that cannot be relied on


def many(number: int, **changed: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    return [event(noteId=f"{at:012x}", text=f"Note number {at}.", **changed) for at in range(number)]


def test_the_65th_active_note_is_refused_and_a_forgotten_one_makes_room(talk: Talk, log: JsonlJournal) -> None:
    write(log, *many(MAX_ACTIVE))
    desk = talk(log)
    answer = save(desk, "One too many.")
    assert (answer.ok, answer.details["limit"], answer.details["most"]) == (False, "active_notes", 64)
    desk.say(f"/mind note forget {0:012x}")
    saved(desk, "Just enough.")


def test_the_257th_event_is_refused_over_all_branches(talk: Talk, log: JsonlJournal) -> None:
    root = log.leaf
    for branch in range(4):
        log.branch_to(root)
        write(log, *(event(noteId=f"{branch}{at:011x}") for at in range(MAX_EVENTS // 4)))
    desk = talk(log)
    assert len(listed(desk)) == 64
    answer = save(desk, "One too many.")
    assert answer.details["limit"] == "note_events"
    assert desk_refusal(desk, f"/mind note forget 3{0:011x}") == "capacity"
    write(log, event(noteId="f" * 12))
    assert desk.say("/mind note list").details["limit"] == "note_events"


def test_more_than_512_kib_of_events_are_refused(talk: Talk, log: JsonlJournal) -> None:
    big = ["\u20ac" * MAX_TEXT for _ in range(MAX_BYTES // (3 * MAX_TEXT))]
    write(log, *(event(noteId=f"{at:012x}", text=text) for at, text in enumerate(big)))
    desk = talk(log)
    assert len(listed(desk)) == len(big)
    assert save(desk, "\u20ac" * (MAX_TEXT - 1) + "x").details["limit"] == "note_bytes"
    write(log, event(noteId="f" * 12, text="\u20ac" * MAX_TEXT))
    assert desk.say("/mind note list").details["limit"] == "note_bytes"


def test_a_note_of_8_001_characters_is_refused(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    assert save(desk, "x" * (MAX_TEXT + 1)).details["field"] == "text"
    assert save(desk, "\U0001f680" * (MAX_TEXT // 2 + 1)).details["limit"] == "note_text"
    assert save(desk, "Short.", source="x" * 1_001).details["field"] == "source"
    assert log.branch(TYPE) == []


BAD_EVENTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a newer version": ([event(version=2)], "unsupported_version"),
    "no version": ([event(version=None)], "unsafe_history"),
    "a version that is no number": ([event(version="1")], "unsafe_history"),
    "another kind": ([event("edit")], "unsafe_history"),
    "a doubled save": ([event(), event()], "unsafe_history"),
    "no persona": ([event(persona=None)], "unsafe_history"),
    "no text": ([event(text=None)], "unsafe_history"),
    "a text that is none": ([event(text=["x"])], "unsafe_history"),
    "an unknown kind of note": ([event(noteKind="secret")], "unsafe_history"),
    "an id with a space": ([event(noteId="a b")], "unsafe_history"),
    "an origin that nobody knows": ([event(origin="ghost")], "unsafe_history"),
    "no session of origin": ([event(originSessionId="")], "unsafe_history"),
    "65 active notes": (many(MAX_ACTIVE + 1), "capacity"),
    "8,001 characters": ([event(text="x" * (MAX_TEXT + 1))], "capacity"),
    "a source of 1,001 characters": ([event(source="x" * 1_001)], "capacity"),
}


@pytest.mark.parametrize(("events", "reason"), BAD_EVENTS.values(), ids=list(BAD_EVENTS))
def test_a_history_that_cannot_be_relied_on_gives_nothing_and_takes_nothing(
    events: list[dict[str, Any]], reason: str, talk: Talk, log: JsonlJournal
) -> None:
    write(log, *events)
    before = log.path.read_bytes()
    desk = talk(log)
    saying = [f"/mind note {words}" for words in ("list", "save More.", "read abcdef012345", "forget abcdef012345")]
    assert {desk_refusal(desk, line) for line in saying} == {reason}
    assert noted(desk) == ""
    assert len([line for line in desk.notices.lines if "could not be read" in line]) == 1
    noted(desk)
    assert len([line for line in desk.notices.lines if "could not be read" in line]) == 1
    assert log.path.read_bytes() == before
    assert desk.say("/mind remember The rest of memory works.").ok


def test_no_refusal_repeats_what_was_noted(talk: Talk, log: JsonlJournal) -> None:
    write(log, event(text=["The mast is two metres tall."], persona="the mast is tall"))
    answer = talk(log).say("/mind note list")
    assert "mast" not in answer.text + json.dumps(dict(answer.details))


# --- injection


def test_objectives_come_first_then_what_matches_then_the_latest(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    for text, kind in (
        ("The release drives this session.", "objective"),
        ("Staging listens on port 5433.", "note"),
        ("The mast is red.", "note"),
        ("Lunch is at noon.", "note"),
    ):
        saved(desk, text, kind=kind)
    lines = [line for line in noted(desk, "Which port does staging use?").split("\n") if line.startswith("- ")]
    assert [line.split("] ")[1].split(" (")[0] for line in lines] == [
        "The release drives this session.",
        "Staging listens on port 5433.",
        "Lunch is at noon.",
        "The mast is red.",
    ]


def test_an_objective_note_is_withheld_while_a_brake_may_hold(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    saved(desk, "Sell the boat.", kind="objective")
    saved(desk, "The mast is red.")
    desk.answer_brakes(lambda _: {"provider": "x", "sessionId": "s1", "seat": "main", "state": "set"})
    assert "Sell the boat" not in noted(desk)
    assert "The mast is red" in noted(desk)


def test_the_block_keeps_to_its_600_tokens_and_says_what_it_left_out(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    for number in range(40):
        saved(desk, f"Note {number}: " + "the mast is painted red on its northern side. " * 12)
    saved(desk, "Sentence that goes on. " * 60)
    block = noted(desk)
    assert tokens(block) <= 600
    assert "not shown" in block
    assert "shown in part" in block
    longest = max(len(line) for line in block.split("\n") if line.startswith("- "))
    assert longest <= 700 + len("- [note]  (today)")


def test_all_blocks_together_keep_to_the_one_budget(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    for number in range(30):
        saved(desk, f"Note {number}: " + "the mast is painted red on its northern side. " * 5)
        desk.say(f"/mind remember --scope project Fact {number}: " + "the hull is made of larch from the valley. " * 9)
        desk.say(f"/mind remember Fact {number}: " + "the sails are made of linen from the valley. " * 9)
    blocks = [block for block in desk.runtime.blocks("Of what is the hull made?") if block.name != "persona"]
    assert tokens("\n\n".join(block.text for block in blocks)) <= 2_400
    assert [block.name for block in blocks] == ["mind", "mind-notes", "mind-task"]


def test_the_standing_part_does_not_change_with_the_notes_that_match(talk: Talk, log: JsonlJournal) -> None:
    desk = talk(log)
    for number in range(20):
        desk.say(f"/mind remember Fact {number}: " + "the sails are made of linen from the valley. " * 9)
        saved(desk, f"Note {number} about {'sails' if number % 2 else 'the hull'}: " + "it is old and dear. " * number)
    [first], [second] = (
        [block.text for block in desk.runtime.blocks(prompt) if block.name == "mind"]
        for prompt in ("the sails?", "the hull?")
    )
    assert first == second


def test_a_leg_is_given_no_notes(talk: Talk, log: JsonlJournal) -> None:
    saved(talk(log), "The mast is red.", kind="objective")
    leg = talk(log, PI_PERSONA_LEG="1")
    assert noted(leg) == ""
    assert not leg.say("/mind note list").ok
