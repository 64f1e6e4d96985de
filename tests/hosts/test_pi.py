"""Memory in real Pi 1.6 under Node 22: what its model is sent, what its session file keeps, what a person sees."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.model_server import ModelServer, Reply, ToolCall
from tests.support.pi import configure_model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_server import Request
    from tests.support.pi_home import PiHome

FACT = "The staging database listens on port 5433."
QUESTION = "Which port does the staging database use?"


def spoken(request: Request) -> str:
    """Return the last words of the person's, with what stands before them."""
    return request.of("user")[-1]


def memory_files(home: PiHome) -> list[Path]:
    return [path for path in (home.agent_dir / "persona-mind").rglob("*") if path.is_file()]


def test_the_request_holds_what_another_process_saved_and_the_session_file_does_not(
    memory_home: PiHome, model: ModelServer
) -> None:
    memory_home.remember(FACT)
    with memory_home.start() as pi:
        pi.say(QUESTION)
    assert FACT in spoken(model.requests[0])
    assert spoken(model.requests[0]).endswith(QUESTION)
    written = memory_home.session_text()
    assert QUESTION in written
    assert "5433" not in written
    assert "persona-mind" not in written


def test_a_fact_saved_between_two_turns_is_in_the_second_request(memory_home: PiHome, model: ModelServer) -> None:
    with memory_home.start() as pi:
        pi.say(QUESTION)
        memory_home.remember(FACT)
        pi.say(QUESTION)
    assert [FACT in spoken(request) for request in model.requests] == [False, True]


def test_a_tool_call_saves_a_fact_and_its_result_reaches_the_model(memory_home: PiHome) -> None:
    call = ToolCall("memory", {"action": "remember", "kind": "note", "text": FACT})
    with ModelServer([Reply(calls=(call,)), "Noted."]) as model:
        configure_model(memory_home.agent_dir, model.url)
        with memory_home.start() as pi:
            pi.say("Please keep the port of staging in mind.")
        (result,) = model.requests[1].of("tool")
    assert "Saved" in result
    assert FACT in memory_home.persona("inject", "--prompt", QUESTION)


def test_mind_and_persona_are_answered_without_a_model(memory_home: PiHome, model: ModelServer) -> None:
    memory_home.remember(FACT)
    with memory_home.start() as pi:
        assert pi.say("/mind") == "handled"
        assert "5433" in pi.notices()[-1]
        assert pi.say("/mind recall port") == "handled"
        assert pi.say("/persona") == "handled"
        assert len(pi.notices()) == 3
    assert model.requests == []


def test_a_strong_cue_is_captured_with_a_card_and_recalled_in_the_next_session(
    memory_home: PiHome, model: ModelServer
) -> None:
    with memory_home.start() as pi:
        pi.say(f"Remember that {FACT[0].lower()}{FACT[1:]}")
        pi.wait_for(pi.notices)
        assert any("5433" in notice for notice in pi.notices())
    with memory_home.start() as pi:
        pi.say(QUESTION)
    assert "5433" in spoken(model.requests[-1])
    entries = [json.loads(line) for line in memory_home.session_text().splitlines() if line]
    cards = [entry for entry in entries if entry["type"] == "custom"]
    assert cards
    assert "5433" not in json.dumps(cards)


def test_what_is_forgotten_by_command_is_gone_from_the_next_request(memory_home: PiHome, model: ModelServer) -> None:
    fact = memory_home.remember(FACT)
    with memory_home.start() as pi:
        pi.say(QUESTION)
        pi.say(f"/mind forget {fact}")
        pi.say(QUESTION)
    assert [FACT in spoken(request) for request in model.requests] == [True, False]


def test_the_persona_is_chosen_by_flag_and_changed_by_command(memory_home: PiHome, model: ModelServer) -> None:
    folder = memory_home.agent_dir / "persona" / "personas"
    folder.mkdir(parents=True)
    for name in ("ada", "bob"):
        text = f"---\nname: {name}\npersona: true\ndescription: tests\n---\nYou are {name}.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    memory_home.remember("Ada keeps the orchid watered.", "--persona", "ada")
    with memory_home.start("--persona", "ada") as pi:
        pi.say("Who keeps the orchid?")
        pi.say("/persona use bob")
        pi.say("Who keeps the orchid?")
    first, second = (spoken(request) for request in model.requests)
    assert ("Ada keeps" in first, "You are ada." in first) == (True, True)
    assert ("Ada keeps" in second, "You are bob." in second) == (False, True)


def test_each_persona_finds_its_own_past_conversations_only(memory_home: PiHome) -> None:
    home = replace(memory_home, sessions=memory_home.agent_dir / "sessions" / "here")
    folder = home.agent_dir / "persona" / "personas"
    folder.mkdir(parents=True)
    for name in ("ada", "bob"):
        text = f"---\nname: {name}\npersona: true\ndescription: tests\n---\nYou are {name}.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with home.start("--persona", "ada") as pi:
        pi.say("The orchid gets water on Mondays.")
        pi.say("/persona use bob")
        pi.say("The orchid gets light on Fridays.")
    found = {name: home.persona("mind", "recall", "--sessions", "orchid", "--persona", name) for name in ("ada", "bob")}
    assert {name: ("Mondays" in text, "Fridays" in text) for name, text in found.items()} == {
        "ada": (True, False),
        "bob": (False, True),
    }


def test_a_delegated_leg_has_no_memory_tools(memory_home: PiHome, model: ModelServer) -> None:
    with memory_home.start(PI_PERSONA_LEG="1") as pi:
        pi.say("hello")
    with memory_home.start() as pi:
        pi.say("hello")
    assert ["memory" in request.tools for request in model.requests] == [False, True]


def test_with_the_companion_off_nothing_is_offered_and_no_file_appears(memory_home: PiHome, model: ModelServer) -> None:
    with memory_home.start(PI_PERSONA_DISABLE="1") as pi:
        pi.say(f"Remember that {FACT}")
        assert model.requests[0].of("user") == [f"Remember that {FACT}"]
        assert "memory" not in model.requests[0].tools
        pi.say("/mind recall port")
        assert "no companion" in pi.notices()[-1]
    assert memory_files(memory_home) == []


def test_memory_in_a_session_that_is_not_kept_leaves_no_session_file(memory_home: PiHome, model: ModelServer) -> None:
    memory_home.remember(FACT)
    with memory_home.start("--no-session") as pi:
        pi.say(QUESTION)
    assert FACT in spoken(model.requests[0])
    assert memory_home.session_text() == ""
