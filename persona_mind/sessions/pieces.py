"""Long turns in pieces: what is found in a long answer is the part that is about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 4_000
"""Characters of one piece; less than what admission judges at once."""

_BREAKS: Final = ("\n\n", "\n", ". ", " ")


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """Yield a text in pieces that end between paragraphs, lines, sentences or words, the first of these that serves.

    Nothing is lost but white space at the cuts; a word longer than a piece is cut.
    """
    rest = text.strip()
    while len(rest) > longest:
        cut = _cut(rest, longest)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _cut(text: str, longest: int) -> int:
    for mark in _BREAKS:
        at = text.rfind(mark, longest // 2, longest)
        if at >= 0:
            return at + len(mark)
    return longest
