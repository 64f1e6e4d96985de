"""``persona stdio`` and ``persona mcp``: serving other hosts, which start these themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host.commandline.options import CONTEXT, common
from persona_host.loading import entry_points

if TYPE_CHECKING:
    from persona_host.adapters.mcp.serve import Beside
    from persona_host.place import Place


@click.command(context_settings=CONTEXT)
@common
def stdio(place: Place) -> int:
    """Serve another host's extension.

    Over standard input and output; that extension starts it.
    """
    from persona_host.adapters.stdio.serve import serve_stdio  # noqa: PLC0415 - takes the standard streams over

    return serve_stdio(
        agent_dir=place.agent_dir, home=place.home, environ=place.environ, persona=place.persona, role=place.role
    )


@click.command(
    context_settings=CONTEXT,
    epilog="""\b
In an MCP client's settings:
  {"command": "persona", "args": ["mcp"]}
""",
)
@click.option("--http", is_flag=True, help="Serve over HTTP on this machine, to whoever has the token that is printed.")
@click.option("--port", metavar="N", type=click.IntRange(0, 65_535), help="The port; without it, a free one is taken.")
@common
def mcp(place: Place, /, port: int | None, *, http: bool) -> int:
    """Serve the tools to an MCP client.

    Over standard input and output; that client starts it. With --http it is started by you, serves several clients on
    the loopback interface, and ends with Ctrl-C.
    """
    if port is not None and not http:
        raise click.UsageError("--port goes with --http.")
    from persona_host.adapters.mcp.serve import serve_mcp  # noqa: PLC0415 - the other command has no use for it

    return serve_mcp(
        agent_dir=place.agent_dir,
        home=place.home,
        cwd=place.cwd,
        environ=place.environ,
        persona=place.persona,
        session=place.session,
        port=(port or 0) if http else None,
        beside=_hooks(place),
    )


def _hooks(place: Place) -> Beside:
    """Return what answers the hooks of the Claude Code that started this process for its tools."""
    from persona_host.adapters.claude_code.conversation import Whose  # noqa: PLC0415 - only the server has hooks
    from persona_host.adapters.claude_code.listening import Listening  # noqa: PLC0415 - beside its tools

    whose = Whose(place.agent_dir, place.home, place.environ)
    return lambda adopt: Listening(whose, entry_points, adopt)
