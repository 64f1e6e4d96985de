"""Why did it say that, and which memories never help?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from persona_hooks.journal import MemoryJournal
from persona_mind.kernel.scope import segment
from persona_mind.recorder.service import BEHIND, MAX_TURNS, Recorder
from persona_mind.recorder.tell import ENOUGH
from persona_store.transaction import Profile
from tests.mind.conftest import Start, project, start
from tests.support.cli import Persona
from tests.support.clock import ManualClock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Desk

__all__ = ["project", "start"]

PORT = "Staging listens on port 5433."
MAST = "The mast is painted red."


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    """Ann's conversation in a project."""
    desk = start()
    open_for(desk, project)
    return desk


def open_for(desk: Desk, cwd: Path, session_id: str = "s1", persona: str | None = None) -> None:
    desk.runtime.open(MemoryJournal(session_id, cwd), session_id=session_id, cwd=cwd, persona=persona)


def remember(desk: Desk, text: str, *options: str) -> str:
    return str(desk.say(f"/mind remember {' '.join(options)} {text}").details["id"])


def ask(desk: Desk, prompt: str) -> None:
    """Run one turn."""
    desk.runtime.blocks(prompt)
    desk.runtime.fire("agent_start")
    desk.runtime.fire("agent_end")
    desk.runtime.settled()
    wait(desk)


def wait(desk: Desk) -> None:
    """Let the time pass after which turns are written."""
    clock = desk.runtime.scheduler
    assert isinstance(clock, ManualClock)
    clock.advance(BEHIND)


def logs(agent_dir: Path) -> list[Path]:
    return sorted((agent_dir / "persona-mind" / "recorder").glob("*.json"))


def test_the_last_request_is_told_memory_by_memory_with_its_reasons(desk: Desk) -> None:
    port, mast = remember(desk, PORT), remember(desk, MAST)
    ask(desk, "Hello there.")
    ask(desk, "Which port does staging use?")
    answer = desk.say("/mind why")
    items = {item["id"]: item for item in answer.details["items"]}
    assert set(items) == {port, mast}
    assert items[port]["terms"]["word"] > 0
    assert items[port]["score"] == pytest.approx(sum(items[port]["terms"].values()), abs=0.01)
    assert "score" not in items[mast]
    assert f"- [{port}] (persona note) {PORT} · score" in answer.text
    assert "words of the question" in answer.text
    assert f"- [{mast}] (persona note) {MAST} · stands there whatever is asked" in answer.text


def test_nothing_of_a_memory_or_a_question_is_written(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT, "--tags", "harbour")
    desk.say("/mind note save We look for the harbour today.")
    ask(desk, "Which harbour port does staging use?")
    [log] = logs(agent_dir)
    written = log.read_text("utf-8").lower()
    assert '"items"' in written
    assert not [word for word in ("stag", "port", "harbour", "5433", "which", "today") if word in written]


def test_it_is_written_after_the_turn_and_told_before_that_too(desk: Desk, agent_dir: Path) -> None:
    port = remember(desk, PORT)
    desk.runtime.blocks("Which port?")
    assert logs(agent_dir) == []
    assert [item["id"] for item in desk.say("/mind why").details["items"]] == [port]
    desk.runtime.settled()
    assert logs(agent_dir) == []
    assert [item["id"] for item in desk.say("/mind why").details["items"]] == [port]
    wait(desk)
    assert len(logs(agent_dir)) == 1
    assert [item["id"] for item in desk.say("/mind why").details["items"]] == [port]


def test_turns_that_settle_together_are_written_together(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT)
    for prompt in ("Which port?", "And which one is it?"):
        desk.runtime.blocks(prompt)
        desk.runtime.settled()
    wait(desk)
    [log] = logs(agent_dir)
    store = json.loads(log.read_text("utf-8"))
    assert len(store["entries"]) == 2
    assert not log.with_name(log.name + ".bak").exists()


def test_ending_the_session_writes_what_waits(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT)
    desk.runtime.blocks("Which port?")
    desk.runtime.settled()
    desk.runtime.shut_session()
    assert len(logs(agent_dir)) == 1


def test_what_the_model_recalled_by_itself_is_told(desk: Desk) -> None:
    port = remember(desk, PORT)
    desk.runtime.blocks("Hello.")
    desk.runtime.tool("memory", {"action": "recall", "query": "staging"})
    desk.runtime.tool("memory", {"action": "recall", "query": "staging"}, origin="user", audience="script")
    desk.runtime.settled()
    how = [(item["id"], item["how"]) for item in desk.say("/mind why").details["items"]]
    assert how == [(port, "shown"), (port, "recalled")]


