"""From text to terms: words are split, told by language, stripped of function words and stemmed."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple, Protocol

from persona_hooks.errors import InvalidError
from persona_mind.recall.language import FUNCTION_WORDS, LANGUAGES, NEGATIONS, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Marks belong to the letter before them: without these a Hindi or Thai word falls apart at every vowel sign.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd"
_MARKS += "\u0b82\u0bbe-\u0bcd\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u1dc0-\u1dff\u20d0-\u20ff"
_WORD = re.compile(r"[^\W_]+", re.ASCII)
_WORD_OF_ANY_SCRIPT = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b", re.ASCII)
_STEMS_KEPT = 50_000
_FALLBACK = "english"


class Stemmer(Protocol):
    """What is used of PyStemmer."""

    def stemWord(self, word: str) -> str:  # noqa: N802  the library's name
        """Return the stem of a lower-case word."""
        ...


class Analysis(NamedTuple):
    """What a text comes down to.

    Attributes:
        terms: Stems of its words in their order, function words left out.
        language: The language it was stemmed as.
        negated: Whether it denies or forbids something.
        asks: Whether it asks something.
        timed: Whether it tells a time, such as ``yesterday``, ``in June`` or ``2023``.
    """

    terms: tuple[str, ...]
    language: str
    negated: bool
    asks: bool
    timed: bool


def tokens(text: str) -> list[str]:
    """Return the words of a text in their order: lower case, ``snake_case`` and ``camelCase`` taken apart.

    Scripts written without spaces give overlapping pairs of characters instead.
    """
    if text.isascii():
        return _WORD.findall(_HUMP.sub(" ", text).lower())
    words = _WORD_OF_ANY_SCRIPT.findall(_HUMP.sub(" ", unicodedata.normalize("NFKC", text)).lower())
    if _UNSPACED.search(text):
        return [piece for word in words for piece in _pieces(word)]
    return words


def only_signs(query: str) -> bool:
    """Return whether somebody asks for something in which there is no word to look for: ``!!!``, a picture.

    An index answers that like no question at all, with the newest; whoever typed it would take those for found.
    """
    return bool(query.strip()) and not tokens(query)


def _pieces(word: str) -> Iterable[str]:
    """Cut runs of an unspaced script into pairs, and leave what stands between them whole."""
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        chars = run.group()
        yield from ((chars[i : i + 2] for i in range(len(chars) - 1)) if len(chars) > 1 else chars)
        end = run.end()
    if end < len(word):
        yield word[end:]


def is_year(word: str) -> bool:
    """Say whether a word could be a year that people speak of: 1900 to 2099."""
    return len(word) == 4 and word.isdecimal() and word[:2] in {"19", "20"}


def language_of(distinct: frozenset[str], default: str = _FALLBACK, among: Iterable[str] = LANGUAGES) -> str:
    """Return the language that most of the distinct words are function words of.

    The default stands unless another language has two such words at least, and more than every other: one alone
    may be a name or a term (``CI`` is no Italian).
    """
    best, most, tied = default, len(distinct & FUNCTION_WORDS[default]), False
    for name in among:
        count = len(distinct & FUNCTION_WORDS[name]) if name != default else 0
        if count > max(most, 1):
            best, most, tied = name, count, False
        elif count == most and best != default:
            tied = True
    return default if tied else best


class Analyser:
    """Turns texts into terms, remembering the stems of words it has met. Not thread-safe, as Snowball is not.

    Args:
        default: The language of texts that do not show theirs, one of ``language.LANGUAGES``.

    Raises:
        InvalidError: The default is no such language.
    """

    def __init__(self, default: str = _FALLBACK) -> None:
        if default not in LANGUAGES:
            raise InvalidError(
                f"A language must be one of {', '.join(LANGUAGES)}.", field="language", allowed=list(LANGUAGES)
            )
        self.default = default
        self._stems: dict[str, dict[str, str]] = {}
        self._stemmers: dict[str, Stemmer] = {}

    def analyse(self, text: str) -> Analysis:
        """Return the terms of a text to be indexed, and what kind of sentence it is."""
        words = tokens(text)
        distinct = frozenset(words)
        language = language_of(distinct, self.default)
        return Analysis(
            tuple(self.stems(words, language)),
            language,
            negated=not NEGATIONS.isdisjoint(distinct),
            asks="?" in text or "？" in text,  # noqa: RUF001  the full-width mark is meant
            timed=not TIMES.isdisjoint(distinct) or _YEAR.search(text) is not None,
        )

    def labels(self, tags: Sequence[str]) -> tuple[str, ...]:
        """Return the distinct stems of tags."""
        if not tags:
            return ()
        return tuple(dict.fromkeys(self.stems([word for tag in tags for word in tokens(tag)], self.default)))

    def stems(self, words: Sequence[str], language: str) -> list[str]:
        """Return the stems of the words that are no function words of the language."""
        known = self._stems.get(language)
        if known is None or len(known) > _STEMS_KEPT:
            known = self._stems[language] = dict.fromkeys(FUNCTION_WORDS[language], "")
        stems = []
        for word in words:
            stem = known.get(word)
            if stem is None:
                stem = known[word] = _fold(self._stemmer(language).stemWord(word))
            if stem:
                stems.append(stem)
        return stems

    def _stemmer(self, language: str) -> Stemmer:
        stemmer = self._stemmers.get(language)
        if stemmer is None:
            # Imported late: a command that recalls nothing must not pay for the extension module.
            import Stemmer as snowball  # noqa: N813, PLC0415

            stemmer = self._stemmers[language] = snowball.Stemmer(language, 0)
        return stemmer

    def forget(self, text: str) -> None:
        """Drop the remembered stems of the words of a text that is no longer held."""
        for word in tokens(text):
            for known in self._stems.values():
                if known.get(word):
                    del known[word]


def _fold(stem: str) -> str:
    """Strip the accents that people leave out when they type; done after stemming, which needs them."""
    if stem.isascii():
        return stem
    return "".join(c for c in unicodedata.normalize("NFKD", stem) if not unicodedata.combining(c))
