"""``persona chat``: which screen, and which lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.errors import InvalidError, PersonaError
from persona_hooks.verbs import refusal
from persona_host.embedded import slash
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.plain import JsonScreen, PlainScreen, answer, piped, typed
from persona_host.embedded.screen import STOPPED, Event
from persona_host.headless import StderrUi
from persona_host.oneshot import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_hooks.specs import Room
    from persona_host.embedded.screen import Screen
    from persona_host.place import Place

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""


@dataclass(frozen=True, slots=True)
class Options:
    """What ``persona chat`` was asked for.

    Attributes:
        once: Lines to answer, after which it ends.
        model: ``provider:name`` or a role.
        room: Who is present; None where nothing was said about it.
        json: One JSON object an outcome.
        plain: No colours, no line editing.
    """

    once: tuple[str, ...] = ()
    model: str | None = None
    room: Room | None = None
    json: bool = False
    plain: bool = False


def chat(place: Place, options: Options) -> int:
    """Talk until the lines end or the person leaves; return the exit status."""
    at_terminal = not options.once and sys.stdin.isatty()
    if at_terminal and sys.stdout.isatty() and not options.json and not options.plain and find_spec("prompt_toolkit"):
        return _terminal(place, options)
    lines: Iterable[str | InvalidError] = options.once
    if not options.once:
        lines = typed() if at_terminal else piped(sys.stdin.buffer)
    screen: Screen = JsonScreen(sys.stdout) if options.json else PlainScreen(sys.stdout, _columns())
    ui = StderrUi()
    # Nobody waits at a prompt when lines come from a pipe, and the next line comes at once.
    patience = 1.0 if at_terminal else PATIENCE
    host = EmbeddedHost.start(place, screen=screen, ui=ui, model=options.model, room=options.room, patience=patience)
    try:
        if off := memory_off(host):
            ui.notify(off, "warning")
        return _answer_all(host, lines)
    finally:
        host.close()


def memory_off(host: EmbeddedHost) -> str:
    """Return why memory does not work here, or nothing where it does."""
    try:
        host.runtime.owner()
    except PersonaError as error:
        return error.message
    return ""


def _answer_all(host: EmbeddedHost, lines: Iterable[str | InvalidError]) -> int:
    for line in lines:
        try:
            if isinstance(line, InvalidError):
                raise line
            answer(host, line)
        except slash.Leave:
            break
        except KeyboardInterrupt:
            host.screen.show(STOPPED)
            return INTERRUPTED
        except PersonaError as error:
            refused = refusal("chat", error)
            host.screen.show(Event("error", ok=False, card=refused.card, data=refused.details))
    return 0


def _terminal(place: Place, options: Options) -> int:
    # prompt_toolkit is no use on a pipe, and it costs as much as everything else here.
    from persona_host.embedded.painting import surface_for  # noqa: PLC0415
    from persona_host.embedded.terminal import Terminal, TerminalScreen  # noqa: PLC0415

    screen = TerminalScreen(surface_for(plain=False))
    host = EmbeddedHost.start(place, screen=screen, ui=screen, model=options.model, room=options.room)
    try:
        welcome = Card(
            "persona", (f"session {host.runtime.session.id}",), hint="/help lists the commands; Ctrl-D leaves."
        )
        screen.show(Event("notice", ok=True, card=welcome))
        if off := memory_off(host):
            screen.notify(off, "warning")
        Terminal(host, screen).run()
    finally:
        host.close()
    return 0


def _columns() -> int | None:
    import shutil  # noqa: PLC0415 - not for JSON output

    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else None
