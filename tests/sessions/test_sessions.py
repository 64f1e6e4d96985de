"""Recall over past conversations, as a person and a model meet it."""

from __future__ import annotations

import json
import os
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.journal import MemoryJournal
from persona_host.embedded.shelf import Shelf
from persona_mind.sessions import logs
from persona_mind.sessions.logs import FRESH_SECONDS
from persona_mind.sessions.pieces import LONGEST
from tests.support.cli import Persona
from tests.support.desk import files_below, write_brief

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import Answer
    from tests.sessions.conftest import Held, PiHeld, Talk
    from tests.support.clock import ManualClock
    from tests.support.desk import Desk

PORT = "Staging listens on port 5433."


def user(text: str, **more: Any) -> tuple[str, str, dict[str, Any]]:  # noqa: ANN401 - JSON
    return "user", text, more


def model(text: str, **more: Any) -> tuple[str, str, dict[str, Any]]:  # noqa: ANN401 - JSON
    return "assistant", text, more


def recall(desk: Desk, query: str) -> Answer:
    answer = desk.say(f"/mind recall --sessions {query}")
    assert answer.ok, answer.text
    return answer


def texts(desk: Desk, query: str) -> list[str]:
    """Return what is quoted, without what stands before it."""
    return [line.partition(") ")[2] for line in recall(desk, query).text.split("\n") if line.startswith("- [")]


def test_a_query_without_a_word_finds_no_turn(talk: Talk, held: Held) -> None:
    held("monday", user("Which port does staging use?"), model(PORT))
    desk = talk()
    assert (texts(desk, "!!!"), texts(desk, "\U0001f389"), len(texts(desk, ""))) == ([], [], 2)


def test_what_was_said_is_found_with_its_session_its_time_and_its_turn(talk: Talk, held: Held) -> None:
    log = held("monday", user("Which port does staging use?"), model(PORT))
    answer = recall(talk(), "the port of staging")
    turn = log.branch()[1]
    assert f"- [monday {turn.id}] (Mon 2 Mar 2026 {turn.timestamp[11:16]}, the model) {PORT}" in answer.text
    cited = {"session": "monday", "turn": turn.id, "at": turn.timestamp, "role": "model"}
    assert cited in answer.details["sessions"]["turns"]
    assert answer.details["count"] == 2
    assert answer.details["ids"] == []


def test_the_model_asks_by_scope_alone_or_beside_facts(talk: Talk, held: Held) -> None:
    held("monday", model(PORT))
    desk = talk()
    fact = desk.say("/mind remember Staging moves to port 6000 in May.").details["id"]
    alone = desk.runtime.tool("memory", {"action": "recall", "scope": "sessions", "query": "staging port"})
    assert (alone.details["ids"], alone.details["count"]) == ([], 1)
    both = desk.runtime.tool("memory", {"action": "recall", "scope": ["long", "sessions"], "query": "staging port"})
    assert (both.details["ids"], both.details["count"], both.details["total"]) == ([fact], 2, 2)
    assert PORT in both.text
    facts = desk.runtime.tool("memory", {"action": "recall", "query": "staging port"})
    assert "sessions" not in facts.details


def test_neither_place_crowds_out_the_other(talk: Talk, held: Held) -> None:
    held("monday", *(model(f"{PORT} Said {number} times.") for number in range(9)))
    desk = talk()
    for number in range(9):
        desk.say(f"/mind remember Staging, reason {number}: its port is 6000.")
    answer = desk.say("/mind recall --scope long,sessions --max 4 staging port")
    assert (len(answer.details["ids"]), answer.details["sessions"]["count"]) == (2, 2)
    assert answer.details["count"] == 4


def test_a_turn_is_read_whole_among_its_neighbours(talk: Talk, held: Held) -> None:
    long = "\n".join(f"Line {number} of the long answer about the mast." for number in range(300))
    log = held("monday", user("Tell me of the mast."), model(long), user("Thank you."))
    answer = talk().say(f"/mind session monday {log.branch()[1].id}")
    assert answer.text.split("\n")[1:301] == [f"| {line}" for line in long.split("\n")]
    assert "Tell me of the mast." in answer.text
    assert "Thank you." in answer.text
    assert "mast" not in json.dumps(dict(answer.details))


