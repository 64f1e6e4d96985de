"""``persona why``: why did it say that, and which memories never help?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host import oneshot
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from persona_host.place import Place


@click.command(
    "why",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona why                                     the last request here, memory by memory
  persona why 1dff7ef1a3e6                        what became of one memory
  persona why --unused                            which memories never helped
""",
)
@click.argument("memory", metavar="[ID]", required=False)
@click.option("--unused", is_flag=True, help="Tell which memories never helped.")
@plain_option
@json_option
@common
def command(place: Place, /, memory: str | None, *, unused: bool, as_json: bool, plain: bool) -> int:
    """Say which memories stood in the last request, and why."""
    words = [*([memory] if memory else []), *(["--unused"] if unused else [])]
    return oneshot.mind(place, ["why", *words], as_json=as_json, plain=plain)
