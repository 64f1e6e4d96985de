"""Shell completion: the same words that the host's prompt offers, from the registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.commands import complete
from persona_hooks.tools import tools
from persona_host.headless import agent_dir_of, headless_runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from persona_hooks.verbs import Registry


def words(environ: Mapping[str, str], given: Sequence[str], last: str) -> list[str]:
    """Return what may follow in ``persona mind GIVEN… LAST``."""
    registry = registry_of(environ)
    line = " ".join(("/mind", *given, last))
    # The registry completes whole commands; the shell wants the word at the cursor.
    place = len(given) + 1
    found = [item.split(" ")[place] if item.startswith("/") else item for item in complete(registry, line)]
    return list(dict.fromkeys(found))


def registry_of(environ: Mapping[str, str]) -> Registry:
    """Return what the plugins offer; no session is opened, and nothing is read or written."""
    home = Path.home()
    runtime = headless_runtime(agent_dir=agent_dir_of(environ, home), home=home, environ=environ)
    try:
        return runtime.registry
    finally:
        runtime.close()


def tool_names(environ: Mapping[str, str], last: str) -> list[str]:
    """Return the tools whose names begin with ``last``."""
    return [tool.name for tool in tools(registry_of(environ), "script") if tool.name.startswith(last)]
