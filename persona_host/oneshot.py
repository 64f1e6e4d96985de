"""One command, one process: the session that ``persona mind``, ``tool``, ``inject`` and ``doctor`` work in.

Without ``--session`` such commands share one session per agent directory, working directory and persona, so that what
one leaves in it (``/mind off``, a note) holds for the next. With the companion off the session lives in memory.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import InvalidError
from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.speech import IN_ENGLISH, phrase, say, speaking, worded
from persona_hooks.verbs import refusal
from persona_host.embedded.models import HostModels
from persona_host.embedded.shelf import Shelf
from persona_host.headless import StderrUi, SystemScheduler
from persona_host.helping import in_shell, shell_text
from persona_host.runtime import Runtime, Setup
from persona_host.standard import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_hooks.ports import Ui
    from persona_hooks.verbs import Answer
    from persona_host.place import Place

WRONG_USAGE = 2
PATIENCE = 5.0
"""A script that is told nothing because a busy machine was late would be told something false."""
# Nobody watches, nobody talks, and no timer outlives the command.
CAPABILITIES = Capabilities(ui=False, scheduler=False, input=False)


def started(
    place: Place, models: HostModels, name: str = "command line", ui: Ui | None = None, *, english: bool = False
) -> Runtime:
    """Return a runtime with its plugins loaded and no session open; notices go to standard error without a ``ui``."""
    setup = Setup(
        name,
        place.agent_dir,
        place.home,
        place.environ,
        CAPABILITIES,
        patience=PATIENCE,
        spell=shell_text,
        english=english,
    )
    return Runtime.start(setup, ui=ui or StderrUi(), models=models, scheduler=SystemScheduler())


@contextmanager
def opened(place: Place, ui: Ui | None = None, *, english: bool = False) -> Iterator[tuple[Runtime, HostModels]]:
    """Open the session that ``place`` asks for, or the shared one, and close it afterwards.

    Words are ``english`` where a program reads them.

    Raises:
        InvalidError: The session's id cannot be one.
    """
    models = HostModels(place.environ)
    shelf = Shelf(place.agent_dir, place.cwd)
    session_id = place.session or shelf.shared(place.persona or place.environ.get("PI_PERSONA_DEFAULT"))
    path = shelf.path(session_id)
    runtime = started(place, models, ui=ui, english=english)
    try:
        journal = (
            MemoryJournal(session_id, place.cwd)
            if place.disabled
            else JsonlJournal(path, session_id, place.cwd, lasting=True)
        )
        runtime.open(
            journal,
            session_id=session_id,
            cwd=place.cwd,
            reason="resume" if journal.leaf else "startup",
            persona=place.persona,
            role=place.role,
            shared=place.session is None,
        )
        with runtime.speaking():
            configure(models, runtime)
            yield runtime, models
    finally:
        runtime.close()


def configure(models: HostModels, runtime: Runtime) -> None:
    """Take the model roles from the session's settings; a malformed one is told, and means no model."""
    try:
        models.configure(runtime.settings())
    except InvalidError as error:
        StderrUi().notify(worded(error.message), "warning")


def mind(place: Place, words: Sequence[str], options: Sequence[str] = (), *, as_json: bool, plain: bool) -> int:
    """Perform a person's command, given as the shell's words after ``mind``; print its card, return the status.

    Args:
        place: Where it works.
        words: Its words.
        options: What a shell may give beside the command's own options, to be named where another one was given.
        as_json: Print JSON.
        plain: Print no colours.
    """
    with opened(place, english=as_json) as (runtime, _):
        answer = runtime.command(["mind", *words])
        # What it did is told in messages, which are spelled for a shell already; a refusal also names what was typed.
        card = answer.card if answer.ok else in_shell(answer.card)
        if answer.details.get("reason") == "unknown_command":
            card = replace(card, hint=say("`persona mind --help` lists them all."))
        elif answer.details.get("reason") == "unknown_option":
            card = replace(card, hint=say("Every command takes these, too: {options}.", options=", ".join(options)))
    return printed(answer._replace(card=card), as_json=as_json, plain=plain)


def tool(place: Place, name: str, arguments: str) -> int:
    """Perform a tool's action with a JSON object of arguments; print its answer as JSON, return the status."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        error = InvalidError(phrase("{verb}: the arguments are not a JSON object.", verb=name), field="arguments")
        with speaking(IN_ENGLISH):
            printed(refusal(name, error), as_json=True, plain=True)
        return WRONG_USAGE
    with opened(place, english=True) as (runtime, _):
        answer = runtime.tool(name, values, origin="user", audience="script")
    return printed(answer, as_json=True, plain=True)


def inject(place: Place, prompt: str, *, as_json: bool) -> int:
    """Print what a model would be given with ``prompt``, exactly; return the status."""
    with opened(place) as (runtime, _):
        runtime.owner()
        blocks = runtime.blocks(prompt)
        off = runtime.off()
    if off:
        # What is printed is what a model would be given, which may be nothing; that must not look like no memories.
        StderrUi().notify(shell_text(worded(off)), "warning")
    text = "\n\n".join(block.text for block in blocks)
    if as_json:
        shown = [{"name": block.name, "order": block.order, "text": block.text} for block in blocks]
        _print_json({"ok": True, "text": text, "details": {"blocks": shown}})
    elif text:
        sys.stdout.write(f"{text}\n")
    return 0


def printed(answer: Answer, *, as_json: bool, plain: bool) -> int:
    """Print an answer, as a card or as ``{"ok", "text", "details"}``, and return the exit status."""
    if as_json:
        _print_json({"ok": answer.ok, "text": answer.text, "details": dict(answer.details)})
    else:
        from persona_host.embedded.painting import paint, surface_for  # noqa: PLC0415 - JSON needs none

        # A refusal goes where errors go, so that a pipe holds results only.
        paint(surface_for(plain=plain, stderr=not answer.ok), answer.card, whole=True)
    return 0 if answer.ok else 1


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json_line(value, sys.stdout))
