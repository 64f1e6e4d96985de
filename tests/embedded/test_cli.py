"""The console script, as real processes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import everything
from tests.support.model_server import ModelServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Persona

FACT = "Remember that the staging database listens on port 5433."
PRINTING = (
    "chat",
    "mind",
    "tool",
    "inject",
    "doctor",
    "install",
    "uninstall",
    "why",
    "import",
    "export",
    "backup",
    "restore",
)
COMMANDS = (*PRINTING, "hook", "stdio", "mcp")


def settings(agent_dir: Path, url: str) -> None:
    (agent_dir / "persona").mkdir(parents=True)
    models = {"models": {"default": {"model": "openai:scripted", "baseUrl": url}}}
    (agent_dir / "persona" / "settings.json").write_text(json.dumps(models))


def test_a_line_on_a_pipe_saves_a_fact_and_shows_a_card(persona: Persona) -> None:
    ran = persona("chat", "--json", stdin=f"{FACT}\n")
    assert ran.code == 0
    [card] = ran.of("card")
    assert set(card) == {"kind", "ok", "text", "data"}
    assert card["ok"]
    assert "port 5433" in card["text"]
    assert len(ran.of("no_model")) == 1


def test_a_second_process_finds_the_fact(persona: Persona) -> None:
    persona("chat", "--once", FACT)
    assert "5433" in persona("inject", "--prompt", "which port does staging use?").out
    assert "5433" in persona("mind", "recall", "staging port").out
    assert "5433" in persona.tool("memory", action="recall", query="staging port").json()["text"]


def test_a_second_processs_model_request_holds_the_fact(persona: Persona, agent_dir: Path) -> None:
    persona("chat", "--once", FACT)
    with ModelServer(["It is port 5433."]) as server:
        settings(agent_dir, server.url)
        ran = persona("chat", "--once", "which port does staging use?", "--json")
    assert "5433" in server.requests[0].of("system")[0]
    assert server.requests[0].of("user") == ["which port does staging use?"]
    assert [outcome["text"] for outcome in ran.of("reply")] == ["It is port 5433."]


def test_a_model_asked_for_by_option_uses_the_providers_variables(persona: Persona) -> None:
    with ModelServer(["Hello."]) as server:
        ran = persona(
            "chat",
            "--model",
            "openai:tiny",
            "--once",
            "hi",
            "--plain",
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY="k-1",
        )
    assert (ran.code, ran.out) == (0, "Hello.\n")
    assert server.requests[0].body["model"] == "tiny"
    assert server.requests[0].headers["authorization"] == "Bearer k-1"


def test_a_key_of_the_environment_is_not_sent_to_a_server_that_settings_name(persona: Persona, agent_dir: Path) -> None:
    with ModelServer(["Hello."]) as server:
        settings(agent_dir, server.url)
        persona("chat", "--once", "hi", OPENAI_API_KEY="sk-not-for-this-server")
    assert "sk-not" not in server.requests[0].headers["authorization"]


def test_chat_answers_every_line_and_exits_1_when_the_model_fails(persona: Persona, agent_dir: Path) -> None:
    with ModelServer() as server:
        settings(agent_dir, server.url + "/nowhere")
        ran = persona("chat", "--once", "hi", "--once", "/help", "--json")
    assert ran.code == 1
    assert [outcome["kind"] for outcome in ran.outcomes()] == ["error", "answer"]


def test_without_a_model_the_card_tells_how_to_get_one(persona: Persona) -> None:
    ran = persona("chat", "--once", "hello", "--plain")
    assert ran.code == 0
    assert "No model is configured" in ran.out
    assert "--model openai:NAME" in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_common_options_and_help(persona: Persona, command: str) -> None:
    ran = persona(command, "--help")
    assert ran.code == 0
    options = {"--agent-dir", "--persona"}
    # Claude Code says itself which session it is, and where.
    options |= set() if command == "hook" else {"--cwd", "--session", "--role"}
    options |= {"--json", "--plain"} if command in PRINTING else set()
    assert all(option in ran.out for option in options)


def test_names_of_later_releases_are_not_offered(persona: Persona) -> None:
    offered = re.findall(r"^  (\w+)  ", persona("--help").out, re.MULTILINE)
    assert sorted(offered) == sorted(COMMANDS)
    assert persona("exam").code == 2


def test_options_may_follow_arguments_and_json(persona: Persona, agent_dir: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    ran = persona(
        "tool",
        "memory",
        '{"action": "remember", "term": "long", "kind": "note", "text": "The gate opens at nine."}',
        "--agent-dir",
        str(elsewhere),
    )
    assert ran.json()["ok"], ran
    assert not agent_dir.exists()
    assert "gate opens" in persona("mind", "recall", "gate", "--max", "3", "--agent-dir", str(elsewhere), "--json").out


def test_a_verbs_own_options_pass_through(persona: Persona) -> None:
    ran = persona("mind", "recall", "port", "--nonsense", "3")
    assert ran.code == 1
    assert "--max" in ran.err


def test_words_after_two_dashes_are_words(persona: Persona) -> None:
    ran = persona("mind", "recall", "--json", "--", "--max")
    assert (ran.code, ran.json()["ok"]) == (0, True)


def test_an_empty_recall_is_ok_and_does_not_repeat_its_query(persona: Persona) -> None:
    ran = persona("mind", "recall", "xylophone")
    assert ran.code == 0
    assert "xylophone" not in ran.out + ran.err


def test_a_refusal_exits_1_and_goes_to_standard_error(persona: Persona) -> None:
    ran = persona("mind", "forget", "nothing-of-that-id")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nonsense"], 2),
        (["chat", "--nonsense"], 2),
        (["chat", "--present", "alice"], 2),
        (["tool", "memory"], 2),
        (["tool", "memory", "{"], 2),
        (["tool", "memory", "[]"], 2),
        (["mind", "--cwd", "/no/such/directory"], 2),
        (["mind", "nonsense"], 1),
        (["tool", "nonsense", "{}"], 1),
        (["tool", "memory", "{}"], 1),
        (["doctor", "--host", "nonsense"], 1),
        (["inject", "--session", "../x"], 1),
    ],
)
def test_wrong_usage_and_refusals_have_their_status(persona: Persona, home: Path, words: list[str], code: int) -> None:
    ran = persona(*words)
    assert ran.code == code
    assert "Traceback" not in ran.err
    assert list(home.iterdir()) == []


def test_a_tools_answer_is_json_with_three_fields(persona: Persona) -> None:
    good = persona.tool("memory", action="recall").json()
    bad = persona.tool("memory", action="nonsense")
    assert set(good) == {"ok", "text", "details"}
    assert (bad.code, set(bad.json()), bad.json()["ok"]) == (1, {"ok", "text", "details"}, False)


def test_a_tools_json_may_come_from_standard_input(persona: Persona) -> None:
    assert persona("tool", "memory", "-", stdin='{"action": "recall"}').json()["ok"]


def test_reading_leaves_nothing_behind(persona: Persona, home: Path) -> None:
    for words in (["mind"], ["mind", "recall", "x"], ["inject", "--prompt", "x"], ["doctor"]):
        assert persona(*words).code == 0
    assert list(home.iterdir()) == []


def test_with_the_companion_off_everything_refuses_and_nothing_appears(persona: Persona, home: Path) -> None:
    off = {"PI_PERSONA_DISABLE": "1"}
    assert persona("mind", "recall", "x", **off).code == 1
    assert persona("inject", **off).code == 1
    refused = persona("tool", "memory", '{"action": "recall"}', **off)
    assert (refused.code, refused.json()["details"]["reason"]) == (1, "no_companion")
    talked = persona("chat", "--json", stdin=f"{FACT}\n", **off)
    assert [outcome["kind"] for outcome in talked.outcomes()] == ["no_model"]
    assert "Memory is off" in talked.err
    assert list(home.iterdir()) == []


def test_doctor_tells_of_plugins_hooks_lacks_models_and_paths(persona: Persona, agent_dir: Path) -> None:
    report = persona("doctor", "--json", "--host", "mcp").json()["details"]
    plugins = {plugin["name"]: plugin for plugin in report["plugins"]}
    assert plugins["persona_mind"]["state"] == "loaded"
    assert "before_agent_start" in plugins["persona_mind"]["hooks"]
    assert report["lacking"]["injection"]
    assert report["models"]["default"]["model"] is None
    assert report["paths"]["agent directory"] == {"path": str(agent_dir), "exists": False}


def test_doctor_names_a_role_that_nothing_uses(persona: Persona, agent_dir: Path) -> None:
    (agent_dir / "persona").mkdir(parents=True)
    text = json.dumps({"models": {"default": "openai:a", "flash": "openai:b"}})
    (agent_dir / "persona" / "settings.json").write_text(text)
    report = persona("doctor", "--json").json()["details"]
    assert report["models"]["flash"]["model"] == "openai:b"
    assert report["models"]["routing"]["model"] == "openai:a"


def test_one_shot_commands_share_a_session_and_another_directory_does_not(persona: Persona, tmp_path: Path) -> None:
    persona("chat", "--once", FACT)
    assert persona("mind", "off").code == 0
    assert persona("inject", "--prompt", "staging port").out == ""
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    assert "5433" in persona("inject", "--prompt", "staging port", "--cwd", str(elsewhere)).out


def test_a_session_goes_on_by_its_id(persona: Persona) -> None:
    persona("chat", "--session", "mine", "--once", "one")
    ran = persona("chat", "--session", "mine", "--once", "/tree", "--json")
    assert "you: one" in ran.of("answer")[0]["text"]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {}])
def test_no_colour_reaches_a_pipe(persona: Persona, environ: dict[str, str]) -> None:
    assert "\x1b" not in persona("mind", **environ).out


def test_lines_that_are_no_text_are_told_and_the_others_answered(persona: Persona) -> None:
    ran = persona("chat", "--json", stdin=b"caf\xe9\n/help\n")
    assert ran.code == 1
    assert [(outcome["kind"], outcome["ok"]) for outcome in ran.outcomes()] == [("error", False), ("answer", True)]


def test_incognito_leaves_nothing_behind(persona: Persona, home: Path) -> None:
    ran = persona("chat", "--incognito", "--once", "hello", "--json")
    assert ran.code == 0
    assert list(home.iterdir()) == []


def test_shell_completion_comes_from_the_registry(persona: Persona, home: Path) -> None:
    def offered(words: str, place: int) -> list[str]:
        ran = persona(_PERSONA_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(place))
        return [line.partition(",")[2] for line in ran.out.splitlines()]

    assert "recall" in offered("persona mind re", 2)
    assert "--max" in offered("persona mind recall --m", 3)
    assert "memory" in offered("persona tool mem", 2)
    assert list(home.iterdir()) == []


def test_no_file_holds_what_was_injected(persona: Persona, agent_dir: Path) -> None:
    with ModelServer(["ok"]) as server:
        settings(agent_dir, server.url)
        persona("chat", "--once", FACT)
    fence = re.search(r"persona-mind-[0-9a-f]{16}", server.requests[0].text)
    assert fence is not None
    assert fence.group().encode() not in everything(agent_dir)


def test_doctor_asks_the_plugins_own_doctors(persona: Persona, agent_dir: Path) -> None:
    (agent_dir / "persona").mkdir(parents=True)
    (agent_dir / "persona" / "settings.json").write_text('{"models": {"defualt": "openai:x"}}')
    ran = persona("doctor", "--json")
    checks = {check["verb"]: check for check in ran.json()["details"]["checks"]}
    assert set(checks) == {"mind.doctor", "persona.doctor"}
    assert "roles are unknown" in checks["persona.doctor"]["text"]
    assert ran.code == 0
