"""What the sweeps share: the shipped plugins' registry, and arguments for any verb, made from its schema."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_hooks.journal import JsonlJournal
from persona_hooks.tools import parameters
from persona_host.embedded.models import HostModels
from persona_host.headless import StderrUi, SystemScheduler
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from persona_hooks.verbs import AnyVerb

SHIPPED = frozenset({"persona_companion", "persona_mind"})
SESSION = "sweep"


def shipped(*names: str) -> Found:
    """Return the shipped plugins, or those of these names."""
    return [found for found in entry_points() if found[0] in (names or SHIPPED)]


def opened(home: Path, environ: Mapping[str, str] | None = None, plugins: Callable[[], Found] = shipped) -> Runtime:
    """Return a runtime with a session open in a project below ``home``'s neighbour, logged to a file."""
    agent_dir = home / ".pi" / "agent"
    cwd = home.parent / "project"
    cwd.mkdir(exist_ok=True)
    variables = {"HOME": str(home), **(environ or {})}
    setup = Setup("sweep", agent_dir, home, variables, plugins=plugins)
    runtime = Runtime.start(setup, ui=StderrUi(), models=HostModels(variables), scheduler=SystemScheduler())
    journal = JsonlJournal(agent_dir / "persona-host" / "sessions" / "sweep.jsonl", SESSION, cwd)
    runtime.open(journal, session_id=SESSION, cwd=cwd)
    return runtime


@cache
def verbs() -> tuple[AnyVerb, ...]:
    """Return every verb of the shipped plugins, for parametrising: nothing is written and no session is opened."""
    home = Path("/nonexistent")
    setup = Setup("sweep", home / "agent", home, {}, plugins=shipped)
    runtime = Runtime.start(setup, ui=StderrUi(), models=HostModels({}), scheduler=SystemScheduler())
    found = tuple(runtime.registry)
    runtime.close()
    return found


def plausible(verb: AnyVerb) -> dict[str, Any]:
    """Return arguments that the verb's schema accepts: its required parameters."""
    schema = parameters(verb.params)
    return {name: _value(schema["properties"][name]) for name in schema.get("required", ())}


def strings(verb: AnyVerb) -> Iterator[tuple[str, str, Callable[[str], Any]]]:
    """Yield each place in a verb's parameters that a text can be put into, however deep it lies.

    Each comes as the place's name, the parameter's name, and what makes the parameter's value of a text.
    """
    for name, schema in parameters(verb.params)["properties"].items():
        for suffix, put in _places(schema):
            yield f"{name}{suffix}", name, put


def _places(schema: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[str], Any]]]:
    for branch in schema.get("anyOf", [schema]):
        kind = branch.get("type")
        if kind == "string":
            yield "", str
        for suffix, put in _places(branch["items"]) if kind == "array" and "items" in branch else ():
            yield f"[]{suffix}", partial(_listed, put)
        for name, inner in branch.get("properties", {}).items():
            others = {other: _value(branch["properties"][other]) for other in branch.get("required", ())}
            for suffix, put in _places(inner):
                yield f".{name}{suffix}", partial(_named, others, name, put)
        values = branch.get("additionalProperties")
        if isinstance(values, dict):
            yield "{key}", partial(_keyed, _value(values))
            for suffix, put in _places(values):
                yield f"{{}}{suffix}", partial(_named, {}, "alpha", put)


def _listed(put: Callable[[str], Any], text: str) -> list[Any]:
    return [put(text)]


def _named(others: Mapping[str, Any], name: str, put: Callable[[str], Any], text: str) -> dict[str, Any]:
    return {**others, name: put(text)}


def _keyed(value: object, text: str) -> dict[str, object]:
    return {text: value}


def _value(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    branch = schema["anyOf"][0] if "anyOf" in schema else schema
    if "enum" in branch or "const" in branch:
        return branch.get("enum", [branch.get("const")])[0]
    kinds = {"string": "alpha", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return kinds[branch["type"]]
