"""``persona chat``: which screen, and which lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.errors import InvalidError, PersonaError
from persona_hooks.speech import phrase, say, worded
from persona_hooks.verbs import refusal
from persona_host.embedded import slash
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.plain import JsonScreen, PlainScreen, answer, piped, typed
from persona_host.embedded.screen import Event, stopped
from persona_host.headless import StderrUi
from persona_host.oneshot import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_hooks.cards import Level
    from persona_hooks.ports import Ui
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
    screen = Tally(JsonScreen(sys.stdout) if options.json else PlainScreen(sys.stdout, _columns()))
    ui = Heard(StderrUi())
    # Nobody waits at a prompt when lines come from a pipe, and the next line comes at once.
    patience = 1.0 if at_terminal else PATIENCE
    host = EmbeddedHost.start(
        place,
        screen=screen,
        ui=ui,
        model=options.model,
        room=options.room,
        patience=patience,
        english=options.json,
    )
    try:
        off = host.runtime.off()
        with host.runtime.speaking():
            if at_terminal and not options.json:
                session = host.runtime.session.id
                greeting = say("persona, session {session}. {greeting}", session=session, greeting=GREETING)
                sys.stdout.write(f"{greeting}\n")
            ui.tell_of(off)
            status = _answer_all(host, lines)
        broken = screen.failed or (off and not place.disabled and _refused(host))
        return 1 if broken and not status and not at_terminal else status
    finally:
        host.close()


class Heard:
    """A ``Ui`` that remembers what was told while the session began."""

    def __init__(self, ui: Ui) -> None:
        self._ui = ui
        self._begun = False
        self._said: list[str] = []

    def notify(self, text: str, level: Level = "info") -> None:
        """See ``Ui``."""
        if not self._begun:
            self._said.append(text)
        self._ui.notify(text, level)

    def status(self, key: str, text: str | None) -> None:
        """See ``Ui``."""
        self._ui.status(key, text)

    def tell_of(self, off: str) -> None:
        """Say why memory does not work, where it does not and no plugin has said the same already."""
        self._begun = True
        if off and worded(off) not in self._said:
            self._ui.notify(worded(off), "warning")


GREETING = phrase("/help lists the commands; Ctrl-D leaves.")


class Tally:
    """A screen that remembers whether a line failed; what only a tool call failed of, the model knows and answers."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.failed = False

    def waiting(self) -> None:
        """See ``Screen``."""
        self._screen.waiting()

    def delta(self, text: str) -> None:
        """See ``Screen``."""
        self._screen.delta(text)

    def show(self, event: Event) -> None:
        """See ``Screen``."""
        self.failed |= not event.ok and event.kind in {"error", "answer", "reply"}
        self._screen.show(event)


def _refused(host: EmbeddedHost) -> bool:
    """Return whether nobody owns the session's memory: the persona asked for does not exist, say."""
    try:
        host.runtime.owner()
    except PersonaError:
        return True
    return False


def _answer_all(host: EmbeddedHost, lines: Iterable[str | InvalidError]) -> int:
    for line in lines:
        try:
            if isinstance(line, InvalidError):
                raise line
            answer(host, line)
        except slash.Leave:
            break
        except KeyboardInterrupt:
            host.screen.show(stopped())
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
    ui = Heard(screen)
    host = EmbeddedHost.start(place, screen=screen, ui=ui, model=options.model, room=options.room)
    try:
        with host.runtime.speaking():
            session = say("session {session}", session=host.runtime.session.id)
            screen.show(Event("notice", ok=True, card=Card("persona", (session,), hint=worded(GREETING))))
            ui.tell_of(host.runtime.off())
            Terminal(host, screen).run()
    finally:
        host.close()
    return 0


def _columns() -> int | None:
    import shutil  # noqa: PLC0415 - not for JSON output

    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else None
