"""``persona stdio`` and ``persona mcp``: serving other hosts, which start these themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host.commandline.options import CONTEXT, common

if TYPE_CHECKING:
    from persona_host.place import Place


@click.command(context_settings=CONTEXT)
@common
def stdio(place: Place) -> int:
    """Serve another host's extension.

    Over standard input and output; that extension starts it.
    """
    from persona_host.adapters.stdio.serve import serve_stdio  # noqa: PLC0415 - takes the standard streams over

    return serve_stdio(agent_dir=place.agent_dir, home=place.home, environ=place.environ, persona=place.persona)


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
In an MCP client's settings:
  {"command": "persona", "args": ["mcp"]}
""",
)
@common
def mcp(place: Place) -> int:
    """Serve the tools to an MCP client.

    Over standard input and output; that client starts it.
    """
    from persona_host.adapters.mcp.serve import serve_mcp  # noqa: PLC0415 - the other command has no use for it

    return serve_mcp(
        agent_dir=place.agent_dir,
        home=place.home,
        cwd=place.cwd,
        environ=place.environ,
        persona=place.persona,
        session=place.session,
    )
