"""``persona tool``: one call of a tool."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from persona_host import oneshot
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option
from persona_host.standard import read_input

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from persona_host.place import Place


def _complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    from persona_host.completing import tool_names  # noqa: PLC0415 - as above

    del ctx, param
    return [CompletionItem(name) for name in tool_names(os.environ, incomplete)]


@click.command(
    "tool",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona tool memory '{"action": "remember", "term": "long", "kind": "note", "text": "Staging listens on 5433."}'
  persona tool memory '{"action": "recall", "query": "staging"}'
  echo '{"action": "recall"}' | persona tool memory -
""",
)
@click.argument("name", shell_complete=_complete_tool)
@click.argument("arguments", metavar="JSON")
@plain_option
@json_option
@common
def command(place: Place, /, name: str, arguments: str, *, as_json: bool, plain: bool) -> int:
    """Call a tool as a model does; prints JSON.

    It prints {"ok", "text", "details"}. JSON is one object; its "action" names what to do. A dash reads it from
    standard input. The exit status is 1 when the answer is not ok.
    """
    del as_json, plain  # what it prints is JSON without colours anyway; scripts may ask for it all the same
    return oneshot.tool(place, name, read_input() if arguments == "-" else arguments)
