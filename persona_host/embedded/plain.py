"""The host without a terminal: lines in from standard input or ``--once``, plain text or JSON lines out."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING

from persona_hooks.cards import sanitize
from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase, thousands
from persona_host.embedded import slash
from persona_host.embedded.screen import shown
from persona_host.standard import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_host.embedded.host import EmbeddedHost
    from persona_host.embedded.screen import Event

MAX_LINE = 262_144
"""Bytes of one line; a longer one is no message but a file that came here by mistake."""


class PlainScreen:
    """Plain text: a reply as it comes, a card as its lines, nothing coloured, and lines for the terminal to wrap.

    Args:
        out: The stream.
        columns: The terminal's width; None where it is none, and cards come whole.
    """

    def __init__(self, out: IO[str], columns: int | None) -> None:
        self._out = out
        self._columns = columns
        self._open = False

    def waiting(self) -> None:
        """Show, at a terminal, that the model is at work."""
        if self._columns is not None:
            self._write("…\n")

    def delta(self, text: str) -> None:
        """Show a piece of a reply."""
        self._open = True
        self._write(sanitize(text))

    def show(self, event: Event) -> None:
        """Show an outcome; the reply's own text stands there already."""
        if event.kind == "reply" and event.ok:
            self._end()
            return
        self._end()
        self._write("".join(f"{line}\n" for line in shown(event.card, self._columns, whole=event.whole)))

    def _end(self) -> None:
        if self._open:
            self._write("\n")
        self._open = False

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class JsonScreen:
    """One JSON object an outcome: ``{"kind", "ok", "text", "data"}``."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def waiting(self) -> None:
        """Say nothing: a program waits for the outcome."""

    def delta(self, text: str) -> None:
        """Drop it: the whole reply is one outcome."""

    def show(self, event: Event) -> None:
        """Print one line."""
        outcome = {"kind": event.kind, "ok": event.ok, "text": event.text, "data": dict(event.data)}
        self._out.write(json_line(outcome, self._out))
        self._out.flush()


def piped(stream: IO[bytes]) -> Iterator[str | InvalidError]:
    """Yield the messages on a stream: its lines, without empty ones; an error in place of a line that is no text."""
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield InvalidError(
                phrase("A line is longer than {limit} bytes; it was left out.", limit=thousands(MAX_LINE)),
                field="line",
                limit=MAX_LINE,
            )
            continue
        try:
            text = line.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:
            yield InvalidError(phrase("A line is not UTF-8 text; it was left out."), field="line")
            continue
        if text.strip():
            yield text


def typed(prompt: str = "> ") -> Iterator[str]:
    """Yield the lines that a person types at a plain terminal, until Ctrl-D. Ctrl-C drops the line."""
    while True:
        try:
            line = input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            continue
        if line.strip():
            yield line


def answer(host: EmbeddedHost, line: str) -> None:
    """Answer one line: a slash command, or a message.

    Raises:
        Leave: The person wants to leave.
        KeyboardInterrupt: The person stopped it.
    """
    with host.runtime.speaking():
        if line.startswith("/"):
            slash.run(host, line)
        else:
            host.turns.say(line)
