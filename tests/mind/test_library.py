from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import persona_mind
from persona_companion.names import canonical, check
from persona_hooks.errors import InvalidError, NotFoundError, RefusedError
from persona_hooks.tools import tools

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind

HEAVY = {
    "asyncio",
    "filelock",
    "mcp",
    "numpy",
    "portalocker",
    "prompt_toolkit",
    "pydantic_ai",
    "rich",
    "ruamel.yaml",
    "Stemmer",
    "typer",
}


def loaded_by(statement: str, environ: dict[str, str]) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_library_loads_next_to_nothing(environ: dict[str, str]) -> None:
    assert not loaded_by("import persona_mind", environ) & (HEAVY | {"pydantic", "pluggy"})


def test_importing_the_plugin_loads_nothing_heavy(environ: dict[str, str]) -> None:
    assert not loaded_by("import persona_mind.plugin", environ) & HEAVY


def test_a_message_without_a_cue_loads_nothing_heavy(environ: dict[str, str], agent_dir: Path) -> None:
    statement = f"import persona_mind; persona_mind.open({str(agent_dir)!r}).hear('How do I restart it?')"
    loaded = loaded_by(statement, environ)
    assert not loaded & HEAVY
    assert "persona_store.admission" not in loaded
    assert not agent_dir.exists()


def test_opening_and_looking_create_nothing(agent_dir: Path, home: Path) -> None:
    with persona_mind.open(agent_dir, cwd=home, home=home) as mind:
        assert mind.recall("x").known == 0
        assert mind.snapshot().long == 0
        mind.inject("x")
        mind.settle()
    assert not agent_dir.exists()


def test_what_is_remembered_is_there_when_it_is_opened_again(agent_dir: Path, home: Path) -> None:
    with persona_mind.open(agent_dir, cwd=home, home=home, persona="Ann") as mind:
        mind.remember("use tabs")
    with persona_mind.open(agent_dir, cwd=home, home=home, persona="Ann") as mind:
        assert mind.recall("tabs").count == 1
    with persona_mind.open(agent_dir, cwd=home, home=home, persona="Bob") as mind:
        assert mind.recall("tabs").count == 0


def test_a_refusal_is_raised_by_a_method_and_answered_by_a_call(mind: Mind) -> None:
    with pytest.raises(NotFoundError):
        mind.read("000000000000")
    answer = mind.call("memory.read", {"id": "000000000000"})
    assert (answer.ok, answer.details["reason"]) == (False, "not_found")


def test_an_unknown_option_is_refused_with_the_known_ones(mind: Mind) -> None:
    with pytest.raises(InvalidError) as caught:
        mind.remember("use tabs", colour="red")
    assert "ttlHours" in str(caught.value)


def test_what_is_heard_is_captured(mind: Mind) -> None:
    mind.hear("Remember that the port is 5433.")
    assert mind.recall("port").count == 1


def test_the_environment_is_honoured_where_it_is_given(agent_dir: Path, home: Path) -> None:
    off = {"PI_PERSONA_MIND_CAPTURE": "off"}
    with persona_mind.open(agent_dir, cwd=home, home=home, environ=off) as mind:
        mind.hear("Remember that the port is 5433.")
    assert not agent_dir.exists()


def test_models_are_offered_one_tool_with_every_action_and_when_to_use_it(mind: Mind) -> None:
    tool = {tool.name: tool for tool in tools(mind.registry, "model")}["memory"]
    assert tool.parameters["properties"]["action"]["enum"] == ["forget", "promote", "read", "recall", "remember"]
    assert all(schema.get("description") for schema in tool.parameters["properties"].values())
    assert "once, before the final answer" in tool.description


def test_a_model_may_use_the_older_parameter_names(mind: Mind) -> None:
    saved = mind.call(
        "memory.remember",
        {"term": "long", "kind": "note", "text": "use tabs", "shared": True},
        origin="model",
        audience="model",
    )
    assert (saved.ok, saved.details["scope"]) == (True, "shared")
    assert mind.call("memory.recall", {"scope": "long", "max": 3}, audience="model").details["max"] == 3


def test_a_person_sees_what_was_saved_and_how_to_take_it_back(mind: Mind) -> None:
    answer = mind.call("memory.remember", {"text": "the zebra crosses at noon"}, audience="person")
    assert "(note) the zebra crosses at noon" in answer.text
    assert f"/mind forget {answer.details['id']}" in answer.text


def test_a_model_s_receipt_names_the_id_and_carries_no_text(mind: Mind) -> None:
    answer = mind.call("memory.remember", {"text": "the zebra crosses at noon"}, origin="model", audience="model")
    assert answer.details["id"] in answer.text
    assert "zebra" not in answer.text + str(answer.details)


@pytest.mark.parametrize("cwd", ["a\0b", "/work/\ud800", "/a" * 20_000])
def test_a_working_directory_that_cannot_be_one_is_refused_by_name(agent_dir: Path, cwd: str) -> None:
    with pytest.raises(InvalidError) as caught:
        persona_mind.open(agent_dir, cwd=cwd)
    assert caught.value.details["field"] == "cwd"


@pytest.mark.parametrize(
    "name",
    [
        "none",
        "None",
        "_shared",
        "_default",
        "con",
        "NUL.txt",
        "",
        " ",
        "A\x1b[31m",
        "A\nB",
        "A\u200b",
        "\u0410nn",
        "x" * 129,
    ],
)
def test_the_library_refuses_the_names_that_the_companion_refuses(agent_dir: Path, name: str) -> None:
    with pytest.raises(RefusedError):
        check(canonical(name))
    with pytest.raises(RefusedError):
        persona_mind.open(agent_dir, persona=name)
    assert not agent_dir.exists()


def test_an_origin_or_an_audience_that_is_none_is_refused(mind: Mind) -> None:
    with pytest.raises(InvalidError) as caught:
        mind.remember("The port is 5433.", origin="boss")  # type: ignore[arg-type]
    assert caught.value.details["field"] == "origin"
    hidden = [verb for verb in mind.registry if "mcp" not in verb.shown_to]
    assert hidden
    for verb in hidden:
        assert mind.call(verb.name, audience="mcp").details["reason"] == "unknown_verb"
