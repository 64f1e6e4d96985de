"""What somebody who types ``persona`` in a shell is told, as real processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.model_server import ModelServer, Reply, ToolCall

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Persona

FACT = "Remember that the staging database listens on port 5433."


def broken_settings(agent_dir: Path) -> Path:
    path = agent_dir / "persona" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"models": {\n  "default": oops\n')
    return path


def test_off_in_a_shell_says_what_it_holds_for_and_whoever_is_refused_is_told_the_way_out(persona: Persona) -> None:
    persona("chat", "--once", FACT)
    off = persona("mind", "off")
    assert "for commands in this directory" in off.out
    assert "`persona mind on`" in off.out
    assert "restart" not in off.out
    refused = persona("mind", "recall", "port")
    assert (refused.code, "`persona mind on`" in refused.err) == (1, True)
    injected = persona("inject", "--prompt", "which port?")
    assert (injected.code, injected.out, "`persona mind on`" in injected.err) == (0, "", True)
    assert "5433" in persona("chat", "--once", "/mind", "--plain").out
    persona("mind", "on")
    told = persona("inject", "--prompt", "which port?")
    assert ("5433" in told.out, told.err) == (True, "")


def test_off_in_a_session_of_ones_own_is_that_sessions(persona: Persona) -> None:
    assert "in this session" in persona("mind", "off", "--session", "mine").out
    assert persona("mind", "recall", "port").code == 0


@pytest.mark.parametrize(
    "words", [["mind", "xyz"], ["mind", "recal", "port"], ["mind", "forget"], ["mind", "off", "x"]]
)
def test_a_shell_is_told_what_it_can_type(persona: Persona, words: list[str]) -> None:
    ran = persona(*words)
    assert ran.code == 1
    assert "persona mind" in ran.err
    assert "/mind" not in ran.err
    assert "/help" not in ran.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["mnd"], "mind"),
        (["docter"], "doctor"),
        (["recal", "hunter2"], "mind recall"),
        (["backups"], "mind backups"),
        (["note", "save", "hunter2"], "mind note save"),
        (["zzzz"], None),
    ],
)
def test_a_shell_is_told_which_command_was_probably_meant(
    persona: Persona, home: Path, words: list[str], meant: str | None
) -> None:
    ran = persona(*words)
    assert (ran.code, "hunter2" in ran.err) == (2, False)
    assert ran.err.strip().endswith(f"Did you mean `persona {meant}`?" if meant else "No such command 'zzzz'.")
    assert not list(home.rglob("*.json*"))


def test_a_shell_is_told_the_options_that_there_are(persona: Persona) -> None:
    for words in (["mind", "--lits"], ["mind", "note", "list", "--lits"]):
        ran = persona(*words)
        assert (ran.code, "no option --lits" in ran.err) == (1, True)
        for name in ("agent-dir", "cwd", "persona", "session", "role", "json", "plain", "help"):
            assert f"--{name}" in ran.err


def test_a_shell_is_told_what_it_can_do_about_a_refusal(persona: Persona) -> None:
    def backlog() -> str:
        persona("mind", "backlog", "add", "call the printers")
        return str(persona("mind", "backlog", "--json").json()["details"]["ids"][0])

    for word in ("save", "list", "read", "forget"):
        assert word in persona("mind", "note").err.splitlines()[0]
    item = backlog()
    assert "`persona mind backlog` lists" in persona("mind", "backlog", "done", "nosuch").err
    persona("mind", "backlog", "done", item)
    assert "`--again`" in persona("mind", "backlog", "add", "call the printers").err
    assert persona("mind", "backlog", "add", "call the printers", "--again").code == 0
    hours = persona("mind", "remember", "hello", "--ttl-hours", "3").err
    assert ("`--ttl-hours`" in hours, "memory.remember" in hours) == (True, False)
    assert persona("mind", "remember", "hello", "--ttl-hours", "3", "--scope", "stm").code == 0
    erased = persona("mind", "erase", backlog()).out
    assert "`persona mind backlog add … --insist`" in erased
    refused = persona("mind", "backlog", "add", "call the printers").err
    assert "`persona mind backlog add … --insist`" in refused
    assert persona("mind", "backlog", "add", "call the printers", "--insist").code == 0


def test_a_shell_is_told_how_it_takes_back_what_it_saved_and_a_memory_is_shown_as_it_stands(persona: Persona) -> None:
    saved = persona("mind", "remember", "We type `/mind off` on Fridays.").out
    assert "`persona mind forget " in saved
    assert "We type `/mind off` on Fridays." in saved
    assert "We type `/mind off` on Fridays." in persona("mind", "recall", "fridays").out


def test_a_missing_word_is_told_with_the_commands_form(persona: Persona) -> None:
    told = persona("mind", "forget").err
    assert "id is missing" in told
    assert "Form: persona mind forget ID" in told


@pytest.mark.parametrize("words", [["mind", "--help"], ["mind", "help"], ["mind", "-h"]])
def test_help_lists_the_commands(persona: Persona, home: Path, words: list[str]) -> None:
    ran = persona(*words)
    assert ran.code == 0
    assert all(f"\n  {name} " in ran.out for name in ("recall", "remember", "backlog add", "note save", "doctor"))
    assert "--agent-dir" in ran.out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["mind", "recall", "--help"], ["mind", "help", "recall"], ["mind", "--cwd", ".", "recall", "-h"]]
)
def test_help_tells_one_commands_form_and_parameters(persona: Persona, words: list[str]) -> None:
    ran = persona(*words)
    assert ran.code == 0
    assert ran.out.startswith("persona mind recall [QUERY…]")
    assert "\n  --max  " in ran.out


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_file_is_no_agent_directory(persona: Persona, tmp_path: Path, below: str) -> None:
    (tmp_path / "README.md").touch()
    for words in (["mind"], ["chat", "--once", "hi"], ["doctor"]):
        ran = persona(*words, "--agent-dir", f"{tmp_path / 'README.md'}{below}")
        assert (ran.code, ran.out) == (2, "")
        assert "README.md is a file" in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize("line", [FACT, "hello"])
def test_a_directory_that_cannot_be_written_to_fails_in_whole_sentences(persona: Persona, line: str) -> None:
    ran = persona("chat", "--once", line, "--agent-dir", "/proc/nope/deeper")
    assert ran.code in {1, 2}
    assert "…" not in ran.out + ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--once", "hi"], 0),
        (["--once", "/mind"], 0),
        (["--once", "/mind forget nothing-of-that-id", "--once", "/mind"], 1),
        (["--once", "/nonsense"], 1),
        (["--once", "hi", "--persona", "Nobody"], 1),
        (["--once", "hi", "--model", "openai:foo"], 1),
    ],
)
def test_the_exit_status_says_whether_every_line_was_done(persona: Persona, words: list[str], code: int) -> None:
    assert persona("chat", *words).code == code


def test_chosen_silence_is_no_failure(persona: Persona) -> None:
    assert persona("chat", "--once", "hi", PI_PERSONA_DISABLE="1").code == 0


def test_what_only_a_tool_call_failed_of_is_no_failure(persona: Persona, agent_dir: Path) -> None:
    call = ToolCall("memory", {"action": "read", "id": "nothing"})
    with ModelServer([Reply(calls=(call,)), "There is none."]) as server:
        (agent_dir / "persona").mkdir(parents=True)
        models = {"models": {"default": {"model": "openai:scripted", "baseUrl": server.url}}}
        (agent_dir / "persona" / "settings.json").write_text(json.dumps(models))
        ran = persona("chat", "--once", "hi", "--json")
    assert [(event["kind"], event["ok"]) for event in ran.outcomes()] == [("tool", False), ("reply", True)]
    assert ran.code == 0


def test_doctor_begins_with_what_matters_most(persona: Persona, agent_dir: Path) -> None:
    assert persona("doctor").out.startswith("✓ Memory works")
    persona("mind", "off")
    off = persona("doctor")
    assert (off.code, off.out.startswith("! Memory is off for commands in this directory")) == (0, True)
    disabled = persona("doctor", PI_PERSONA_DISABLE="1")
    assert (disabled.code, disabled.out.startswith("! Memory is off: PI_PERSONA_DISABLE")) == (0, True)
    path = broken_settings(agent_dir)
    broken = persona("doctor")
    first, rest = broken.err.split("✗ ")[1].split("\n", 1)
    assert broken.code == 1
    assert f"{path} is no JSON object (line 2, column 14)" in first
    assert str(path) not in rest.split("Paths:")[0]
    assert "No model" not in rest
    assert "Name one" not in rest


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"mind": {"capture": "maybe"}}', "mind.doctor, persona.doctor"),
        ('{"recall": {"vectors": 5}}', "mind.doctor, persona.doctor"),
        ('{"langauge": "it"}', "persona.doctor"),
        ('{"language": "qq"}', "persona.doctor"),
    ],
)
def test_doctor_says_at_once_that_a_setting_does_nothing(
    persona: Persona, agent_dir: Path, text: str, where: str
) -> None:
    (agent_dir / "persona").mkdir(parents=True)
    (agent_dir / "persona" / "settings.json").write_text(text, encoding="utf-8")
    ran = persona("doctor")
    assert (ran.code, ran.out.split("\n")[0]) == (0, f"! Memory works, but look at {where}.")
    assert "the settings cannot be read" not in ran.out
    assert persona("doctor", "--host", "pi").out.startswith(
        "! pi is not set up yet: not installed: `persona install pi`"
    )


@pytest.mark.parametrize("host", ["command-line", "embedded", "pi", "claude-code", "mcp"])
def test_doctor_says_of_which_host_it_speaks(persona: Persona, host: str) -> None:
    out = persona("doctor", "--host", host).out
    assert f"The host {host} lacks" in out
    assert ("run from the command line" in out) == (host == "command-line")
    assert ("host: command line" in out) == (host == "command-line")
    assert "no timers: reminders" not in out


def test_a_model_that_cannot_be_used_is_told_whole(persona: Persona) -> None:
    ran = persona("chat", "--once", "hi", "--model", "openai:foo")
    assert ran.out.endswith("holds no key. Set it and start again.\n")


def test_why_nobody_owns_the_memory_is_told_once(persona: Persona) -> None:
    for words in (["mind"], ["why"], ["inject", "--prompt", "x"], ["doctor"], ["chat", "--once", "/help"]):
        ran = persona(*words, "--persona", "nobody")
        assert (ran.out + ran.err).count("There is no persona of that name") == 1, words
