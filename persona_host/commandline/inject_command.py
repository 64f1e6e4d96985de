"""``persona inject``: what a model would be given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host import oneshot
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from persona_host.place import Place


@click.command(
    "inject",
    context_settings=CONTEXT,
    epilog="""\b
Example:
  persona inject --prompt "which port does staging use?"
""",
)
@click.option(
    "--prompt", metavar="TEXT", default="", help="What the person is about to say; empty for nothing in particular."
)
@plain_option
@json_option
@common
def command(place: Place, /, prompt: str, *, as_json: bool, plain: bool) -> int:
    """Print what a model would be given."""
    del plain  # what it prints is what a model reads; there is no colour in it
    return oneshot.inject(place, prompt, as_json=as_json)
