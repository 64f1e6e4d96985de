"""The reference and the manifest: what every door offers, generated from the registry.

The manifest is what a foreign host registers before our process runs; its hash is compared at the first message, so
that an old manifest beside a new release is noticed instead of guessed at.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from persona_hooks.commands import usage
from persona_hooks.tools import parameters, tools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_hooks.verbs import AnyVerb, Registry


def manifest(registry: Registry, renders: Iterable[str] = ()) -> dict[str, Any]:
    """Return what a foreign host registers, as JSON values, with their hash.

    Args:
        registry: The verbs that tools and commands are made of.
        renders: The types of session-log entries that have a card; a host that draws them must know before it draws.
    """
    body: dict[str, Any] = {
        "version": 1,
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools(registry, "model")
        ],
        "commands": [{"name": root, "description": text} for root, text in sorted(_roots(registry).items())],
        "renders": sorted(renders),
    }
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return {**body, "hash": hashlib.sha256(canonical.encode()).hexdigest()}


def markdown(registry: Registry) -> str:
    """Return the command reference: every verb with its doors, effect, form and parameters."""
    parts = [
        "# Commands and tools",
        "",
        "Generated from the verb registry by `make docs`; do not edit by hand.",
        "",
    ]
    for verb in registry:
        parts += _section(verb)
    return "\n".join(parts).rstrip() + "\n"


def _roots(registry: Registry) -> dict[str, str]:
    roots: dict[str, str] = {}
    for verb in registry:
        head, _, rest = verb.command.partition(" ")
        if head and (not rest or head not in roots):
            roots[head] = verb.summary
    return roots


def _section(verb: AnyVerb) -> list[str]:
    lines = [f"## `{verb.name}`", "", verb.summary, ""]
    if verb.command:
        lines.append(f"- Command: `{usage(verb)}`")
    if verb.shown_to & {"model", "mcp"}:
        lines.append(f"- Tool: `{verb.prefix}` with `action: {verb.action}`")
    lines += [f"- Effect: {verb.effect}", f"- Offered to: {', '.join(sorted(verb.shown_to))}", ""]
    schema = parameters(verb.params)
    if schema["properties"]:
        required = set(schema.get("required", ()))
        lines += ["| parameter | type | required | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | {_cell(_type(item))} | {'yes' if name in required else 'no'} | "
            f"{_cell(item.get('description', ''))} |"
            for name, item in schema["properties"].items()
        ]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(branch) for branch in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    text = str(schema.get("type", "any"))
    if text == "array":
        text = f"list of {_type(schema.get('items', {}))}"
    limits = {
        "minLength": "≥ {} characters",
        "maxLength": "≤ {} characters",
        "minimum": "≥ {}",
        "exclusiveMinimum": "> {}",
        "maximum": "≤ {}",
        "exclusiveMaximum": "< {}",
        "minItems": "≥ {} items",
        "maxItems": "≤ {} items",
    }
    notes = [form.format(schema[key]) for key, form in limits.items() if key in schema]
    return f"{text} ({', '.join(notes)})" if notes else text
