"""Cards as text: wrapped between words and in colour at a terminal; in a pipe whole, one line a line."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO, TYPE_CHECKING, NamedTuple

from persona_host.embedded.screen import shown
from persona_host.embedded.wrapping import wrap

if TYPE_CHECKING:
    from persona_hooks.cards import Card, Level

BOLD, DIM = "1", "2"
# The sign says what the colour says: colour is never the only carrier of meaning.
SIGNS: dict[Level, tuple[str, str]] = {
    "info": ("", BOLD),
    "success": ("✓ ", "1;32"),
    "warning": ("! ", "1;33"),
    "error": ("✗ ", "1;31"),
}


class Surface(NamedTuple):
    """Where cards are painted.

    Attributes:
        out: The stream; None for standard output as it is at that moment, since a prompt stands in for it at times.
        width: Its columns; 0 measures the terminal each time, None is no terminal: nothing is wrapped or cut there.
        colour: Whether it takes colours.
    """

    out: IO[str] | None = None
    width: int | None = 0
    colour: bool = False

    @property
    def columns(self) -> int | None:
        """How wide it is now; None where that has no meaning."""
        return shutil.get_terminal_size((80, 24)).columns if self.width == 0 else self.width

    def write(self, text: str) -> None:
        """Write ``text`` as it is, at once."""
        out = self.out or sys.stdout
        out.write(text)
        out.flush()

    def line(self, text: str, style: str = "") -> None:
        """Write one line, wrapped where it does not fit."""
        columns = self.columns
        for part in wrap(text, columns) if columns else [text]:
            self.write(f"\x1b[{style}m{part}\x1b[0m\n" if style and self.colour else f"{part}\n")


def paint(surface: Surface, card: Card, *, whole: bool = False) -> None:
    """Print a card; ``whole`` prints every line of it at a terminal, too."""
    title, *rest = shown(card, surface.columns, whole=whole)
    sign, style = SIGNS[card.level]
    surface.line(f"{sign}{title}", style)
    hint = rest.pop() if card.hint else None
    for line in rest:
        surface.line(line)
    if hint is not None:
        surface.line(hint, DIM)


def surface_for(*, plain: bool, stderr: bool = False) -> Surface:
    """Return the surface of a standard stream; ``--plain``, ``NO_COLOR`` and a dumb terminal are honoured."""
    stream = sys.stderr if stderr else sys.stdout
    if not stream.isatty():
        return Surface(stream, None)
    # An old Windows console prints the sequences themselves.
    able = os.name != "nt" or "WT_SESSION" in os.environ
    colour = able and not plain and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Surface(stream if stderr else None, 0, colour)
