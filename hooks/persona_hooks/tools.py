"""Model tools: one a prefix, whose ``action`` names the verb. A projection of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.ports import Session
    from persona_hooks.verbs import AnyVerb, Audience, Params, Registry

Schema = dict[str, Any]

# Where JSON Schema holds further schemas; everything else is a value and is left as it is.
_NAMED = frozenset({"properties", "patternProperties"})
_LISTED = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})
_NESTED = frozenset({"items", "additionalProperties", "contains", "not"})


class Tool(NamedTuple):
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


def tools(registry: Registry, audience: Audience, session: Session | None = None) -> list[Tool]:
    """Return the tools offered to ``audience``, in order of their names; with ``session``, those of that session."""
    groups: dict[str, list[AnyVerb]] = {}
    for verb in registry.shown_to(audience):
        if session is None or verb.offered(session):
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
        known = ", ".join(item.name for item in tools(registry, audience)) or phrase("none")
        raise NotFoundError(
            phrase("There is no tool of that name. Known here: {known}.", known=known), reason="unknown_tool"
        )
    rest = dict(arguments)
    action = rest.pop("action", None)
    chosen = next((verb for verb in verbs if verb.action == action), None)
    if chosen is None:
        actions = ", ".join(verb.action for verb in verbs)
        raise InvalidError(
            phrase("{tool}: action must be one of {actions}.", tool=tool, actions=actions), field="action"
        )
    required = parameters(chosen.params).get("required", [])
    # Some models spell out every parameter of the tool; a null says the same as leaving it out.
    return chosen.name, {name: value for name, value in rest.items() if value is not None or name in required}


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
    inlined = _inlined(schema, schema.pop("$defs", {}))
    required = inlined.get("required", [])
    properties = inlined.setdefault("properties", {})
    for name, value in properties.items():
        if name not in required:
            properties[name] = _without_null(value)
    return inlined


def _inlined(node: Schema, definitions: Schema) -> Schema:
    """Return a schema with its references in place and without the titles that repeat the names."""
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        return _inlined({**target, **{key: value for key, value in node.items() if key != "$ref"}}, definitions)
    plain: Schema = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            plain[key] = {name: _inlined(item, definitions) for name, item in value.items()}
        elif key in _LISTED and isinstance(value, list):
            plain[key] = [_inlined(item, definitions) for item in value]
        elif key in _NESTED and isinstance(value, dict):
            plain[key] = _inlined(value, definitions)
        elif key != "title":
            plain[key] = value
    return plain


def _without_null(schema: Schema) -> Schema:
    """Return an optional parameter's schema without its null branch: leaving it out is how a model says none."""
    if "anyOf" not in schema:
        return schema
    branches = [branch for branch in schema["anyOf"] if branch.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key != "anyOf" and not (key == "default" and value is None)}
    return {**_either(branches), **rest}


def _either(branches: list[Schema]) -> Schema:
    unique = [branch for index, branch in enumerate(branches) if branch not in branches[:index]]
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def _merged(first: Schema, second: Schema) -> Schema:
    """Return the schema of a parameter that two verbs share: the same, or either of both."""
    branches = [
        {key: value for key, value in branch.items() if key not in {"description", "default"}}
        for schema in (first, second)
        for branch in schema.get("anyOf", [schema])
    ]
    either = _either(branches)
    description = first.get("description") or second.get("description")
    if "default" in first and first["default"] == second.get("default"):
        either = {**either, "default": first["default"]}
    return {**either, "description": description} if description else dict(either)
