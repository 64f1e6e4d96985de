"""``persona chat``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from persona_hooks.specs import Room
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option
from persona_host.embedded.chat import Options, chat

if TYPE_CHECKING:
    from persona_host.place import Place

_PERSON = re.compile(r"u:[0-9]{1,20}")


@click.command(
    "chat",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona chat
  persona chat --model openai:gpt-5-mini
  persona chat --once "Remember that staging listens on port 5433." --json
  printf 'first line\\nsecond line\\n' | persona chat --plain
  persona chat --room group --present u:42,u:17 --topic "release"
""",
)
@click.option("--once", multiple=True, metavar="TEXT", help="Answer TEXT and leave; may be repeated.")
@click.option(
    "--model", metavar="MODEL", help="provider:name, or a model role of the settings (default, routing, flash)."
)
@click.option("--room", type=click.Choice(["private", "group"]), help="Who can hear: one person, or several.")
@click.option("--present", metavar="IDS", help="Person ids that are present: u:42,u:17.")
@click.option("--incognito", is_flag=True, help="Nothing is read and nothing is written.")
@click.option("--kit", is_flag=True, help="A game or a role-play is going on.")
@click.option("--situation", metavar="TEXT", help="What is going on.")
@click.option("--topic", metavar="TEXT", help="What it is about.")
@plain_option
@json_option
@common
def command(place: Place, /, **options: Any) -> int:  # noqa: ANN401 - click's values
    """Talk, with or without a model.

    At a terminal, with --once, or with lines from standard input.

    Commands begin with a slash; /help lists them. Everything but the replies works without a model. --json prints one
    object an outcome: {"kind", "ok", "text", "data"}.

    The exit status is 0 once every line of --once or of a pipe is answered, also where no model is configured; 1 when
    one failed: the model did not answer, a command was refused, memory is closed. At a terminal it is 0.
    """
    once, model, room = options["once"], options["model"], _room(options)
    return chat(place, Options(once, model, room, json=options["as_json"], plain=options["plain"]))


def _room(options: dict[str, Any]) -> Room | None:
    present = tuple(item.strip() for item in (options["present"] or "").split(",") if item.strip())
    if wrong := [item for item in present if not _PERSON.fullmatch(item)]:
        raise click.UsageError(f"--present takes person ids like u:42,u:17; {len(wrong)} of these are none.")
    room = Room(
        present,
        private=options["room"] != "group",
        incognito=options["incognito"],
        kit=options["kit"],
        situation=options["situation"] or "",
        topic=options["topic"] or "",
    )
    return None if room == Room() else room
