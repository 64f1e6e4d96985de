"""The host at a terminal: a prompt with completion, replies as they come, cards in colour.

Ctrl-C drops what is typed, or stops a running reply and keeps the log; Ctrl-D leaves.
"""

from __future__ import annotations

import contextvars
import os
import threading
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout

from persona_hooks.cards import COMPACT_COLUMNS, clip, one_line, sanitize
from persona_hooks.errors import PersonaError
from persona_hooks.speech import say
from persona_host.embedded import slash
from persona_host.embedded.painting import SIGNS, paint
from persona_host.embedded.plain import answer
from persona_host.embedded.screen import stopped
from persona_host.embedded.wrapping import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.output import Output

    from persona_hooks.cards import Level
    from persona_host.embedded.host import EmbeddedHost
    from persona_host.embedded.painting import Surface
    from persona_host.embedded.screen import Event


class TerminalScreen:
    """The screen and the ui port at a terminal. Threads may call it; lines do not mix."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._lock = threading.RLock()
        self._flow: Flow | None = None
        self._waiting = False
        self.statuses: dict[str, str] = {}

    def waiting(self) -> None:
        """Show that the model is at work."""
        with self._lock:
            self._end()
            self._surface.write("…")
            self._waiting = True

    def delta(self, text: str) -> None:
        """Show a piece of a reply."""
        with self._lock:
            self._clear()
            if self._flow is None:
                self._flow = Flow(self._surface.columns or COMPACT_COLUMNS)
            self._surface.write(self._flow.feed(sanitize(text)))

    def show(self, event: Event) -> None:
        """Show an outcome; a reply's text stands there already."""
        with self._lock:
            self._end()
            if not (event.kind == "reply" and event.ok):
                paint(self._surface, event.card, whole=event.whole)
            self._surface.write("\n")

    def notify(self, text: str, level: Level = "info") -> None:
        """Show a notice now."""
        sign, style = SIGNS[level]
        with self._lock:
            self._end()
            self._surface.line(f"{sign}{one_line(text)}", style)

    def status(self, key: str, text: str | None) -> None:
        """Set or clear a plugin's place in the status line."""
        if text is None:
            self.statuses.pop(key, None)
        else:
            self.statuses[key] = one_line(text)

    def _end(self) -> None:
        """End the line that a reply or the sign of waiting stands on."""
        self._clear()
        if self._flow is not None:
            self._surface.write(self._flow.end() + "\n")
        self._flow = None

    def _clear(self) -> None:
        if self._waiting:
            # Overwritten, not erased by a sequence that a terminal might not know.
            self._surface.write("\r \r")
        self._waiting = False


class Commands(Completer):
    """Completion of slash commands, from the host's own and the registry."""

    def __init__(self, host: EmbeddedHost) -> None:
        self._host = host

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield what may follow; nothing for a message."""
        del complete_event
        line = document.text_before_cursor
        if not line.startswith("/"):
            return
        word = line.rpartition(" ")[2]
        for item in slash.completions(self._host, line):
            # A whole command replaces the line, an option or a choice the last word.
            yield Completion(item, start_position=-len(line if item.startswith("/") else word))


def _keys() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add(Keys.Any)
    def typed(event: KeyPressEvent) -> None:
        # A key that means nothing here (Shift-PageUp, say) would otherwise be typed as its sequence.
        if not event.data.startswith("\x1b"):
            get_by_name("self-insert").call(event)

    return bindings


class Terminal:
    """The loop: prompt, answer, prompt again."""

    def __init__(
        self,
        host: EmbeddedHost,
        screen: TerminalScreen,
        *,
        source: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._host = host
        self._screen = screen
        self._context: contextvars.Context | None = None
        self._prompt: PromptSession[str] = PromptSession(
            completer=Commands(host),
            complete_while_typing=False,
            # NO_COLOR is honoured for cards; here it means no colour in the prompt and the toolbar either.
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            bottom_toolbar=self._toolbar,
            key_bindings=_keys(),
            input=source,
            output=output,
        )

    def run(self) -> None:
        """Talk until the person leaves."""
        self._host.turns.on_arrival = self._arrived
        while True:
            line = self._line()
            if line is None:
                return
            if line.strip() and not self._answered(line):
                return

    def _line(self) -> str | None:
        """Return the next line, or None when the person leaves."""
        while True:
            try:
                with patch_stdout(raw=True):
                    return self._prompt.prompt("> ", pre_run=self._entered)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None
            finally:
                self._context = None

    def _answered(self, line: str) -> bool:
        """Answer one line; return False when it says to leave."""
        try:
            answer(self._host, line)
        except slash.Leave:
            return False
        except KeyboardInterrupt:
            self._screen.show(stopped())
        return True

    def _entered(self) -> None:
        self._context = contextvars.copy_context()

    def _arrived(self) -> None:
        """Show, above the prompt, an entry that was appended while nobody speaks."""
        context, loop = self._context, self._prompt.app.loop
        if context is not None and loop is not None:
            show: Callable[[], object] = lambda: run_in_terminal(self._host.turns.drain)  # noqa: E731
            loop.call_soon_threadsafe(show, context=context)

    def _toolbar(self) -> str:
        runtime = self._host.runtime
        model = self._host.models.session
        # The prompt asks for it whenever it is drawn, outside of any answer.
        with runtime.speaking():
            try:
                persona = runtime.owner().persona or say("no persona")
            except PersonaError:
                persona = say("memory off")
            parts = [persona, model.label if model else say("no model"), *self._screen.statuses.values()]
        return clip(" · ".join(parts), self._prompt.output.get_size().columns)
