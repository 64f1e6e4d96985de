"""What commands have in common: their options, their errors, their exit statuses."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from persona_hooks.cards import one_line
from persona_hooks.errors import InvalidError, PersonaError
from persona_hooks.speech import worded
from persona_host.place import place

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


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
        try:
            where = place(agent_dir=agent_dir, cwd=cwd, persona=persona, session=session, role=role)
        except InvalidError as error:
            raise click.UsageError(one_line(worded(error.message))) from None
        try:
            status = body(where, **rest)
        except PersonaError as error:
            click.echo(f"persona: {one_line(worded(error.message))}", err=True)
            status = 1
        sys.exit(status)

    options = (
        click.option(
            "--agent-dir", metavar="DIR", help="Where everything is kept. [default: $PI_AGENT_DIR or ~/.pi/agent]"
        ),
        click.option("--cwd", metavar="DIR", help="Work as if started there; the project is found from it."),
        click.option("--persona", metavar="NAME", help="The persona for this session only."),
        click.option("--session", metavar="ID", help="The session to go on with, or to begin under this id."),
        click.option(
            "--role",
            metavar="NAME",
            default="",
            help="Which of the persona's layers are seen; no model role.",
        ),
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
