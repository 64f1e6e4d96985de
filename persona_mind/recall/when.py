"""Times that a question names: a day, a month, a year, or one counted back from now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from persona_mind.recall.analyse import is_year
from persona_mind.recall.language import MONTHS, RELATIVE, TIME_PREPOSITIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

_AMBIGUOUS = frozenset({"may", "march", "mar", "mars", "jan", "sep", "mai"})
"""Names of months that are other words too: they need a preposition, a day or a year beside them."""
_ORDINALS = ("st", "nd", "rd", "th")
_BETWEEN = frozenset({"of", "de", "del", "di"})


class Window(NamedTuple):
    """A stretch of time, from ``start`` up to, not including, ``end``, in seconds since the epoch."""

    label: str
    start: float
    end: float


def window(words: Sequence[str], now: float | None) -> Window | None:
    """Return the first stretch of time that the words of a question name.

    Args:
        words: The question as :func:`analyse.tokens` splits it.
        now: The moment from which "last May" or "yesterday" is counted; without it only full dates are understood.
    """
    for at, word in enumerate(words):
        if word in MONTHS and (found := _month(words, at, now)):
            return found
        if is_year(word) and (found := _year(words, at)):
            return found
        if now is not None and (found := _relative(words, at, now)):
            return found
    return None


def _month(words: Sequence[str], at: int, now: float | None) -> Window | None:
    month = MONTHS[words[at]]
    before = words[at - 1] if at else ""
    behind = [word for word in words[at + 1 : at + 4] if word not in _BETWEEN][:2]
    if before in _BETWEEN and at > 1 and _day(words[at - 2]):
        before = words[at - 2]
    day = _day(before)
    if not day and behind and _day(behind[0]):
        day = _day(behind.pop(0))
    year = int(behind[0]) if behind and is_year(behind[0]) else None
    if words[at] in _AMBIGUOUS and not day and year is None and before not in TIME_PREPOSITIONS:
        return None
    if year is None:
        if now is None:
            return None
        today = datetime.fromtimestamp(now, UTC)
        year = today.year - ((month, day or 1) > (today.month, today.day))
    return _span(year, month, day)


def _year(words: Sequence[str], at: int) -> Window | None:
    """Read ``2023-05-08`` and ``2023-05``, and a year alone after a preposition."""
    numbers = [int(word) for word in words[at + 1 : at + 3] if len(word) == 2 and word.isdecimal()]
    if numbers and 1 <= numbers[0] <= 12:
        return _span(int(words[at]), numbers[0], numbers[1] if len(numbers) > 1 else 0)
    if at and words[at - 1] in TIME_PREPOSITIONS:
        return _span(int(words[at]), 0, 0)
    return None


def _relative(words: Sequence[str], at: int, now: float) -> Window | None:
    days = RELATIVE.get(words[at]) or RELATIVE.get(" ".join(words[at : at + 2]))
    if days is None:
        return None
    midnight = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start, end = midnight - timedelta(days=days[0]), midnight - timedelta(days=days[1])
    return Window(start.date().isoformat(), start.timestamp(), end.timestamp())


def _day(word: str) -> int:
    digits = word[:-2] if word.endswith(_ORDINALS) else word
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else 0


def _span(year: int, month: int, day: int) -> Window | None:
    """Return a day, a month (no day) or a year (neither); ``None`` for a day that no calendar has."""
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    if day:
        return Window(start.date().isoformat(), start.timestamp(), (start + timedelta(days=1)).timestamp())
    end = datetime(year + (month in {0, 12}), month % 12 + 1, 1, tzinfo=UTC)
    return Window(f"{year}-{month:02d}" if month else str(year), start.timestamp(), end.timestamp())
