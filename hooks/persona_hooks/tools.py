"""Model tools: one a prefix, whose ``action`` names the verb. A projection of the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.verbs import AnyVerb, Audience, Params, Registry

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model or an MCP client sees it.

    Attributes:
        name: The verbs' common prefix.
        description: What it is for, then one line an action.
        parameters: A JSON Schema object: ``action`` and the union of its verbs' parameters.
        read_only: True where no action changes anything.
    """

    name: str
    description: str
    parameters: Schema
    read_only: bool


def tools(registry: Registry, audience: Audience) -> list[Tool]:
    """Return the tools offered to ``audience``, in order of their names."""
    groups: dict[str, list[AnyVerb]] = {}
    for verb in registry.shown_to(audience):
        groups.setdefault(verb.prefix, []).append(verb)
    return [_tool(prefix, verbs, registry.guidance(prefix)) for prefix, verbs in groups.items()]


def verb_of(
    registry: Registry, tool: str, arguments: Mapping[str, Any], audience: Audience
) -> tuple[str, dict[str, Any]]:
    """Return the verb's name and its own arguments for a call of ``tool``.

    Raises:
        NotFoundError: No such tool is offered.
        InvalidError: ``action`` is missing or not one of the tool's; the message lists the actions.
    """
    verbs = [verb for verb in registry.shown_to(audience) if verb.prefix == tool]
    if not verbs:
        known = ", ".join(item.name for item in tools(registry, audience)) or "none"
        raise NotFoundError(f"There is no tool of that name. Known here: {known}.", reason="unknown_tool")
    rest = dict(arguments)
    action = rest.pop("action", None)
    actions = [verb.action for verb in verbs]
    if not isinstance(action, str) or action not in actions:
        raise InvalidError(f"{tool}: action must be one of {', '.join(actions)}.", field="action")
    return f"{tool}.{action}", rest


def _tool(prefix: str, verbs: list[AnyVerb], guidance: str) -> Tool:
    lines = [f"- {verb.action}: {verb.summary}{_needs(verb)}" for verb in verbs]
    description = "\n".join([*([guidance] if guidance else []), "Actions:", *lines])
    properties: Schema = {
        "action": {"type": "string", "enum": [verb.action for verb in verbs], "description": "What to do."}
    }
    users: dict[str, list[str]] = {}
    for verb in verbs:
        for name, schema in parameters(verb.params)["properties"].items():
            users.setdefault(name, []).append(verb.action)
            properties[name] = _merged(properties[name], schema) if name in properties else dict(schema)
    for name, actions in users.items():
        if len(actions) < len(verbs):
            note = f"({', '.join(actions)}) {properties[name].get('description', '')}".rstrip()
            properties[name]["description"] = note
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["action"],
        "additionalProperties": False,
    }
    return Tool(prefix, description, schema, read_only=all(verb.effect == "read" for verb in verbs))


def _needs(verb: AnyVerb) -> str:
    required = parameters(verb.params).get("required", [])
    return f" Needs {', '.join(required)}." if required else ""


_SCHEMAS: dict[type[Params], Schema] = {}


def parameters(params: type[Params]) -> Schema:
    """Return the JSON Schema of one verb's parameters, inlined and without titles; made once, so not to be changed."""
    if params not in _SCHEMAS:
        _SCHEMAS[params] = _schema(params)
    return _SCHEMAS[params]


def _schema(params: type[Params]) -> Schema:
    schema = params.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    inlined: Schema = _plain(schema, definitions)
    inlined.setdefault("properties", {})
    return inlined


def _plain(node: Any, definitions: Schema) -> Any:  # noqa: ANN401 - JSON
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        return _plain({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    names = set(node["properties"]) if isinstance(node.get("properties"), dict) else None
    plain = {key: _plain(value, definitions) for key, value in node.items() if key != "title" or names is None}
    if names is not None:
        plain["properties"] = {
            name: {k: v for k, v in _optional(value).items() if k != "title"}
            for name, value in plain["properties"].items()
        }
    return plain


def _optional(schema: Schema) -> Schema:
    """Return an optional parameter's schema without its null branch: leaving it out is how a model says none."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    return {**branches[0], **rest}


def _merged(first: Schema, second: Schema) -> Schema:
    """Return the schema of a parameter that two verbs share: the same, or either of both."""
    same = {k: v for k, v in first.items() if k != "description"} == {
        k: v for k, v in second.items() if k != "description"
    }
    if same:
        return first
    branches = [
        {k: v for k, v in branch.items() if k not in {"description", "default"}}
        for schema in (first, second)
        for branch in schema.get("anyOf", [schema])
    ]
    unique = [branch for i, branch in enumerate(branches) if branch not in branches[:i]]
    return {"anyOf": unique, "description": first.get("description") or second.get("description", "")}
