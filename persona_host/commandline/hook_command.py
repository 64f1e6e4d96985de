"""``persona hook``: what Claude Code runs at its events; see ``adapters.claude_code.hook``.

With nothing but the event, the command line is never loaded. This is for people who ask what it is, and for options.
"""

from __future__ import annotations

import os
import sys

import click

from persona_host.commandline.options import CONTEXT


@click.command(
    "hook",
    context_settings=CONTEXT,
    epilog="""\b
Example:
  echo '{"session_id": "s1", "cwd": "/tmp", "hook_event_name": "UserPromptSubmit", "prompt": "which port?"}' |
    persona hook UserPromptSubmit
""",
)
@click.argument("event")
@click.option("--agent-dir", metavar="DIR", help="Where everything is kept. [default: $PI_AGENT_DIR or ~/.pi/agent]")
@click.option("--persona", metavar="NAME", help="The persona, where the session has none of its own.")
def command(event: str, agent_dir: str | None, persona: str | None) -> None:
    """Answer an event of Claude Code, which runs this itself.

    EVENT is SessionStart, UserPromptSubmit, UserPromptExpansion, PreCompact or SessionEnd. JSON comes in on standard
    input and goes out on standard output; the session and its directory are named there. The exit status is 0 whatever
    happens; what went wrong is one line on standard error.
    """
    from persona_host.adapters.claude_code.hook import main  # noqa: PLC0415 - loads what the event needs

    environ = dict(os.environ)
    if agent_dir:
        environ["PI_AGENT_DIR"] = os.path.abspath(agent_dir)  # noqa: PTH100 - as ``agent_dir_of``: no link is followed
    if persona:
        environ["PI_PERSONA_DEFAULT"] = persona
    sys.exit(main(event, environ))
