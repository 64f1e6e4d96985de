"""``persona mind``: whatever /mind does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from persona_hooks.speech import IN_ENGLISH, speaking
from persona_host import oneshot
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from persona_host.place import Place


_ASKED = "persona.mind.words"


class Passing(click.Command):
    """A command whose further words are a verb's: its unknown options and a ``--`` pass through untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our own options up to ``--``, and keep the rest, that word included, for the verb."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        cut = args.index("--") if "--" in args else len(args)
        ctx.meta[_ASKED] = self._words(args[:cut])
        rest = super().parse_args(ctx, args[:cut])
        ctx.params["words"] = (*(ctx.params["words"] or ()), *args[cut:])
        return rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the verb that was named, else our own with the list of all of them."""
        from persona_host.completing import registry_of  # noqa: PLC0415 - loads the plugins; only help needs them
        from persona_host.embedded.wrapping import wrap  # noqa: PLC0415 - as above
        from persona_host.helping import about, in_shell  # noqa: PLC0415 - as above

        registry = registry_of(os.environ)
        words: list[str] = ctx.meta[_ASKED]
        with speaking(IN_ENGLISH):
            card = about(registry, ["mind", *words])
        if card is not None and words:
            lines = in_shell(card, everywhere=True).text().split("\n")
            formatter.write("".join(f"{part}\n" for line in lines for part in wrap(line, formatter.width)))
            return
        super().format_help(ctx, formatter)
        rows = [(verb.command, verb.summary) for verb in registry.shown_to("person")]
        with formatter.section("Commands (persona mind COMMAND --help tells more)"):
            formatter.write_dl(sorted((name.removeprefix("mind "), text) for name, text in rows if name[:5] == "mind "))

    def _words(self, args: list[str]) -> list[str]:
        """Return the words among ``args`` that are neither options nor their values."""
        valued = {
            name for item in self.params if isinstance(item, click.Option) and not item.is_flag for name in item.opts
        }
        pairs = zip(["", *args], args, strict=False)
        return [word for before, word in pairs if not word.startswith("-") and before not in valued]

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
""",
)
@click.argument("words", nargs=-1, metavar="[ARGS]...", type=click.UNPROCESSED, shell_complete=_completed)
@plain_option
@json_option
@common
def command(place: Place, /, words: tuple[str, ...], *, as_json: bool, plain: bool) -> int:
    """Do what /mind does, and print its card."""
    context = click.get_current_context()
    known = [item.opts[-1] for item in context.command.get_params(context) if isinstance(item, click.Option)]
    return oneshot.mind(place, words, known, as_json=as_json, plain=plain)
