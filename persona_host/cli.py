"""``persona``: the one command. A subcommand imports what it needs when it runs, so that none pays for another.

Common options may stand anywhere; what a command does not know is the verb's own (``persona mind recall --max 3``).
"""

from __future__ import annotations

import functools
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from persona_hooks.errors import InvalidError, PersonaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    from persona_hooks.specs import Room
    from persona_host.place import Place

_PERSON = re.compile(r"u:[0-9]{1,20}")
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
PASSING = {**CONTEXT, "ignore_unknown_options": True}


class Passing(click.Command):
    """A command whose further words are a verb's: its unknown options and a ``--`` pass through untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our own options up to ``--``, and keep the rest, that word included, for the verb."""
        cut = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:cut])
        ctx.params["words"] = (*ctx.params["words"], *args[cut:])
        return rest


def common(body: Callable[..., int]) -> Callable[..., None]:
    """Give a command the options that all commands have; its body gets a ``Place`` and returns the exit status."""

    @functools.wraps(body)
    def command(
        agent_dir: str | None,
        cwd: str | None,
        persona: str | None,
        session: str | None,
        role: str,
        **rest: Any,  # noqa: ANN401 - each body has its own
    ) -> None:
        from persona_host.place import place  # noqa: PLC0415 - not for --help

        try:
            where = place(agent_dir=agent_dir, cwd=cwd, persona=persona, session=session, role=role)
        except InvalidError as error:
            raise click.UsageError(error.message) from None
        try:
            status = body(where, **rest)
        except PersonaError as error:
            click.echo(f"persona: {error.message}", err=True)
            status = 1
        sys.exit(status)

    options = (
        click.option(
            "--agent-dir", metavar="DIR", help="Where everything is kept. [default: $PI_AGENT_DIR or ~/.pi/agent]"
        ),
        click.option("--cwd", metavar="DIR", help="Work as if started there; the project is found from it."),
        click.option("--persona", metavar="NAME", help="The persona for this session only."),
        click.option("--session", metavar="ID", help="The session to go on with, or to begin under this id."),
        click.option("--role", metavar="NAME", default="", help="Which of the persona's layers are seen."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def json_option(body: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(body)


def plain_option(body: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--plain``."""
    return click.option("--plain", is_flag=True, help="No colours and no line editing. NO_COLOR does the former too.")(
        body
    )


def _complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    from persona_host.completing import words  # noqa: PLC0415 - as above

    given: Sequence[str] = ctx.params.get(param.name or "") or ()
    return [CompletionItem(word) for word in words(os.environ, given, incomplete)]


def _complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    from persona_host.completing import tool_names  # noqa: PLC0415 - as above

    del ctx, param
    return [CompletionItem(name) for name in tool_names(os.environ, incomplete)]


@click.group(
    context_settings=CONTEXT,
    epilog="""\b
Begin with:
  persona chat                                    talk; works without a model, too
  persona mind                                    what is remembered here
  persona mind recall "staging port"              look something up
  persona inject --prompt "which port?"           what a model would be given
Shell completion (bash; zsh and fish alike):
  eval "$(_PERSONA_COMPLETE=bash_source persona)"
""",
)
@click.version_option(package_name="persona-mind", message="%(package)s %(version)s")
def main() -> None:
    """Durable, private, undoable memory for one person and many agent hosts."""


def _room(options: dict[str, Any]) -> Room | None:
    from persona_hooks.specs import Room  # noqa: PLC0415 - only one command needs it

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


@main.command(
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
@click.option("--model", metavar="MODEL", help="provider:name, or a role of the settings (default, routing, flash).")
@click.option("--room", type=click.Choice(["private", "group"]), help="Who can hear: one person, or several.")
@click.option("--present", metavar="IDS", help="Person ids that are present: u:42,u:17.")
@click.option("--incognito", is_flag=True, help="Nothing is read and nothing is written.")
@click.option("--kit", is_flag=True, help="A game or a role-play is going on.")
@click.option("--situation", metavar="TEXT", help="What is going on.")
@click.option("--topic", metavar="TEXT", help="What it is about.")
@plain_option
@json_option
@common
def chat(place: Place, /, **options: Any) -> int:  # noqa: ANN401 - click's values
    """Talk, with or without a model.

    At a terminal, with --once, or with lines from standard input.

    Commands begin with a slash; /help lists them. Everything but the replies works without a model. --json prints one
    object an outcome: {"kind", "ok", "text", "data"}.
    """
    from persona_host.embedded import chat as conversation  # noqa: PLC0415 - only this command needs it

    room = _room(options)
    return conversation.chat(
        place,
        conversation.Options(options["once"], options["model"], room, json=options["as_json"], plain=options["plain"]),
    )


@main.command(
    cls=Passing,
    context_settings=PASSING,
    epilog="""\b
Examples:
  persona mind                                    what is remembered here
  persona mind recall "staging port" --max 3
  persona mind doctor --json
  persona mind recall -- --words-that-begin-with-dashes
In a conversation, /help lists every form.
""",
)
@click.argument("words", nargs=-1, metavar="[ARGS]...", type=click.UNPROCESSED, shell_complete=_complete_words)
@plain_option
@json_option
@common
def mind(place: Place, /, words: tuple[str, ...], *, as_json: bool, plain: bool) -> int:
    """Do what /mind does, and print its card."""
    from persona_host import oneshot  # noqa: PLC0415 - only one-shot commands need it

    return oneshot.mind(place, words, as_json=as_json, plain=plain)


@main.command(
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
def tool(place: Place, /, name: str, arguments: str, *, as_json: bool, plain: bool) -> int:
    """Call a tool as a model does; prints JSON.

    It prints {"ok", "text", "details"}. JSON is one object; its "action" names what to do. A dash reads it from
    standard input. The exit status is 1 when the answer is not ok.
    """
    from persona_host import oneshot  # noqa: PLC0415 - only one-shot commands need it

    del as_json, plain  # what it prints is JSON without colours anyway; scripts may ask for it all the same
    return oneshot.tool(place, name, sys.stdin.read() if arguments == "-" else arguments)


@main.command(
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
def inject(place: Place, /, prompt: str, *, as_json: bool, plain: bool) -> int:
    """Print what a model would be given."""
    from persona_host import oneshot  # noqa: PLC0415 - only one-shot commands need it

    del plain  # what it prints is what a model reads; there is no colour in it
    return oneshot.inject(place, prompt, as_json=as_json)


@main.command(context_settings=CONTEXT)
@click.option(
    "--host", metavar="NAME", default="command-line", help="command-line, embedded, pi or mcp.", show_default=True
)
@plain_option
@json_option
@common
def doctor(place: Place, /, host: str, *, as_json: bool, plain: bool) -> int:
    """Check plugins, models, paths and the host.

    It says how each plugin fares and which hooks it has, what the host lacks and what that costs.
    No text of a memory is shown. The exit status is 1 when a plugin failed or is slow.
    """
    from persona_host import doctor as report  # noqa: PLC0415 - only this command needs it

    return report.doctor(place, host, as_json=as_json, plain=plain)


@main.command(context_settings=CONTEXT)
@common
def stdio(place: Place) -> int:
    """Serve another host's extension.

    Over standard input and output; that extension starts it.
    """
    from persona_host.adapters.stdio.serve import serve_stdio  # noqa: PLC0415 - only this command needs it

    return serve_stdio(agent_dir=place.agent_dir, home=place.home, environ=place.environ, persona=place.persona)


@main.command(
    context_settings=CONTEXT,
    epilog="""\b
In an MCP client's settings:
  {"command": "persona", "args": ["mcp"]}
""",
)
@common
def mcp(place: Place) -> int:
    """Serve the tools to an MCP client.

    Over standard input and output; that client starts it.
    """
    from persona_host.adapters.mcp.serve import serve_mcp  # noqa: PLC0415 - only this command needs it

    return serve_mcp(
        agent_dir=place.agent_dir, home=place.home, environ=place.environ, cwd=place.cwd, persona=place.persona
    )


if __name__ == "__main__":
    main()