def test_of_a_long_answer_the_part_that_matters_is_quoted(talk: Talk, held: Held) -> None:
    filler = "The weather was discussed at length. " * (LONGEST // 30)
    held("monday", model(f"{filler}\n\n{PORT}\n\n{filler}"))
    assert PORT in texts(talk(), "staging port")[0]


def test_a_turn_that_nobody_cites_is_not_found(talk: Talk, held: Held) -> None:
    held("monday", user("Hello."))
    answer = talk().say("/mind session monday ffffffff")
    assert (answer.ok, answer.details["reason"]) == (False, "not_found")


def test_an_answer_follows_from_the_question_before_it(talk: Talk, held: Held) -> None:
    held("monday", user("Which colour has the mast?"), model("Red, as ever."), user("Good."))
    held("tuesday", *(user(f"Small talk number {number}.") for number in range(20)))
    assert "Red, as ever." in texts(talk(), "colour of the mast")[:2]


# --- whose, and which


def test_another_personas_conversation_is_not_searched_where_the_log_says_whose_it_is(talk: Talk, held: Held) -> None:
    held("ann", model(f"Ann says: {PORT}", persona="Ann"))
    held("bob", model(f"Bob says: {PORT}", persona="Bob"))
    held("none", model(f"Nobody says: {PORT}", persona=None))
    held("older", model(f"It does not say who says: {PORT}"))
    said = {
        persona: {text.partition(":")[0] for text in texts(talk(persona=persona), "port")} for persona in ("Ann", "Bob")
    }
    assert said == {
        "Ann": {"Ann says", "It does not say who says"},
        "Bob": {"Bob says", "It does not say who says"},
    }


def test_the_shipped_host_logs_whose_conversation_it_is_and_finds_it_again(
    environ: dict[str, str], tmp_path: Path, agent_dir: Path
) -> None:
    for name in ("Ann", "Bob"):
        write_brief(agent_dir / "persona" / "personas", name)
    persona = Persona(environ, tmp_path)
    persona("chat", "--persona", "Ann", "--once", "Our staging port is 5433, dear Ann.")
    found = {name: persona("mind", "--persona", name, "recall", "--sessions", "port").out for name in ("Ann", "Bob")}
    assert "dear Ann" in found["Ann"]
    assert "dear Ann" not in found["Bob"]


def test_only_conversations_of_this_project_are_searched(talk: Talk, held: Held, home: Path, project: Path) -> None:
    inside = project / "src"
    inside.mkdir()
    other = home / "work" / "boat"
    (other / ".git").mkdir(parents=True)
    held("below", model(f"Below: {PORT}"), cwd=inside)
    held("elsewhere", model(f"Elsewhere: {PORT}"), cwd=other)
    held("at-home", model(f"At home: {PORT}"), cwd=home)
    assert texts(talk(), "port") == [f"Below: {PORT}"]
    assert texts(talk(cwd=other), "port") == [f"Elsewhere: {PORT}"]
    assert texts(talk(cwd=home), "port") == [f"At home: {PORT}"]


def test_the_present_conversation_is_left_out_and_so_is_what_its_fork_repeats(talk: Talk, held: Held) -> None:
    log = held("monday", model(PORT), user("A second thing about the port."))
    assert texts(talk(log), "port") == []
    fork = log.fork(log.branch()[0].id, log.path.with_name("fork.jsonl"), session_id="fork")
    fork.message("user", "The fork speaks of the port.")
    assert texts(talk(fork), "port") == ["A second thing about the port."]
    every = recall(talk(), "port")
    assert every.details["count"] == 3
    assert [turn["session"] for turn in every.details["sessions"]["turns"] if turn["turn"] == log.branch()[0].id] == [
        "monday"
    ]


def test_it_is_off_where_the_person_says_so(talk: Talk, held: Held, agent_dir: Path) -> None:
    log = held("monday", model(PORT))
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    for value in (False, "sometimes"):
        settings.write_text(json.dumps({"sessions": {"recall": value}}), "utf-8")
        desk = talk()
        for line in ("/mind recall --sessions port", f"/mind session monday {log.branch()[0].id}"):
            answer = desk.say(line)
            assert (answer.ok, answer.details["reason"]) == (False, "sessions_off")
            assert PORT not in answer.text
        assert desk.say("/mind recall port").ok


def test_a_leg_and_a_memory_that_is_off_are_refused(talk: Talk, held: Held) -> None:
    held("monday", model(PORT))
    assert not talk(PI_PERSONA_LEG="1").say("/mind recall --sessions port").ok
    desk = talk()
    desk.say("/mind off")
    assert desk.say("/mind recall --sessions port").details["reason"] == "memory_off"


def test_what_was_said_while_memory_was_off_is_not_quoted(
    talk: Talk, held: Held, pi_held: PiHeld, clock: ManualClock
) -> None:
    log = held("monday", model(f"Before: {PORT}"))
    before = log.branch()[-1].id
    off = log._add("custom", "persona-mind-switch", {"enabled": False})
    log.message("user", f"Off: {PORT}")
    log.branch_to(before)
    log.message("user", f"On another branch, off: {PORT}")
    fork = log.fork(log.leaf, log.path.with_name("fork.jsonl"), session_id="fork")
    assert off.id not in {entry.id for entry in fork.entries()}
    desk = talk()
    assert texts(desk, "port") == [f"Before: {PORT}"]
    log._add("custom", "persona-mind-switch", {"enabled": True})
    log.message("user", f"On: {PORT}")
    clock.advance(FRESH_SECONDS)
    assert sorted(texts(desk, "port")) == [f"Before: {PORT}", f"On: {PORT}"]
    path = pi_held("pi", {"role": "user", "content": "Before."}, {"role": "user", "content": f"Pi, off: {PORT}"})
    header, first, last = path.read_text("utf-8").splitlines()
    switch = {"type": "custom", "customType": "persona-mind-switch", "data": {"enabled": False}, "id": "s"}
    path.write_text("\n".join([header, first, json.dumps(switch), last, ""]), "utf-8")
    clock.advance(FRESH_SECONDS)
    assert len(texts(desk, "port")) == 2


# --- what is quoted, and what never is


def test_tool_output_custom_entries_and_summaries_are_no_part_of_it(talk: Talk, held: Held, pi_held: PiHeld) -> None:
    log = held("monday", user("Look it up."), ("tool", f"output: {PORT}", {"callId": "1", "tool": "read"}))
    log._add("custom", "some-card", {"role": "user", "content": PORT})
    log.record("compaction", {"role": "user", "content": PORT})
    pi_held(
        "pi",
        {"role": "toolResult", "content": [{"type": "text", "text": PORT}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": PORT}, {"type": "toolCall", "name": PORT}]},
        {"role": "bashExecution", "command": PORT, "output": PORT},
    )
    answer = recall(talk(), "staging port 5433")
    assert (answer.details["count"], answer.details["known"]) == (0, 1)


def test_pi_conversations_are_read_by_their_text_parts(talk: Talk, pi_held: PiHeld) -> None:
    parts = [
        {"type": "text", "text": PORT},
        {"type": "image", "data": "xx"},
        {"type": "text", "text": "Behind a proxy."},
    ]
    pi_held("pi-1", {"role": "user", "content": "Which port?"}, {"role": "assistant", "content": parts})
    answer = recall(talk(), "staging port")
    assert (
        "- [pi-1 00000001] (Sun 1 Mar 2026 10:01, the model) Staging listens on port 5433. Behind a proxy."
        in answer.text
    )


def test_a_turn_that_breaks_a_rule_is_withheld_by_rule(talk: Talk, held: Held) -> None:
    secret = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    log = held("monday", user(f"The deploy token is {secret} now"), user("Thanks for the token."))
    desk = talk()
    answer = recall(desk, "deploy token")
    opened = desk.say(f"/mind session monday {log.branch()[0].id}")
    assert answer.details["sessions"]["withheldUnsafe"] == 1
    assert "[withheld: " in answer.text
    assert secret not in answer.text + opened.text + json.dumps(dict(opened.details))


def test_a_turn_that_breaks_a_rule_takes_no_other_turns_place(talk: Talk, held: Held) -> None:
    secret = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    held("monday", *(user(f"Token token: {secret} {at}") for at in range(5)), user("The token lies in a drawer."))
    asked = {"action": "recall", "scope": "sessions", "query": "token", "max": 1}
    answer = talk().runtime.tool("memory", asked)
    assert "lies in a drawer" in answer.text
    assert answer.details["sessions"]["withheldUnsafe"] >= 1
    assert "[withheld: " not in answer.text


def test_a_quoted_turn_stays_one_line_as_it_was_written(talk: Talk, held: Held) -> None:
    held("monday", user("The port:\n- first\n- second <b>bold</b>"))
    [quoted] = [line for line in recall(talk(), "port").text.split("\n") if line.startswith("- ")]
    assert "The port: - first - second <b>bold</b>" in quoted


# --- files


def test_looking_writes_nothing_and_needs_no_folder(talk: Talk, agent_dir: Path) -> None:
    desk = talk()
    before = files_below(agent_dir)
    assert "no past conversation" in recall(desk, "port").text
    assert files_below(agent_dir) == before


def test_damaged_lines_are_passed_over_and_unreadable_logs_counted(talk: Talk, held: Held) -> None:
    log = held("monday", model(PORT))
    with log.path.open("ab") as file:
        file.write(b'{"type":"message"\n\xff\xfe\n{}\n[1]\n{"type":"message","id":"z","data":7}\n')
    (log.path.parent / "empty.jsonl").write_bytes(b"")
    (log.path.parent / "strange.jsonl").write_text("no log at all\n", "utf-8")
    (log.path.parent / "link.jsonl").symlink_to(log.path)
    os.mkfifo(log.path.parent / "pipe.jsonl")
    answer = recall(talk(), "port")
    assert answer.details["count"] == 1
    assert "2 session logs could not be read" in answer.text


@pytest.mark.parametrize("cwd", ["/home/a\0b", "/home/\ud800", "/a" * 20_000, "a" * 3_000, ""])
def test_a_log_of_no_place_at_all_costs_no_other_log(talk: Talk, held: Held, pi_held: PiHeld, cwd: str) -> None:
    log = held("monday", model(PORT))
    path = pi_held("pi", {"role": "user", "content": f"Pi says: {PORT}"})
    for place in (log.path, path):
        header, *rest = place.read_text("utf-8").splitlines(keepends=True)
        bad = json.dumps({**json.loads(header), "id": "bad", "cwd": cwd}) + "\n"
        place.with_name("0-bad.jsonl").write_text("".join([bad, *rest]), "utf-8")
    answer = recall(talk(), "port")
    assert {turn["session"] for turn in answer.details["sessions"]["turns"]} == {"monday", "pi"}
    assert ("2 session logs could not be read" in answer.text) is cwd.startswith("/")


def test_each_log_of_a_folder_says_for_itself_where_it_was_held(
    talk: Talk, pi_held: PiHeld, home: Path, agent_dir: Path
) -> None:
    places = {name: home / "work" / name for name in ("a/b-c", "a/b/c")}
    for name, cwd in places.items():
        (cwd / ".git").mkdir(parents=True)
        pi_held(name.replace("/", "."), {"role": "user", "content": f"{name}: {PORT}"}, cwd=cwd)
    assert len(list((agent_dir / "sessions").iterdir())) == 1
    for name, cwd in places.items():
        assert texts(talk(cwd=cwd), "port") == [f"{name}: {PORT}"]


def test_an_id_that_hides_something_is_never_cited(talk: Talk, held: Held, pi_held: PiHeld) -> None:
    log = held("monday", model(PORT))
    path = pi_held("pi", {"role": "user", "content": f"Pi says: {PORT}"})
    for place in (log.path, path):
        for bad in ("x\x9bm", "x\ny", "\u202ex", "\u2028", "\ud800"):
            lines = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
            lines[-1]["id"] = bad
            place.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
            said = {turn["session"] for turn in recall(talk(), "port").details.get("sessions", {}).get("turns", [])}
            assert ("monday" if place == log.path else "pi") not in said


def test_what_is_appended_replaced_or_removed_is_seen(talk: Talk, held: Held, clock: ManualClock) -> None:
    log = held("monday", model(PORT))
    desk = talk()
    assert texts(desk, "port") == [PORT]
    log.message("user", "The port of the boat is closed.")
    clock.advance(FRESH_SECONDS)
    assert len(texts(desk, "port")) == 2
    whole = log.path.read_bytes()
    log.path.write_bytes(whole.replace(b"5433", b"6000"))
    clock.advance(FRESH_SECONDS)
    assert "Staging listens on port 6000." in texts(desk, "port")
    held("tuesday", model("A port, said on Tuesday."))
    assert len(texts(desk, "port")) == 3
    log.path.unlink()
    assert texts(desk, "port") == ["A port, said on Tuesday."]


def test_a_line_that_is_being_written_is_read_once_it_is_whole(talk: Talk, held: Held, clock: ManualClock) -> None:
    log = held("monday", model(PORT))
    entry = json.dumps(
        {"type": "message", "id": "half", "parentId": None, "timestamp": "2026-03-01T10:00:00.000Z",
         "data": {"role": "user", "content": "The second port."}}
    ).encode()  # fmt: skip
    with log.path.open("ab") as file:
        file.write(entry[:40])
    desk = talk()
    assert len(texts(desk, "port")) == 1
    with log.path.open("ab") as file:
        file.write(entry[40:] + b"\n")
    clock.advance(FRESH_SECONDS)
    assert len(texts(desk, "port")) == 2


def test_a_conversation_of_the_shipped_host_is_found_where_it_keeps_it(
    talk: Talk, held: Held, agent_dir: Path, project: Path
) -> None:
    log = held("monday", model(PORT))
    place = Shelf(agent_dir, project).path("monday")
    place.parent.mkdir(parents=True)
    log.path.rename(place)
    assert texts(talk(), "port") == [PORT]


def test_without_words_the_latest_turns_are_shown(talk: Talk, held: Held) -> None:
    held("monday", *(user(f"Turn number {number}.") for number in range(12)))
    answer = talk(MemoryJournal("other")).say("/mind recall --sessions --max 3")
    assert "3 of 12 turns recalled" in answer.text
    assert "Turn number 11." in answer.text.split("\n")[1]


@pytest.mark.parametrize("query", ["?", "\u200b", "x" * 512, "<<<", "the of and"])
def test_any_query_is_answered(query: str, talk: Talk, held: Held) -> None:
    held("monday", model(PORT))
    answer = talk().runtime.tool("memory", {"action": "recall", "scope": "sessions", "query": query})
    assert answer.ok


@pytest.mark.parametrize("gone", ["log", "folder"])
def test_a_log_that_goes_away_while_it_is_looked_for_is_no_longer_there(
    talk: Talk, held: Held, project: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    held("tuesday", model(PORT))
    inside = project / "inside"
    inside.mkdir()
    folder = held("monday", model(f"Inside: {PORT}"), cwd=inside).path.parent
    listed = logs._entries

    def listed_and_gone(looked_in: Path) -> list[os.DirEntry[str]]:
        found = listed(looked_in)
        if looked_in == (folder.parent if gone == "folder" else folder):
            rmtree(folder)
            monkeypatch.setattr(logs, "_entries", listed)
        return found

    monkeypatch.setattr(logs, "_entries", listed_and_gone)
    assert texts(talk(), "port") == [PORT]
    assert not folder.exists()


def test_in_a_long_fork_what_its_own_turns_say_hides_no_other_conversation(talk: Talk, held: Held) -> None:
    log = held(
        "monday", *(user(f"The port of service {number} is {5000 + number}, mind the port.") for number in range(80))
    )
    held("tuesday", user("Among a lot of other things the word port was once said."))
    fork = log.fork(log.leaf, log.path.with_name("fork.jsonl"), session_id="fork")
    assert texts(talk(fork), "port") == ["Among a lot of other things the word port was once said."]