def test_a_host_that_never_settles_keeps_what_its_model_recalled(desk: Desk, project: Path) -> None:
    port = remember(desk, PORT)
    desk.runtime.tool("memory", {"action": "recall", "query": "staging"}, audience="mcp")
    desk.runtime.shut_session()
    open_for(desk, project, "s2")
    answer = desk.say("/mind why")
    assert (answer.details["session"], answer.details["items"][0]["id"]) == ("s1", port)


def test_looking_at_what_would_be_injected_records_nothing(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT)
    desk.say("/mind")
    desk.runtime.blocks("Which port?")
    desk.runtime.shut_session()
    assert logs(agent_dir) == []


def test_a_turn_without_a_memory_leaves_nothing(desk: Desk, agent_dir: Path) -> None:
    ask(desk, "Hello.")
    assert not (agent_dir / "persona-mind").exists()
    assert "No request with a memory" in desk.say("/mind why").text


def test_notes_and_deferred_items_are_among_what_was_shown(desk: Desk) -> None:
    note = desk.say("/mind note save We look at staging today.").details["id"]
    item = desk.say("/mind backlog add Paint the mast.").details["id"]
    ask(desk, "What about staging?")
    tiers = {entry["id"]: entry["tier"] for entry in desk.say("/mind why").details["items"]}
    assert tiers == {note: "notes", item: "backlog"}


def test_what_had_no_room_and_what_was_withheld_is_counted(desk: Desk, agent_dir: Path) -> None:
    for number in range(12):
        remember(desk, f"Fact number {number} of many about the mast.")
    file = agent_dir / "persona-mind" / "memory" / "ltm" / "_default.json"
    token = "gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    file.write_text(file.read_text("utf-8").replace("Fact number 3 of many", f"The token is {token}"), "utf-8")
    ask(desk, "the mast")
    answer = desk.say("/mind why")
    assert answer.details["left"] == {"long-term": 3}
    assert answer.details["withheld"] == 1
    assert "+3 long-term not shown" in answer.text


def test_one_memory_is_followed_over_the_turns(desk: Desk, clock: ManualClock) -> None:
    port = remember(desk, PORT)
    for prompt in ("Which port?", "Hello.", "The staging port?"):
        clock.advance(3_600)
        ask(desk, prompt)
    answer = desk.say(f"/mind why {port}")
    uses = answer.details["memory"]["uses"]
    assert (uses["turns"], uses["shown"], uses["matched"], uses["recalled"]) == (3, 3, 2, 0)
    assert "shown in 3 of 3 turns, in 2 because of what was asked" in answer.text
    assert len(answer.details["occasions"]) == 3


def test_memories_that_never_help_are_named(desk: Desk, clock: ManualClock) -> None:
    port, mast = remember(desk, PORT), remember(desk, MAST)
    objective = remember(desk, "Finish the boat.", "--kind objective")
    for number in range(8):
        remember(desk, f"Convention {number} of the yard.", "--kind convention")
    assert "Only 0 turns recorded yet" in desk.say("/mind why --unused").text
    for _ in range(ENOUGH):
        ask(desk, "Which port does staging use?")
    clock.advance(1)
    fresh = remember(desk, "Recorded just now.")
    answer = desk.say("/mind why --unused")
    unmatched = {item["id"] for item in answer.details["unmatched"]}
    unseen = {item["id"] for item in answer.details["unseen"]}
    assert objective in unmatched
    assert mast in unmatched | unseen
    assert unseen
    assert not {port, fresh} & (unmatched | unseen)
    assert "never because of what was asked" in answer.text
    assert "Never shown:" in answer.text


def test_what_it_is_too_early_to_tell_of_is_not_told_to_have_helped(desk: Desk, clock: ManualClock) -> None:
    remember(desk, PORT)
    for _ in range(ENOUGH):
        ask(desk, "Which port does staging use?")
    assert "Every memory has helped in 5 turns" in desk.say("/mind why --unused").text
    clock.advance(1)
    remember(desk, "Recorded just now.")

    answer = desk.say("/mind why --unused")

    assert answer.details["early"] == 1
    assert "Every memory has helped" not in answer.text
    assert "1 memory could not stand in enough requests yet" in answer.text


def test_a_session_in_a_project_without_a_request_says_where_there_are_some(desk: Desk, home: Path) -> None:
    remember(desk, PORT)
    ask(desk, "Which port?")
    open_for(desk, home / "elsewhere", "s2")
    answer = desk.say("/mind why")
    assert "in this session or this project yet" in answer.text
    assert "1 turn is recorded elsewhere; `persona why` in the folder" in answer.text


def test_turns_of_other_projects_do_not_speak_against_a_projects_memory(desk: Desk, home: Path) -> None:
    other = home / "work" / "boat"
    (other / ".git").mkdir(parents=True)
    local = remember(desk, MAST, "--scope project")
    remember(desk, PORT)
    open_for(desk, other, "s2")
    for _ in range(ENOUGH):
        ask(desk, "Which port?")
    open_for(desk, home / "work" / "rocket", "s3")
    answer = desk.say("/mind why --unused")
    assert local not in {item["id"] for part in ("unmatched", "unseen") for item in answer.details[part]}


