"""The files of the plugin: those of the bundle, with the program that one installation runs where they say ``persona``.

The bundle itself works as it lies, with ``claude --plugin-dir``, where ``persona`` is on the path.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_hooks.commands import following
from persona_host.helping import FIRST, groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_hooks.verbs import Registry

BUNDLE: Final = Path(__file__).with_name("bundle")
HOOKS: Final = "hooks/hooks.json"
SERVER: Final = ".mcp.json"
_STATIC: Final = (".claude-plugin/plugin.json", HOOKS, SERVER)


def installation(registry: Registry, program: Sequence[str]) -> dict[str, str]:
    """Return every file of an installed plugin by its path within the folder.

    Args:
        registry: What commands there are.
        program: The words that run ``persona``, the first one an absolute path: what is on the path changes with the
            shell that Claude Code was started from.
    """
    files = {name: (BUNDLE / name).read_text(encoding="utf-8") for name in _STATIC}
    files[HOOKS] = _with_program(files[HOOKS], program)
    command, *before = program
    server = {"command": command, "args": [*before, "mcp"]}
    files[SERVER] = json.dumps({"mcpServers": {"persona-mind": server}}, indent=2) + "\n"
    return files | commands(registry)


def commands(registry: Registry) -> dict[str, str]:
    """Return the files of ``commands/``: one for each first word that a person can type."""
    return {f"commands/{group}.md": _command(registry, group) for group in groups(registry)}


def _with_program(text: str, program: Sequence[str]) -> str:
    """Return the hooks with a program in the place of ``persona``; each runs in a shell, which it replaces."""
    hooks = json.loads(text)
    for entries in hooks["hooks"].values():
        for hook in (hook for entry in entries for hook in entry["hooks"]):
            words = hook["command"].removeprefix("exec persona ")
            hook["command"] = f"exec {shlex.join(program)} {words}"
    return json.dumps(hooks, indent=2) + "\n"


def _command(registry: Registry, group: str) -> str:
    own = [verb.summary for verb in registry.shown_to("person") if verb.command == group]
    below = following((verb.command for verb in registry.shown_to("person")), (group,))
    front = {
        "description": own[0] if own else f"Commands that begin with {group}.",
        "argument-hint": f"[{' | '.join(below)}]",
        "disable-model-invocation": True,
    }
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    shell = f", and that `persona {group} $ARGUMENTS` in a shell does the same" if group == FIRST else ""
    # Claude reads this only where the hooks are off: with them, no model is called.
    rest = (
        f"The person typed `/{group} $ARGUMENTS`, a command of their memory. A hook answers such commands before they "
        f"come to you, so the hooks of this plugin are off, or failed. Say so{shell}.\n"
    )
    return "\n".join(["---", *lines, "---", "", rest])
