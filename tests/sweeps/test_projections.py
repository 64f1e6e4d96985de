"""Every verb stands at every door it is shown to, and in the reference."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.commands import complete, parse_line, usage
from persona_hooks.reference import manifest, markdown
from persona_hooks.tools import parameters, tools, verb_of
from persona_hooks.verbs import Registry, validate
from tests.support.sweeping import plausible, verbs

if TYPE_CHECKING:
    from persona_hooks.verbs import AnyVerb

every_verb = pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.add(*verbs())
    return registry


def test_the_shipped_plugins_have_verbs() -> None:
    assert {verb.prefix for verb in verbs()} >= {"memory", "mind", "persona"}


@every_verb
def test_a_tool_offers_the_verb_with_all_its_parameters(registry: Registry, verb: AnyVerb) -> None:
    for audience in ("model", "script", "mcp"):
        offered = {tool.name: tool for tool in tools(registry, audience)}  # type: ignore[arg-type]
        if audience not in verb.shown_to:
            actions = offered[verb.prefix].parameters["properties"]["action"]["enum"] if verb.prefix in offered else ()
            assert verb.action not in actions
            continue
        schema = offered[verb.prefix].parameters
        assert verb.action in schema["properties"]["action"]["enum"]
        assert set(parameters(verb.params)["properties"]) <= set(schema["properties"])
        assert verb.summary in offered[verb.prefix].description


@every_verb
def test_a_tool_call_names_the_verb(registry: Registry, verb: AnyVerb) -> None:
    arguments = plausible(verb)
    found = verb_of(registry, verb.prefix, {"action": verb.action, **arguments}, "script")
    assert found == (verb.name, arguments)


@every_verb
def test_plausible_arguments_are_accepted(verb: AnyVerb) -> None:
    validate(verb, plausible(verb))


@every_verb
def test_a_command_is_typed_completed_and_explained(registry: Registry, verb: AnyVerb) -> None:
    assert parse_line(registry, f"/{verb.command}").verb is verb
    assert f"/{verb.command}" in complete(registry, f"/{verb.command[:-1]}")
    assert usage(verb).startswith(f"/{verb.command}")


@every_verb
def test_the_manifest_of_a_foreign_host_has_its_tool_and_command(registry: Registry, verb: AnyVerb) -> None:
    body = manifest(registry)
    if "model" in verb.shown_to:
        assert verb.prefix in {tool["name"] for tool in body["tools"]}
    assert verb.command.split()[0] in {command["name"] for command in body["commands"]}


@every_verb
def test_the_reference_describes_it_and_every_parameter(registry: Registry, verb: AnyVerb) -> None:
    section = re.split(r"^## ", markdown(registry), flags=re.MULTILINE)
    [own] = [text for text in section if text.startswith(f"`{verb.name}`")]
    assert verb.summary in own
    assert f"`{usage(verb)}`" in own
    for name, schema in parameters(verb.params)["properties"].items():
        assert f"| `{name}` |" in own
        assert schema.get("description"), f"{verb.name}: {name} has no description"


def test_the_reference_that_is_shipped_is_the_registrys() -> None:
    registry = Registry()
    registry.add(*verbs())
    shipped = Path(__file__).parents[2] / "docs" / "commands.md"
    assert shipped.read_text(encoding="utf-8") == markdown(registry)