def test_what_was_forgotten_is_counted_and_not_named(desk: Desk) -> None:
    port, mast = remember(desk, PORT), remember(desk, MAST)
    ask(desk, "Which port?")
    desk.say(f"/mind forget {port}")
    answer = desk.say("/mind why")
    assert [item["id"] for item in answer.details["items"]] == [mast]
    assert answer.details["gone"] == 1
    assert port not in answer.text
    gone = desk.say(f"/mind why {port}")
    assert (gone.ok, gone.details["reason"]) == (False, "not_found")


def test_ids_of_what_was_erased_are_taken_out_of_every_log(
    desk: Desk, agent_dir: Path, project: Path, clock: ManualClock
) -> None:
    shared, kept = remember(desk, PORT, "--scope shared"), remember(desk, MAST, "--scope shared")
    for session, persona in (("a", None), ("b", "Ann")):
        if persona is not None:
            folder = agent_dir / "persona" / "personas" / persona
            folder.mkdir(parents=True)
            (folder / "brief.yml").write_text(f"name: {persona}\n", "utf-8")
        open_for(desk, project, session, persona)
        ask(desk, "Which port?")
        ask(desk, "Which mast?")
    assert len(logs(agent_dir)) == 2
    recorder = Recorder(Profile(agent_dir / "persona-mind", clock.now), clock.now)
    changed = recorder.drop({shared})
    assert sorted(changed) == logs(agent_dir)
    assert not [log for log in logs(agent_dir) if shared in log.read_text("utf-8")]
    assert all(kept in log.read_text("utf-8") for log in logs(agent_dir))
    assert recorder.drop({shared}) == []


def test_each_persona_has_a_log_of_its_own(desk: Desk, agent_dir: Path, project: Path) -> None:
    for name in ("Ann", "Bob"):
        folder = agent_dir / "persona" / "personas" / name
        folder.mkdir(parents=True)
        (folder / "brief.yml").write_text(f"name: {name}\n", "utf-8")
    open_for(desk, project, "a", "Ann")
    remember(desk, PORT)
    ask(desk, "Which port?")
    open_for(desk, project, "b", "Bob")
    answer = desk.say("/mind why")
    assert (answer.details["recorded"], answer.details["items"]) == (0, [])
    assert [log.stem for log in logs(agent_dir)] == [segment("Ann")]


def test_the_log_is_bounded(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT)
    for _ in range(3):
        ask(desk, "Which port?")
    [log] = logs(agent_dir)
    store = json.loads(log.read_text("utf-8"))
    store["entries"] = [{**store["entries"][0], "id": f"{at:012x}"} for at in range(MAX_TURNS)]
    log.write_text(json.dumps(store, indent=2) + "\n", "utf-8")
    ask(desk, "Which port?")
    entries = json.loads(log.read_text("utf-8"))["entries"]
    assert len(entries) == MAX_TURNS
    assert entries[0]["id"] == f"{1:012x}"


def test_a_leg_is_not_recorded(start: Start, project: Path, agent_dir: Path) -> None:
    first = start()
    open_for(first, project)
    remember(first, PORT)
    leg = start(PI_PERSONA_LEG="1")
    open_for(leg, project, "leg")
    ask(leg, "Which port?")
    assert logs(agent_dir) == []
    assert not leg.say("/mind why").ok


def test_a_log_that_cannot_be_read_costs_the_record_and_nothing_else(desk: Desk, agent_dir: Path) -> None:
    remember(desk, PORT)
    ask(desk, "Which port?")
    [log] = logs(agent_dir)
    newer = json.dumps({"version": 2, "updatedAt": "x", "sequence": 1, "entries": []})
    log.write_text(newer, "utf-8")
    ask(desk, "Which port?")
    assert log.read_text("utf-8") == newer
    assert desk.say("/mind why").details["reason"] == "unsupported_version"
    assert PORT in "".join(block.text for block in desk.runtime.blocks("Which port?"))


def test_asking_for_a_memory_and_for_the_unused_at_once_is_refused(desk: Desk) -> None:
    assert desk.say("/mind why abc --unused").details["field"] == "unused"


def test_the_command_tells_what_a_conversation_before_was_given(environ: dict[str, str], tmp_path: Path) -> None:
    persona = Persona(environ, tmp_path)
    handle = persona.tool("memory", action="remember", text=PORT).json()["details"]["id"]
    persona("chat", "--once", "Which port does staging use?")
    told = persona("why", "--json").json()
    assert [item["id"] for item in told["details"]["items"]] == [handle]
    assert PORT in persona("why", handle, "--plain").out
    assert "Only 1 turn recorded yet" in persona("why", "--unused", "--plain").out
