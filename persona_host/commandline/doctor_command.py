"""``persona doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host.commandline.options import CONTEXT, common, json_option, plain_option
from persona_host.doctor import doctor

if TYPE_CHECKING:
    from persona_host.place import Place


@click.command("doctor", context_settings=CONTEXT)
@click.option(
    "--host",
    metavar="NAME",
    default="command-line",
    help="command-line, embedded, pi, claude-code or mcp.",
    show_default=True,
)
@plain_option
@json_option
@common
def command(place: Place, /, host: str, *, as_json: bool, plain: bool) -> int:
    """Check plugins, models, paths and the host.

    It says how each plugin fares, what the host lacks and what that costs; --json names the hooks of each plugin.
    No text of a memory is shown. The exit status is 1 when a plugin failed or is slow, when memory is refused by a
    fault, or when the host cannot use memory as it is installed; memory that you turned off is no fault.
    """
    return doctor(place, host, as_json=as_json, plain=plain)
