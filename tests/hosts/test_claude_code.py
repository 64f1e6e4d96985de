"""Claude Code's hooks, each a real process of its own: documented JSON in, documented JSON out, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from persona_host.adapters.claude_code import files, payload, rendezvous
from persona_host.doctor import HOSTS
from persona_host.embedded.shelf import Shelf
from persona_host.headless import agent_dir_of
from tests.support.claude_code import SPECIFIC, ClaudeCode
from tests.support.cli import PERSONA, Persona

if TYPE_CHECKING:
    from pathlib import Path

FACT = "the staging database listens on port 5433."


@pytest.fixture
def claude(environ: dict[str, str], home: Path) -> ClaudeCode:
    project = home / "project"
    project.mkdir()
    return ClaudeCode(environ, project)


@pytest.mark.parametrize("event", SPECIFIC)
def test_every_documented_payload_is_answered_with_documented_fields(claude: ClaudeCode, event: str) -> None:
    done = claude.hook(event)
    assert (done.code, done.err) == (0, "")
    assert done.json.keys() <= {"systemMessage", "decision", "reason", "hookSpecificOutput"}
    assert done.json.get("hookSpecificOutput", {"hookEventName": event})["hookEventName"] == event


def test_every_event_that_is_answered_is_registered_and_no_other(claude: ClaudeCode) -> None:
    del claude
    hooks = json.loads((files.BUNDLE / files.HOOKS).read_text(encoding="utf-8"))["hooks"]
    assert sorted(hooks) == sorted(payload.EVENTS) == sorted(SPECIFIC)
    commands = [hook["command"] for entries in hooks.values() for entry in entries for hook in entry["hooks"]]
    assert commands == [f"exec persona hook {event}" for event in hooks]


def test_what_was_told_elsewhere_is_given_to_the_model(claude: ClaudeCode) -> None:
    Persona(claude.environ, claude.project).tool("memory", action="remember", kind="note", text=FACT)
    assert FACT in claude.say("Which port does staging use?").context


def test_a_strong_cue_is_captured_with_a_card_that_says_how_to_take_it_back(claude: ClaudeCode) -> None:
    done = claude.say(f"Remember that {FACT}")
    (row,) = claude.remembered()
    assert (row["text"], row["origin"], row["host"]) == (FACT, "user", "claude-code")
    assert "Remembered 1 fact" in done.shown
    assert f"/persona:mind forget {row['id']}" in done.shown
    assert "Already captured" in done.context


@pytest.mark.parametrize("prompt", ["/mind recall port", "/persona:mind recall port", "  /persona:mind recall port\n"])
def test_a_command_is_answered_to_the_person_and_kept_from_the_model(claude: ClaudeCode, prompt: str) -> None:
    claude.say(f"Remember that {FACT}")
    done = claude.say(prompt)
    assert (done.json["decision"], "5433" in done.json["reason"]) == ("block", True)
    assert done.json["hookSpecificOutput"] == {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}


def test_a_command_that_expands_is_answered_too_and_others_are_let_through(claude: ClaudeCode) -> None:
    done = claude.hook("UserPromptExpansion", command_name="persona:mind", command_args="doctor")
    assert "host: claude-code" in done.json["reason"]
    assert claude.hook("UserPromptExpansion", command_name="deploy", command_args="staging").json == {}


@pytest.mark.parametrize("prompt", ["/minding the gap", "/srv/mind is full", "/deploy mind", "mind the gap", "/"])
def test_what_only_looks_like_a_command_goes_to_the_model(claude: ClaudeCode, prompt: str) -> None:
    assert "decision" not in claude.say(prompt).json


@pytest.mark.parametrize("source", ["user", "sdk", "loop_wakeup", "newer"])
def test_only_what_the_person_sent_is_captured_and_obeyed(claude: ClaudeCode, source: str) -> None:
    own = source in {"user", "sdk"}
    claude.say(f"Remember that {FACT}", source=source)
    assert bool(claude.remembered()) == own
    assert ("decision" in claude.say("/mind", source=source).json) == own
    expanded = claude.hook("UserPromptExpansion", command_name="persona:mind", command_args="", source=source)
    assert ("decision" in expanded.json) == own


def test_what_is_too_long_for_claude_code_is_said(claude: ClaudeCode) -> None:
    folder = claude.agent_dir / "persona" / "personas"
    folder.mkdir(parents=True)
    brief = "---\nname: ada\npersona: true\ndescription: tests\n---\n" + "You are ada, at length. " * 500
    (folder / "ada.md").write_text(brief, encoding="utf-8")
    long = replace(claude, more={"PI_PERSONA_DEFAULT": "ada"}).say("Hello.")
    assert len(long.context) > 10_000
    assert "10,000 characters" in long.shown


def test_a_refused_command_says_why_and_is_kept_from_the_model(claude: ClaudeCode) -> None:
    done = claude.say("/mind forget 0123456789ab")
    assert done.json["decision"] == "block"
    assert done.code == 0


def test_a_memory_that_names_a_command_is_shown_as_it_is(claude: ClaudeCode) -> None:
    text = "the wiki says to type `/mind off` first."
    claude.say(f"Remember that {text}")
    assert text in claude.say("/mind recall wiki").json["reason"]


def test_an_erasure_names_the_transcripts_that_still_hold_what_was_given(claude: ClaudeCode, home: Path) -> None:
    claude.say(f"Remember that {FACT}")
    (row,) = claude.remembered()
    projects = home / ".claude" / "projects"
    for name in ("mine", "another"):
        (projects / name).mkdir(parents=True)
    mine = projects / "mine" / f"{claude.session}.jsonl"
    mine.write_text(json.dumps({"content": claude.say("Which port?").context}), encoding="utf-8")
    (projects / "another" / "somebody.jsonl").write_text(FACT, encoding="utf-8")
    done = claude.say(f"/mind erase {row['id']}").json["reason"]
    assert str(mine) in done
    assert "somebody" not in done
    assert FACT in mine.read_text(encoding="utf-8")


def test_memory_that_was_turned_off_stays_off_for_the_session_and_for_no_other(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    claude.say("/mind off")
    assert claude.say("Which port does staging use?").context == ""
    other = replace(claude, session="another")
    assert "5433" in other.say("Which port does staging use?").context
    claude.hook("SessionEnd")
    claude.hook("SessionStart", source="resume")
    assert claude.say("Which port does staging use?").context == ""


def test_the_log_stays_the_sessions_wherever_claude_has_gone_meanwhile(claude: ClaudeCode) -> None:
    below = claude.project / "below"
    below.mkdir()
    claude.say("/mind off", cwd=str(below))
    claude.say(f"Remember that {FACT}", cwd=str(claude.project))
    assert claude.remembered() == []
    logs = list((claude.agent_dir / "persona-host" / "sessions").rglob("*.jsonl"))
    folder = Shelf(claude.agent_dir, claude.project).folder
    assert logs == [folder / f"claude-{claude.session}.jsonl"]


@pytest.mark.parametrize("told", [True, False], ids=["the start is told", "only where it is now"])
def test_memory_that_was_turned_off_stays_off_wherever_the_session_goes(
    claude: ClaudeCode, home: Path, *, told: bool
) -> None:
    claude.say(f"Remember that {FACT}")
    start, elsewhere = home / "start", home / "elsewhere"
    start.mkdir()
    elsewhere.mkdir()
    moving = replace(claude, session="moving", more={"CLAUDE_PROJECT_DIR": str(start) if told else ""})
    moving.say("/mind off", cwd=str(start))
    if told:
        start.rmdir()
    moving.say("Remember that the cat is called Ada.", cwd=str(elsewhere))
    assert moving.say("Which port does staging use?", cwd=str(elsewhere)).context == ""
    assert len(claude.remembered()) == 1


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", "something newer"])
def test_a_session_may_begin_in_any_way(claude: ClaudeCode, source: str) -> None:
    done = claude.hook("SessionStart", source=source)
    assert (done.code, done.err, done.json) == (0, "", {})


def test_a_delegated_leg_is_given_memory_and_captures_nothing(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    leg = replace(claude, session="leg", more={"PI_PERSONA_LEG": "1"})
    assert "5433" in leg.say("Which port does staging use?").context
    leg.say("Remember that the cat is called Ada.")
    assert len(claude.remembered()) == 1


def test_with_the_companion_off_nothing_is_given_and_no_file_appears(claude: ClaudeCode, home: Path) -> None:
    off = replace(claude, more={"PI_PERSONA_DISABLE": "1"})
    for event in SPECIFIC:
        assert off.hook(event).context == ""
    off.say(f"Remember that {FACT}")
    assert sorted(path.name for path in home.iterdir()) == ["project"]


BROKEN = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "deep": b"[" * 100_000,
    "no UTF-8": b'{"session_id": "\xff"}',
    "another event": json.dumps({"hook_event_name": "Stop"}).encode(),
    "too long": b'{"prompt": "' + b"x" * (8 * 1024 * 1024) + b'"}',
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_json_is_one_line_of_complaint_and_never_in_the_way(claude: ClaudeCode, data: bytes, home: Path) -> None:
    done = claude.hook("UserPromptSubmit", payload=data)
    assert (done.code, done.out) == (0, b"")
    assert done.err.startswith("persona: UserPromptSubmit: ")
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in home.iterdir()) == ["project"]


WRONG = {
    "no session": {"session_id": None},
    "a path for a session": {"session_id": "../../x"},
    "a long session": {"session_id": "x" * 58},
    "an empty session": {"session_id": ""},
    "no prompt": {"prompt": None},
    "no prompt of text": {"prompt": 7},
    "half a character": {"prompt": "Remember that \ud800 is half."},
    "no directory": {"cwd": "/no/such/directory"},
    "a relative directory": {"cwd": "."},
    "a NUL": {"cwd": "/srv\0"},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_a_payload_with_a_wrong_field_names_it_and_is_never_in_the_way(
    claude: ClaudeCode, fields: dict[str, object], home: Path
) -> None:
    claude = replace(claude, more={"CLAUDE_PROJECT_DIR": ""})
    done = claude.hook("UserPromptSubmit", **fields)
    assert (done.code, done.out) == (0, b"")
    assert done.err.count("\n") == 1
    assert done.err.startswith("persona: UserPromptSubmit: ")
    assert sorted(path.name for path in home.iterdir()) == ["project"]


def test_an_unknown_event_is_one_line_and_never_in_the_way(claude: ClaudeCode) -> None:
    done = claude.hook("Stop", payload=json.dumps({"hook_event_name": "Stop"}).encode())
    assert (done.code, done.out, done.err.count("\n")) == (0, b"", 1)
    assert "no hook of that name" in done.err


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a shell")
@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_a_closed_stream_loses_nothing_of_what_was_asked_for(claude: ClaudeCode, closed: str) -> None:
    data = json.dumps(claude.payload("UserPromptSubmit", prompt=f"Remember that {FACT}"))
    command = f"exec {PERSONA} hook UserPromptSubmit {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=data, text=True, env=claude.env, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert [row["text"] for row in claude.remembered()] == [FACT]
    assert done.stderr == (
        "" if "2>&-" in closed else "persona: standard output is closed: nothing is given to the model.\n"
    )


def test_nobody_who_reads_the_answer_is_no_fault(claude: ClaudeCode) -> None:
    data = json.dumps(claude.payload("UserPromptSubmit", prompt=f"Remember that {FACT}")).encode()
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(PERSONA), "hook", "UserPromptSubmit"],
        input=data,
        stdout=writer,
        stderr=subprocess.PIPE,
        env=claude.env,
        check=False,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    assert [row["text"] for row in claude.remembered()] == [FACT]


def test_what_a_plugin_prints_is_not_taken_for_the_answer(claude: ClaudeCode, tmp_path: Path) -> None:
    folder = tmp_path / "noisy"
    (folder / "noisy-1.dist-info").mkdir(parents=True)
    (folder / "noisy-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1\n", "utf-8")
    (folder / "noisy-1.dist-info" / "entry_points.txt").write_text("[persona_host]\nnoisy = noisy:Noisy\n", "utf-8")
    (folder / "noisy.py").write_text("print('loud')\nclass Noisy:\n    def __init__(self, host): print('{')\n", "utf-8")
    done = replace(claude, more={"PYTHONPATH": str(folder)}).say(f"Remember that {FACT}")
    assert "Remembered 1 fact" in done.shown
    assert "loud" in done.err


@pytest.mark.parametrize("fault", ["raise SystemExit(2)", "raise KeyboardInterrupt", "import os; os.close(1)", "1 / 0"])
def test_a_plugin_that_would_end_the_process_is_not_in_the_way(claude: ClaudeCode, tmp_path: Path, fault: str) -> None:
    folder = tmp_path / "rogue"
    (folder / "rogue-1.dist-info").mkdir(parents=True)
    (folder / "rogue-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: rogue\nVersion: 1\n", "utf-8")
    (folder / "rogue-1.dist-info" / "entry_points.txt").write_text("[persona_host]\nrogue = rogue:Rogue\n", "utf-8")
    (folder / "rogue.py").write_text(f"{fault}\nclass Rogue:\n    def __init__(self, host): pass\n", "utf-8")
    done = replace(claude, more={"PYTHONPATH": str(folder)}).say("Which port does staging use?")
    assert done.code == 0
    assert "decision" not in done.json


def test_a_memory_that_cannot_be_read_is_not_in_the_way(claude: ClaudeCode, agent_dir: Path) -> None:
    path = agent_dir / "persona-mind" / "memory" / "ltm" / "_default.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{ broken")
    done = claude.say(f"Remember that {FACT}")
    assert done.code == 0
    assert "Not remembered" in done.shown
    assert path.read_bytes() == b"{ broken"


def test_hooks_of_one_session_at_once_lose_nothing(claude: ClaudeCode) -> None:
    facts = [f"drawer number {number} holds the {word}" for number, word in enumerate(("saw", "drill", "rasp", "file"))]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda fact: claude.say(f"Remember that {fact}."), facts))
    assert all("Remembered 1 fact" in one.shown for one in done)
    assert sorted(row["text"] for row in claude.remembered()) == sorted(f"{fact}." for fact in facts)
    log = Shelf(claude.agent_dir, claude.project).folder / f"claude-{claude.session}.jsonl"
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]
    ids = [entry["id"] for entry in entries]
    assert len(set(ids)) == len(ids) >= len(facts)


def test_two_sessions_at_once_each_have_their_own_log(claude: ClaudeCode) -> None:
    sessions = [replace(claude, session=f"session-{number}") for number in range(2)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: one.say(f"Remember that {one.session} is open."), sessions))
    folder = Shelf(claude.agent_dir, claude.project).folder
    assert sorted(path.name for path in folder.glob("*.jsonl")) == [
        "claude-session-0.jsonl",
        "claude-session-1.jsonl",
    ]
    assert len(claude.remembered()) == 2


def test_without_a_server_not_a_single_socket_is_touched(claude: ClaudeCode, tmp_path: Path) -> None:
    report = tmp_path / "sockets"
    alone = replace(claude, more={"PERSONA_TEST_NO_SOCKETS": str(report)})
    for event in SPECIFIC:
        assert alone.hook(event).err == ""
    assert "Remembered" in alone.say(f"Remember that {FACT}").shown
    assert not report.exists()


def test_doctor_says_what_claude_code_lacks(claude: ClaudeCode) -> None:
    assert "claude-code" in HOSTS
    done = Persona(claude.environ, claude.project)("doctor", "--host", "claude-code", "--plain")
    assert done.code == 0
    assert "The host claude-code lacks:" in done.out


def test_a_field_that_is_null_is_as_if_it_were_not_there(claude: ClaudeCode) -> None:
    done = claude.say(f"Remember that {FACT}", source=None, command_name=None)
    assert (done.err, "Remembered 1 fact" in done.shown) == ("", True)


def test_the_longest_session_id_is_one(claude: ClaudeCode) -> None:
    assert "Remembered" in replace(claude, session="x" * payload.MAX_SESSION).say(f"Remember that {FACT}").shown


WORDS = {
    "none": [],
    "an unknown option": ["-x"],
    "two events": ["UserPromptSubmit", "again"],
    "an option of other commands": ["UserPromptSubmit", "--cwd", "/gone"],
    "bytes that are no text": [b"\xff"],
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("data", [b"{}", b"x" * (8 * 1024 * 1024 + 1)], ids=["short", "long"])
def test_no_words_of_the_command_line_take_the_prompt_away(
    claude: ClaudeCode, words: list[str | bytes], data: bytes
) -> None:
    argv = [str(PERSONA), "hook", *words]
    done = subprocess.run(argv, input=data, capture_output=True, env=claude.env, cwd=claude.project, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_a_hook_with_options_answers_as_one_without(claude: ClaudeCode, home: Path) -> None:
    data = json.dumps(claude.payload("UserPromptSubmit", prompt=f"Remember that {FACT}")).encode()
    argv = [str(PERSONA), "hook", "UserPromptSubmit", "--agent-dir", str(home / "other")]
    done = subprocess.run(argv, input=data, capture_output=True, env=claude.env, cwd=claude.project, check=True)
    assert b"Remembered 1 fact" in done.stdout
    assert (home / "other" / "persona-mind").is_dir()


@pytest.mark.parametrize("chosen", ["", "~/x", "~", "relative/x", "../x", "/abs/../olute", "~nobody/x"])
@pytest.mark.parametrize("name", ["PI_AGENT_DIR", "PI_CODING_AGENT_DIR"])
def test_a_hook_and_the_runtime_mean_the_same_agent_directory(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, chosen: str
) -> None:
    monkeypatch.setenv("HOME", str(home))
    environ = {name: chosen}
    assert rendezvous.agent_dir(environ) == str(agent_dir_of(environ, home))
