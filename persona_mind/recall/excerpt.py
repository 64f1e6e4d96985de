"""Excerpts that do not change what a text says: no cut parts a negation from what it negates.

A negation may stand before or after what it negates, so the whole sentence belongs to it: a sentence with a negation
is shown whole or not at all. Only what follows a semicolon behind the last negation may be left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from persona_mind.recall.analyse import tokens
from persona_mind.recall.language import FUNCTION_WORDS, NEGATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

ELLIPSIS = "…"
"""Stands where something was left out, and counts in the limit."""
_LIST_ITEM = r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]"
_ENDS = re.compile(
    rf"(?<=[.!?])[\"'”’»)\]]*\s+(?=[^\sa-zà-ÿ])|(?<=[。！？])|\n\s*\n\s*|\n(?={_LIST_ITEM})"  # noqa: RUF001
)
_STARTS_ITEM = re.compile(_LIST_ITEM)
_ABBREVIATION = re.compile(
    r"\b(?:mrs?|ms|dr|prof|st|sig|dott|avv|ing|mme|hr|fr|vs|cf|ca|etc|ecc|usw|bzw|fig|vol|no|nr|approx|incl|\w|\w\.\w+)\.$",
    re.IGNORECASE,
)
"""Words whose full stop ends no sentence, initials and forms like ``e.g.`` among them."""
_SHORT = 3
"""A negated sentence of at most so many words ("Never.") speaks of its neighbours, and is not parted from them."""
_ALIKE = 5
"""Words count as the same for choosing a place when so many of their first letters are."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text.

    Attributes:
        text: What can be shown; empty when no part can be without changing what the text says.
        whole: Whether it is all of the text.
    """

    text: str
    whole: bool


class _Unit(NamedTuple):
    """A stretch of the text that no cut may enter when it is ``negated``."""

    start: int
    end: int
    negated: bool


def excerpt(text: str, limit: int, query: str = "") -> Excerpt:
    """Return at most ``limit`` characters of a text, ellipses included, whole sentences where possible.

    Args:
        text: What to show; white space around it is left out.
        limit: In characters (code points).
        query: Words to show the surroundings of; without any, the beginning is shown.
    """
    text = text.strip()
    if len(text) <= limit:
        return Excerpt(text, whole=True)
    units = _units(text)
    for anchor in _preferred(text, units, query):
        if shown := _around(text, units, anchor, limit):
            return Excerpt(shown, whole=False)
    return Excerpt("", whole=False)


def _units(text: str) -> list[_Unit]:
    """Split into sentences, then join those of which one speaks of the other."""
    units: list[_Unit] = []
    bound = False
    for start, end in _sentences(text):
        words = tokens(text[start:end])
        negated = not NEGATIONS.isdisjoint(words)
        item = _STARTS_ITEM.match(text, start) is not None
        curt = negated and len(words) <= _SHORT
        if units and (bound or curt or (item and _introduces(text, units[-1]))):
            last = units.pop()
            units.append(_Unit(last.start, end, last.negated or negated))
        else:
            units.append(_Unit(start, end, negated))
        bound = curt or text[start:end].endswith((":", ","))
    return units


def _introduces(text: str, unit: _Unit) -> bool:
    """Say whether a unit is a negation that a list goes on: ``Never do these:`` and the items so far."""
    lines = text[unit.start : unit.end].splitlines()
    return unit.negated and any(line.rstrip().endswith(":") for line in lines)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _ENDS.finditer(text):
        if gap.start() > start and not _ABBREVIATION.search(text, start, gap.start()):
            yield start, gap.start() + len(gap.group().rstrip())
            start = gap.end()
    if start < len(text):
        yield start, len(text)


def _preferred(text: str, units: Sequence[_Unit], query: str) -> list[int]:
    """Return the units in the order in which they are tried: by the words they share with the query, then place."""
    functional = frozenset().union(*FUNCTION_WORDS.values()) if query else frozenset()
    wanted = {word[:_ALIKE] for word in tokens(query)} - functional

    def strangeness(at: int) -> tuple[int, int]:
        heads = {word[:_ALIKE] for word in tokens(text[units[at].start : units[at].end])} if wanted else set()
        return -len(wanted & heads), at

    return sorted(range(len(units)), key=strangeness)


def _around(text: str, units: Sequence[_Unit], anchor: int, limit: int) -> str:
    """Show the anchor, and as many whole units behind and before it as fit."""
    first = last = anchor
    shown = _dress(text, units[anchor].start, units[anchor].end)
    if len(shown) > limit:
        return _part(text, units[anchor], limit)
    while True:
        if last + 1 < len(units) and len(wider := _dress(text, units[first].start, units[last + 1].end)) <= limit:
            shown, last = wider, last + 1
        elif first and len(wider := _dress(text, units[first - 1].start, units[last].end)) <= limit:
            shown, first = wider, first - 1
        else:
            return shown


def _dress(text: str, start: int, end: int) -> str:
    return (ELLIPSIS if start else "") + text[start:end] + (ELLIPSIS if end < len(text) else "")


def _part(text: str, unit: _Unit, limit: int) -> str:
    """Show the beginning of a unit that is too long, if its negations allow it."""
    room = limit - len(ELLIPSIS) - (len(ELLIPSIS) if unit.start else 0)
    least = unit.start + 1
    if unit.negated:
        safe = [at for at in _semicolons(text, unit) if not _negates(text[at : unit.end])]
        if not safe:
            return ""
        least = min(safe)
    end = _cut(text, unit.start, unit.start + room, least)
    # A word cut short may read as a negation that the text does not have ("not" of "notwithstanding").
    if not end or (not unit.negated and _negates(text[unit.start : end])):
        return ""
    return _dress(text, unit.start, end)


def _semicolons(text: str, unit: _Unit) -> list[int]:
    return [at + 1 for at in range(unit.start, unit.end) if text[at] in ";；"]  # noqa: RUF001


def _negates(text: str) -> bool:
    return not NEGATIONS.isdisjoint(tokens(text))


def _cut(text: str, start: int, most: int, least: int) -> int:
    """Return the last place from ``least`` to ``most`` to cut at: between words, else between graphemes, else 0."""
    # Imported late: only a text that is clipped inside a sentence needs the tables.
    from wcwidth import iter_graphemes  # noqa: PLC0415

    places: list[int] = []
    at = start
    for grapheme in iter_graphemes(text[start : most + 64]):
        if at > most:
            break
        places.append(at)
        at += len(grapheme)
    allowed = [place for place in places if least <= place <= most]
    between = [place for place in allowed if text[place].isspace() and not text[place - 1].isspace()]
    return _last(between) or _last(allowed)


def _last(places: Collection[int]) -> int:
    return max(places, default=0)
