"""``persona hook``: what Claude Code runs at its events; see ``adapters.claude_code.hook``.

With nothing but the event, the command line is never loaded. This is for people who ask what it is, and for options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host.commandline.options import CONTEXT, common

if TYPE_CHECKING:
    from persona_host.place import Place


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
@common
def command(place: Place, /, event: str) -> int:
    """Answer an event of Claude Code, which runs this itself.

    EVENT is SessionStart, UserPromptSubmit, UserPromptExpansion, PreCompact or SessionEnd. JSON comes in on standard
    input and goes out on standard output. The exit status is 0 whatever happens; what went wrong is one line on
    standard error.
    """
    from persona_host.adapters.claude_code.hook import main  # noqa: PLC0415 - loads what the event needs

    environ = {**place.environ, "PI_AGENT_DIR": str(place.agent_dir)}
    if place.persona:
        environ["PI_PERSONA_DEFAULT"] = place.persona
    return main([event], environ)
