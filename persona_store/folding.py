"""One plain form of a text for rules to read, and the way back to where it stood in the original.

Folding undoes what hides a phrase from a rule but not from a reader: letter case, accents, full-width and
typeface letters, Cyrillic and Greek look-alikes, digits for letters, invisible characters, line breaks. The
folded form is never stored or shown.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_store.confusables import LOOK_ALIKES
from persona_store.hidden import IGNORABLE
from persona_store.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_IGNORED: Final = Pattern(f"[{IGNORABLE}\ufff9-\ufffb]")
_TABLE_SIZE: Final = 16_384
_SPECIAL: Final = {
    "\u2018": "'",
    "\u2019": "'",
    "\u02bc": "'",
    "\u0060": "'",
    "\u2028": "\n",
    "\u2029": "\n",
    "\r": "",
    "\u2800": " ",
    "\ufffc": " ",
}


_LOOK_ALIKES_OF_BOTH_CASES: Final = {
    **{ord(chr(code).upper()): plain.upper() for code, plain in LOOK_ALIKES.items() if len(chr(code).upper()) == 1},
    **LOOK_ALIKES,
}


class Form(dict[int, str]):
    """A form of text made character by character, so that every offset leads back to the original.

    What a character becomes is computed when it is first met; the table is bounded, since texts are chosen by
    strangers.
    """

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def __missing__(self, code: int) -> str:
        if len(self) >= _TABLE_SIZE:
            self.clear()
        changed = self[code] = self._change(chr(code))
        return changed

    def of(self, text: str) -> str:
        """Return a text in this form."""
        return text.translate(self)

    def origin(self, text: str, offset: int) -> int:
        """Return the offset in a text of the character that stands at an offset of its form."""
        lengths = list(accumulate(len(self[ord(character)]) for character in text))
        return min(bisect_right(lengths, offset), max(len(text) - 1, 0))


def _fold_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if _IGNORED.re.match(character):
        return ""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(LOOK_ALIKES)


def _plain_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character))
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_LOOK_ALIKES_OF_BOTH_CASES)


def _compatible_character(character: str) -> str:
    return unicodedata.normalize("NFKC", character)


FOLDED: Final = Form(_fold_character)
"""For phrases: no case, no accents, no look-alikes, nothing invisible."""

PLAIN: Final = Form(_plain_character)
"""For credentials: letters keep their case, and lose accents, widths, typefaces and foreign scripts."""

COMPATIBLE: Final = Form(_compatible_character)
"""For markup: full-width and typeface forms as plain ones, letters otherwise as they are."""


_TOKEN: Final = Pattern(
    r"(?P<url>https?://\S{1,512}|www\.\S{1,512})"
    r"|(?P<mail>[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,63})"
    r"|(?P<word>[^\W_]+(?:'(?:t|re|ve|ll|s|m|d)\b)?)"
    r"|(?P<colon>:)|(?P<stop>[.!?;]|\n[ \t]{0,8}\n)"
)
_LEET: Final = str.maketrans("013457", "oieast")
_MIXED: Final = Pattern(r"(?=[0-9]*[a-z])[a-z]*[0-9]")

STOP: Final = "."
COLON: Final = ":"
URL: Final = "\u00a7url"
MAIL: Final = "\u00a7mail"

_SIGNS: Final = {"stop": STOP, "colon": COLON, "url": URL, "mail": MAIL}


class Words(NamedTuple):
    """A folded text as words, each followed by one space.

    Sentence ends are the word ``.``, colons ``:``, addresses ``§url`` and ``§mail``.
    """

    line: str
    """All words joined; a pattern matches here."""
    words: list[str]
    at: list[int]
    """Where each word starts in ``line``."""
    origin: list[int]
    """Where each word starts in the folded text."""


def words_of(folded: str) -> Words:
    """Return the words of a folded text; digits inside a word are read as the letters they imitate."""
    words: list[str] = []
    origin: list[int] = []
    for match in _TOKEN.re.finditer(folded):
        kind, word = match.lastgroup, match[0]
        if kind != "word":
            word = _SIGNS[kind or "stop"]
        elif "'" in word:
            word = word.replace("'", "")
        elif not word.isalpha() and _MIXED.re.match(word):
            word = word.translate(_LEET)
        words.append(word)
        origin.append(match.start())
    words.append(STOP)
    origin.append(len(folded))
    at = [0, *accumulate(len(word) + 1 for word in words)]
    return Words(" ".join(words) + " ", words, at, origin)
