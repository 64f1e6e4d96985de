"""Credentials in a text as it was given, and in the forms that a reader would see through.

A credential is looked for in the text itself, in its plain letters (widths, typefaces, accents and foreign
scripts undone), in what its decoded layers say, and across the breaks that part a token.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from persona_store.folding import PLAIN
from persona_store.patterns import Pattern
from persona_store.secret_speech import first_spoken_secret
from persona_store.secrets_table import Secret, awake, first_secret

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    from persona_store.layers import Layer
    from persona_store.secrets_table import SecretFormat

# Two literals put together, or white space before a piece that no prose has: a digit or a capital inside.
_BREAK: Final = Pattern(
    r"(?P<quotes>(?<=[A-Za-z0-9_-])[\"'`]\s{0,4}[+.&\\]?\s{0,8}[\"'`](?=[A-Za-z0-9_.-]))"
    r"|(?<=[A-Za-z0-9_.-])[ \t]{0,4}\\?\s{1,12}(?=[A-Za-z_+/=.-]{0,32}(?:[0-9]|(?<=[a-z])[A-Z]))"
    r"(?=(?P<piece>[\w+/=.-]{2,256}))"
)
_PIECE_REACH: Final = 64
_PIECE_BEFORE: Final = Pattern(r"[A-Za-z0-9_.-]{1,64}$")
_PREFIX: Final = Pattern(r"(?:[a-z]{2,12}[_-]|AKIA|ASIA|AIza|eyJ|LTAI|AKID)")


def first_credential(text: str, layers: Iterable[Layer]) -> Secret | None:
    """Return the first credential in a text or in any form of it, or None.

    Args:
        text: The text as it was given.
        layers: Its decoded passages.
    """
    rows = awake(text)
    found = first_secret(text, rows) or first_spoken_secret(text) or _first_in_plain_letters(text)
    found = found or _first_across_breaks(text, [row for row in rows if row.is_distinct])
    if found is not None:
        return found
    for layer in layers:
        found = _first(layer.text) or _first_in_plain_letters(layer.text)
        if found is not None:
            return Secret(f"{found.rule}.{layer.how}", layer.offset)
    return None


def _first(text: str) -> Secret | None:
    return first_secret(text) or first_spoken_secret(text)


def _first_in_plain_letters(text: str) -> Secret | None:
    if text.isascii():
        return None
    plain = PLAIN.of(text)
    found = _first(plain) if plain != text else None
    return Secret(found.rule, PLAIN.origin(text, found.offset)) if found is not None else None


def _first_across_breaks(text: str, rows: list[SecretFormat]) -> Secret | None:
    if not rows:
        return None
    joined: list[str] = []
    starts: list[tuple[int, int]] = []
    end = length = 0
    for gap in _BREAK.re.finditer(text):
        if gap["quotes"] or _parts_a_token(text, gap):
            joined.append(text[end : gap.start()])
            length += gap.start() - end
            end = gap.end()
            starts.append((length, end))
    found = first_secret("".join([*joined, text[end:]]), rows) if starts else None
    if found is None:
        return None
    before = [(at, origin) for at, origin in starts if at <= found.offset]
    at, origin = before[-1] if before else (0, 0)
    return Secret(f"{found.rule}.broken", origin + found.offset - at)


def _parts_a_token(text: str, gap: re.Match[str]) -> bool:
    piece = _PIECE_BEFORE.re.search(text, max(0, gap.start() - _PIECE_REACH), gap.start())
    return piece is not None and _is_machine_made(gap["piece"]) and _may_begin_a_token(piece[0])


def _may_begin_a_token(piece: str) -> bool:
    return _PREFIX.re.match(piece) is not None or _is_machine_made(piece)


def _is_machine_made(piece: str) -> bool:
    """Return whether a piece mixes letters with digits or with capitals inside, as words do not."""
    if any(c.isdigit() for c in piece):
        return any(c.isalpha() for c in piece)
    return any(a.islower() and b.isupper() for a, b in pairwise(piece))
