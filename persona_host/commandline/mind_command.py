"""``persona mind``: whatever /mind does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from persona_host import oneshot
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from persona_host.place import Place


class Passing(click.Command):
    """A command whose further words are a verb's: its unknown options and a ``--`` pass through untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our own options up to ``--``, and keep the rest, that word included, for the verb."""
        cut = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:cut])
        ctx.params["words"] = (*(ctx.params["words"] or ()), *args[cut:])
        return rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return our own options and those of the verb that is being spelt."""
        return [*super().shell_complete(ctx, incomplete), *_completed(ctx, self.params[0], incomplete)]


def _completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    from persona_host.completing import words  # noqa: PLC0415 - as above

    given = ctx.params.get(param.name or "") or ()
    return [CompletionItem(word) for word in words(os.environ, given, incomplete)]


@click.command(
    "mind",
    cls=Passing,
    context_settings={**CONTEXT, "ignore_unknown_options": True},
    epilog="""\b
Examples:
  persona mind                                    what is remembered here
  persona mind recall "staging port" --max 3
  persona mind doctor --json
  persona mind recall -- --words-that-begin-with-dashes
In a conversation, /help lists every form.
""",
)
@click.argument("words", nargs=-1, metavar="[ARGS]...", type=click.UNPROCESSED, shell_complete=_completed)
@plain_option
@json_option
@common
def command(place: Place, /, words: tuple[str, ...], *, as_json: bool, plain: bool) -> int:
    """Do what /mind does, and print its card."""
    return oneshot.mind(place, words, as_json=as_json, plain=plain)
