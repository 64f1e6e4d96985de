"""Finding a text again, whatever its capitals, its white space and the spelling of its accents.

In plain data, and in raw bytes that nobody may be able to parse: a torn document, a copy put aside, somebody's
transcript. What JSON escaped is undone first, also where one JSON text stands inside another.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from persona_store.tombstones import LONG_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FIELDS: Final = ("text", "note", "source")
"""The fields whose whole value a shorter text has to be: elsewhere it may be a kind, a state or somebody's tag."""

_VALUE: Final = re.compile(rf'"(?:{"|".join(_FIELDS)})" ?: ?" ?')
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_BETWEEN_PIECES: Final = re.compile(r'[\s\b"\\/]+')
"""What parts a text into pieces that stay whole however it was written, but for an escape by number."""
_NESTED: Final = 3
"""How often a text may have been made JSON of, and one time less than that it is undone."""
_STEP: Final = 1 << 20
_SLACK: Final = 1 << 12
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, "{".encode("utf-16-le"), "{".encode("utf-16-be"))
"""How a document begins that an editor saved as UTF-16."""
_RARELY: Final = 16
"""One byte in so many is zero at least in UTF-16 of another kind: that of each mark, space and plain letter."""
_LONGEST: Final = len(r"\\ud83d\\ude00")
"""Bytes that one character takes at most, in JSON inside of JSON."""


@dataclass(frozen=True)
class SameWords:
    """One text, to be found again.

    Attributes:
        plain: What it is compared by.
        pieces: What any text that holds it must hold, tried first since that takes a fraction of the time.
    """

    plain: str
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Prepare the search for a text."""
        plain = _plain(text)
        return cls(plain, tuple(filter(None, _BETWEEN_PIECES.split(plain))))

    def in_value(self, value: str, field: str) -> bool:
        """Whether it is in the value of a field; a short one is it."""
        value = _plain(value)
        return self.plain in value if len(self.plain) >= LONG_ENOUGH else value == self.plain and field in _FIELDS

    def in_plain(self, plain: str) -> bool:
        """Whether it is in plain text; a short one as the value of a field."""
        if len(self.plain) >= LONG_ENOUGH:
            return self.plain in plain
        # No pattern is made of the words themselves: the cache of `re` would keep them.
        ends = (f'{self.plain}"', f'{self.plain} "')
        return any(plain.startswith(ends, value.end()) for value in _VALUE.finditer(plain))

    def likely_in(self, folded: str) -> bool:
        """Whether all its pieces are in a text."""
        return all(piece in folded for piece in self.pieces)


def any_in_bytes(sought: Sequence[SameWords], data: bytes) -> bool:
    """Whether raw bytes hold one of several texts, as UTF-8, UTF-16 or JSON; short ones as a field's value."""
    longest = max((len(one.plain) for one in sought), default=0)
    return any(_in_window(sought, window) for window in _windows(data, longest * _LONGEST + _SLACK))


def _windows(data: bytes, overlap: int) -> Iterator[str]:
    """Yield a file piece by piece, in every way to read it: folded whole, a big one would take many times its size."""
    for start in range(0, len(data), _STEP):
        window = data[start : start + _STEP + overlap]
        yield window.decode("utf-8", "replace")
        if data.startswith(_UTF_16) or window.count(0) * _RARELY > len(window):
            yield window.decode("utf-16-le", "replace")
            yield window.decode("utf-16-be", "replace")


def _in_window(sought: Sequence[SameWords], text: str) -> bool:
    for _ in range(_NESTED):
        folded = _folded(text)
        likely = [one for one in sought if one.likely_in(folded)]
        if likely:
            plain = _spaced(folded)
            if any(one.in_plain(plain) for one in likely):
                return True
        if "\\" not in text or not (likely or "\\u" in text):
            return False
        text = _unescaped(text)
    return False


def _unescaped(text: str) -> str:
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _CONTROLS.get(found[2], found[2]), text)
    # Two halves of one character become one.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return _spaced(_folded(text))
