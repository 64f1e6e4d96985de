"""``persona backup`` and ``persona restore``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from persona_hooks.cards import Card
from persona_hooks.errors import NotFoundError
from persona_hooks.speech import say, worded
from persona_host.commandline.confirming import confirmed
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option
from persona_host.oneshot import opened, printed
from persona_host.where import told_of_git

if TYPE_CHECKING:
    from persona_hooks.verbs import Answer
    from persona_host.place import Place
    from persona_host.runtime import Runtime


@click.command(
    "backup",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona backup                                  persona-mind-backup-DATE, here
  persona backup /media/stick/memory
""",
)
@click.argument("path", metavar="[DIR]", required=False, default="")
@plain_option
@json_option
@common
def backup_command(place: Place, /, path: str, *, as_json: bool, plain: bool) -> int:
    """Copy the whole profile into a new directory.

    All personas and projects are in it. Seven daily backups are kept inside the profile without being asked for:
    `persona mind backups`. Only you can read a backup, but it is not encrypted. What is erased later stays in it, and
    restoring leaves that out.
    """
    with opened(place, english=as_json) as (runtime, _):
        answer = told_of_git(_perform(runtime, "profile.backup", {"path": path}))
    return printed(answer, as_json=as_json, plain=plain)


@click.command(
    "restore",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona restore /media/stick/memory             asks before it replaces anything
  persona restore daily-2026-03-02 --yes          one of those inside the profile
""",
)
@click.argument("path", metavar="DIR|NAME")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--newer", is_flag=True, help="Replace memories that changed after the backup was made, too.")
@plain_option
@json_option
@common
def restore_command(place: Place, /, path: str, *, yes: bool, newer: bool, as_json: bool, plain: bool) -> int:
    """Bring the profile back as a backup holds it.

    What was erased since stays out. What this replaces is kept as a backup of its own.
    """
    arguments = {"path": path, "yes": yes, "newer": newer}
    with opened(place, english=as_json) as (runtime, _):
        answer = _perform(runtime, "profile.restore", arguments)
        if answer.details.get("reason") == "unconfirmed" and sys.stdin.isatty() and not as_json:
            if confirmed(worded(answer.details["would"]), say("Restore it?"), plain=plain):
                answer = _perform(runtime, "profile.restore", {**arguments, "yes": True})
            else:
                answer = answer._replace(card=Card(say("Nothing was changed."), level="warning"))
        if isinstance(answer.error, NotFoundError) and os.path.basename(path) != path:  # noqa: PTH119 - as it was typed
            hint = say("`persona mind backups` lists those inside the profile.")
            answer = answer._replace(
                card=Card(say("There is no backup at {path}.", path=path), (), (), "warning", hint)
            )
    return printed(answer, as_json=as_json, plain=plain)


def _perform(runtime: Runtime, verb: str, arguments: dict[str, Any]) -> Answer:
    return runtime.call(verb, arguments, session=runtime.session, origin="user", audience="person")
