"""What models, MCP clients and readers of the reference see is exactly what the verbs take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.reference import manifest, markdown
from persona_hooks.tools import parameters, tools, verb_of
from persona_hooks.verbs import AnyVerb, Registry, validate
from tests.hooks.sample import registry, verb

REGISTRY = registry()
TOOLS = {tool.name: tool for tool in tools(REGISTRY, "model")}
VALUES: list[Any] = [
    "", "x", "both", "long", "shared", "attic", "red", "y" * 401, 0, 1, 5, 20, 21, 99, 100, -1, 0.5, 1.5, True, False,
    None, [], ["a"], ["a", 1], [""], ["a", "b", "c", "d", "e"], ["z" * 9], {}, {"title": "t"}, {"title": 1},
    {"properties": 2}, {"other": 1}, {"a": 1, "b": 2},
]  # fmt: skip


def names() -> list[str]:
    found = {name for verb in REGISTRY for name in parameters(verb.params)["properties"]}
    return sorted({*found, "unknown"})


ARGUMENTS = st.dictionaries(st.sampled_from(names()), st.sampled_from(VALUES), max_size=4)


def taken(verb: AnyVerb, arguments: dict[str, Any]) -> bool:
    try:
        validate(verb, arguments)
    except InvalidError:
        return False
    return True


@pytest.mark.parametrize("verb", list(REGISTRY), ids=lambda verb: verb.name)
@settings(max_examples=300)
@given(arguments=ARGUMENTS, data=st.data())
def test_a_verbs_schema_and_its_parameters_agree(verb: AnyVerb, arguments: dict[str, Any], data: st.DataObject) -> None:
    own = parameters(verb.params)["properties"]
    if own:
        fitting = st.dictionaries(st.sampled_from(sorted(own)), st.sampled_from(VALUES), max_size=4)
        arguments = data.draw(fitting | st.just(arguments))
    arguments = {name: value for name, value in arguments.items() if value is not None}
    assert Draft202012Validator(parameters(verb.params)).is_valid(arguments) == taken(verb, arguments)


@settings(max_examples=500)
@given(verb=st.sampled_from(list(REGISTRY)), arguments=ARGUMENTS)
def test_a_tool_call_that_a_verb_takes_fits_the_tools_schema(verb: AnyVerb, arguments: dict[str, Any]) -> None:
    offered = {"action": verb.action, **{name: value for name, value in arguments.items() if value is not None}}
    name, rest = verb_of(REGISTRY, verb.prefix, {"action": verb.action, **arguments}, "model")
    assert name == verb.name
    if taken(verb, rest):
        Draft202012Validator(TOOLS[verb.prefix].parameters).validate(offered)


@pytest.mark.parametrize("tool", list(TOOLS.values()), ids=lambda tool: tool.name)
def test_a_tools_schema_is_plain_json_schema(tool: Any) -> None:  # noqa: ANN401 - a Tool
    Draft202012Validator.check_schema(tool.parameters)
    text = json.dumps(tool.parameters)
    assert "$ref" not in text
    assert "$defs" not in text
    assert '"null"' not in text
    assert tool.parameters["required"] == ["action"]
    assert tool.parameters["additionalProperties"] is False


def test_a_tool_says_what_each_action_is_for_and_needs() -> None:
    verbs = registry()
    verbs.guide("note", "Use it for notes.")
    tool = next(item for item in tools(verbs, "model") if item.name == "note")
    assert tool.description.startswith("Use it for notes.\nActions:\n- forget: Take something away. Needs ids.\n")
    properties = tool.parameters["properties"]
    assert properties["action"]["enum"] == ["forget", "move", "off", "recall", "remember", "status"]
    assert properties["query"]["description"] == "(recall) Words | to look for."
    assert properties["limit"]["anyOf"] == [{"type": "integer", "minimum": 1, "maximum": 20}, {"type": "integer"}]
    assert "inner" in properties
    assert properties["inner"]["properties"]["title"]["type"] == "string"
    assert properties["inner"]["properties"]["properties"]["type"] == "integer"
    assert properties["colour"]["enum"] == ["red", "green"]
    assert set(properties["scope"]["anyOf"][0]["enum"]) == {"long", "short", "both"}


def test_tools_are_read_only_where_every_action_is() -> None:
    verbs = Registry()
    verbs.add(verb("a.b"), verb("c.d"))
    assert [tool.read_only for tool in tools(verbs, "mcp")] == [True, True]


def test_nulls_say_the_same_as_leaving_out() -> None:
    arguments = {"action": "recall", "query": "x", "text": None, "limit": None}
    assert verb_of(REGISTRY, "note", arguments, "model") == ("note.recall", {"query": "x"})


def test_a_field_of_another_action_is_refused() -> None:
    name, rest = verb_of(REGISTRY, "note", {"action": "recall", "query": "x", "text": "y"}, "model")
    with pytest.raises(InvalidError):
        validate(REGISTRY.get(name), rest)


@pytest.mark.parametrize("action", [None, "", "hunter2", 3, ["recall"], {"recall": 1}, "note.recall"])
def test_an_unknown_action_is_answered_with_the_known_ones(action: object) -> None:
    for arguments in ({"action": action}, {}):
        with pytest.raises(InvalidError, match="forget, move, off, recall, remember, status") as refusal:
            verb_of(REGISTRY, "note", arguments, "model")
        assert "hunter2" not in str(refusal.value)


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="lamp, note"):
        verb_of(REGISTRY, "hunter2", {"action": "x"}, "model")


def test_the_manifest_is_plain_and_its_hash_follows_what_it_holds() -> None:
    first, again = manifest(REGISTRY), manifest(registry())
    assert json.loads(json.dumps(first)) == first == again
    assert [command["name"] for command in first["commands"]] == ["lamp", "note"]
    changed = registry()
    changed.guide("note", "Other words.")
    assert manifest(changed)["hash"] != first["hash"]


def test_the_reference_shows_every_verb_with_every_parameter() -> None:
    text = markdown(REGISTRY)
    for item in REGISTRY:
        section = text.partition(f"## `{item.name}`\n")[2].partition("\n## ")[0]
        assert item.summary in section
        assert f"- Effect: {item.effect}" in section
        assert f"`/{item.command}" in section
        for name in parameters(item.params)["properties"]:
            assert f"| `{name}` |" in section


def test_no_cell_of_the_reference_breaks_its_table() -> None:
    rows = [line for line in markdown(REGISTRY).splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
    assert "Words \\| to look for." in "\n".join(rows)
    assert "≤ 200 characters" in "\n".join(rows)
