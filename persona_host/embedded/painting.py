"""Cards on a terminal: rich where colours are wanted, the same words where they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from persona_host.embedded.screen import shown

if TYPE_CHECKING:
    from rich.console import Console

    from persona_hooks.cards import Card, Level

# The sign says what the colour says: colour is never the only carrier of meaning.
SIGNS: dict[Level, tuple[str, str]] = {
    "info": ("", "bold"),
    "success": ("✓ ", "bold green"),
    "warning": ("! ", "bold yellow"),
    "error": ("✗ ", "bold red"),
}


def paint(console: Console, card: Card, *, whole: bool = False) -> None:
    """Print a card at the console's width; ``whole`` prints every line, wrapped."""
    title, *rest = shown(card, console.width - 2, whole=whole)
    sign, style = SIGNS[card.level]
    console.print(Text(f"{sign}{title}", style=style))
    hint = rest.pop() if card.hint else None
    for line in rest:
        console.print(Text(line))
    if hint is not None:
        console.print(Text(hint, style="dim"))


def console_for(*, plain: bool, stderr: bool = False) -> Console:
    """Return a console that honours ``NO_COLOR`` and ``--plain``, and takes nothing in a text for markup."""
    from rich.console import Console  # noqa: PLC0415 - not for JSON output

    return Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        no_color=True if plain else None,
        force_terminal=False if plain else None,
    )
