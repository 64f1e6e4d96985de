"""The hosts that this release knows, what each of them can do, and what it costs where one cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.ports import Capabilities
from persona_hooks.speech import marked
from persona_host.adapters.claude_code.conversation import CAPABILITIES as CLAUDE_CODE
from persona_host.adapters.mcp.serve import CAPABILITIES as MCP
from persona_host.oneshot import CAPABILITIES as COMMAND_LINE

if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS: Final[Mapping[str, Capabilities]] = {
    "command-line": COMMAND_LINE,
    "embedded": Capabilities(),
    "pi": Capabilities(),
    "claude-code": CLAUDE_CODE,
    "mcp": MCP,
}
COSTS: Final[Mapping[str, str]] = {
    "journal": marked("cards and notes are not kept with the conversation"),
    "branches": marked("notes cannot follow a branch of the conversation"),
    "ui": marked("cards and notices are not shown as they come"),
    "models": marked("no extraction and no automatic review"),
    "tools": marked("the model cannot save or look up memory by itself"),
    "injection": marked("memory reaches the model only when it asks for it"),
    "scheduler": marked("wakes and reviews wait for the next command"),
    "input": marked("what you ask to be remembered is kept only where the model calls the tool"),
    "commands": marked("commands are typed in a shell: `persona mind …`"),
}


def lacking(host: str) -> dict[str, str]:
    """Return what a host lacks, each with what it costs."""
    return {name: COSTS[name] for name, there in HOSTS[host]._asdict().items() if not there}


def table() -> str:
    """Return the same for all hosts as a Markdown table."""
    head = ["", *HOSTS]
    rows = [
        [f"`{name}`", *("yes" if getattr(has, name) else f"no: {cost}" for has in HOSTS.values())]
        for name, cost in COSTS.items()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)) + "\n"
