"""One plain form of a text for rules to read, and the way back to where it stood in the original.

Folding undoes what hides a phrase from a rule but not from a reader: letter case, accents, full-width and
typeface letters, Cyrillic and Greek look-alikes, digits for letters, invisible characters, line breaks. The
folded form is never stored or shown.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from persona_store.confusables import LOOK_ALIKES
from persona_store.hidden import IGNORABLE
from persona_store.patterns import Pattern

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


class _Folds(dict[int, str]):
    """What each character becomes, computed when first met; bounded, since texts are chosen by strangers."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _TABLE_SIZE:
            self.clear()
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if _IGNORED.re.match(character):
        return ""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(LOOK_ALIKES)


_FOLDS: Final = _Folds()


def fold(text: str) -> str:
    """Return the folded form of a text."""
    return text.translate(_FOLDS)


def original_offset(text: str, folded_offset: int) -> int:
    """Return the offset in a text of the character that stands at an offset of its folded form."""
    lengths = list(accumulate(len(_FOLDS[ord(character)]) for character in text))
    return bisect_right(lengths, folded_offset)


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
    at = [0, *accumulate(len(word) + 1 for word in words)]
    return Words(" ".join(words) + " ", words, at, origin)
