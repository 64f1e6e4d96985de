"""From words to a moment: "in 2 days", "tomorrow at 9", "domani alle 14:30", "5 March", "freitag um 10".

A day or a time that could be meant in two ways is refused, since a reminder at the wrong moment is worse than a
question. Hours count from 0 to 24 unless am, pm or a part of the day says otherwise; a day without a time means nine in
the morning; a weekday is the next one after today; a time without a day is the next such time.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_mind.kernel.clock import parse
from persona_mind.kernel.time_words import FILLERS, MONTHS, NUMBERS, PARTS, PHRASES, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

MAX_SECONDS: Final = 3_155_760_000.0
"""A hundred years: nothing further away is meant."""
MAX_WORDS: Final = 120
_NO_TIME: Final = phrase("this names no time")
FORMS: Final = phrase(
    'seconds from now, a time with its zone such as 2026-03-05T09:00:00Z, or words such as "in 2 days", '
    '"tomorrow at 9", "friday at 14:30" or "5 March"'
)

_ELAPSED: Final = {"second": 1, "minute": 60, "hour": 3_600}
_DAYS: Final = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS: Final = {"month": 1, "year": 12, "an": 12}
_NUMBER: Final = rf"(?:\d+(?:\.\d+)?|{'|'.join(sorted((word for word in NUMBERS if word.isalpha()), key=len)[::-1])})"
_UNIT: Final = f"(?:{'|'.join([*_ELAPSED, *_DAYS, *_MONTHS])})"
_ARTICLE: Final = r"(?:(?:a|an|1) )?"
_QUANTITY: Final = re.compile(rf"{_ARTICLE}(?P<number>half {_ARTICLE}|{_NUMBER} )(?P<unit>{_UNIT})\b")
_SPAN: Final = re.compile(rf"(?:in )?{_QUANTITY.pattern}(?: (?:and )?{_NUMBER} {_UNIT})*(?: later)?")
_STEP: Final = re.compile(rf"{_ARTICLE}(?P<number>half {_ARTICLE}|{_NUMBER} )(?P<unit>{_UNIT})\b(?: and)?(?: later)?")

_AT: Final = r"\b(?:at|a|hour)"
_CLOCK: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?:{_AT} )?\b(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}))?(?: (?P<half>am|pm|uhr))?\b",
        rf"{_AT} (?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})(?: (?P<half>am|pm|uhr))?\b",
        rf"(?:{_AT} )?\b(?P<hour>\d{{1,2}}) (?P<half>am|pm)\b",
        rf"(?:{_AT} )?\b(?P<hour>\d{{1,2}}) uhr(?: (?P<minute>\d{{2}}))?\b",
        r"(?:\b(?:at|a) )?\b(?P<hour>\d{1,2}) hour(?: (?P<minute>\d{2}))?\b",
        rf"{_AT} (?P<hour>\d{{1,2}})\b(?! (?:{'|'.join(MONTHS)}))",
    )
)
_PART: Final = re.compile(rf"(?:\b(?:at|a|in)(?: the)? )?\b(?P<part>{'|'.join(PARTS)})\b")
_MONTH_DAY: Final = re.compile(
    rf"(?P<day>\d{{1,2}}) (?:(?:of|de|di) )?(?P<month>{'|'.join(MONTHS)})(?: (?:(?:of|de|del) )?(?P<year>\d{{4}}))?"
)
_DAY_MONTH: Final = re.compile(rf"(?P<month>{'|'.join(MONTHS)}) (?P<day>\d{{1,2}})(?: (?P<year>\d{{4}}))?")
_DATES: Final = (
    _MONTH_DAY,
    _DAY_MONTH,
    re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"),
    re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?"),
)
_SLASHED: Final = re.compile(r"(?P<one>\d{1,2})/(?P<other>\d{1,2})(?:/(?P<year>\d{4}))?")


class _Clock(NamedTuple):
    """A time of day, and whether it is only a part of the day."""

    at: time
    rest: str


class _Words:
    """One reading of words: what they are read against, and how its refusals name them."""

    def __init__(self, now: datetime, zone: tzinfo | None, field: str) -> None:
        self.now = now
        self.zone = zone
        self.field = field
        self.local = now.astimezone(zone).replace(tzinfo=None)

    def read(self, text: str) -> datetime:
        """Return the moment that canonical words name, which may lie in the past."""
        if _SPAN.fullmatch(text):
            return self._span(text)
        clock = self._clock(text)
        at, rest = (clock.at, clock.rest) if clock else (None, text)
        words = [word for word in rest.split() if word not in FILLERS]
        # "by friday" and "am 5. März um 9" leave a preposition behind.
        day = " ".join(words[1:] if words[:1] == ["at"] else words)
        if not day:
            return self._next(at)
        if at is not None and (_SPAN.fullmatch(day) and not _unit_of(day, _ELAPSED)):
            return self._at(self._span(day).astimezone(self.zone).date(), at)
        return self._at(self._day(day, at), at or time(PARTS["morning"]))

    def _span(self, text: str) -> datetime:
        """Return now and a stretch of time: days by the calendar, hours by the clock."""
        local, elapsed = self.local, 0.0
        rest = text.removeprefix("in ")
        while rest:
            match = _STEP.match(rest)
            if match is None:
                raise self.unclear()
            word = match["number"].split()[0]
            number, unit = NUMBERS.get(word) or float(word), match["unit"]
            rest = rest[match.end() :].strip()
            if unit in _ELAPSED or number != int(number):
                if unit in _MONTHS:
                    raise self.unclear()
                elapsed += number * (_ELAPSED.get(unit) or _DAYS[unit] * 86_400)
            elif unit in _DAYS:
                local += timedelta(days=min(number * _DAYS[unit], 40_000))
            else:
                local = _months_later(local, int(min(number, 1_300)) * _MONTHS[unit])
        if elapsed > MAX_SECONDS:
            raise self.far()
        if not elapsed and local == self.local:
            raise self.unclear("that is no time from now")
        # Unmoved, it must not go through the clock on the wall, which shows some hours twice.
        start = self.now if local == self.local else self._instant(local)
        return start + timedelta(seconds=elapsed)

    def _clock(self, text: str) -> _Clock | None:
        """Return the time of day in a text, and the text without it."""
        found = next((match for form in _CLOCK if (match := form.search(text))), None)
        rest = text if found is None else f"{text[: found.start()]} {text[found.end() :]}"
        part = _PART.search(rest)
        if part is not None:
            rest = f"{rest[: part.start()]} {rest[part.end() :]}"
        if found is None:
            return None if part is None else _Clock(time(PARTS[part["part"]]), rest)
        given = found.groupdict()
        hour = self._hour(int(given["hour"]), given.get("half"), part["part"] if part else None)
        try:
            return _Clock(time(hour, int(given.get("minute") or 0), int(given.get("second") or 0)), rest)
        except ValueError:
            raise self.unclear() from None

    def _hour(self, hour: int, half: str | None, part: str | None) -> int:
        if half in {"am", "pm"}:
            if not 1 <= hour <= 12:
                raise self.unclear()
            return hour % 12 + (12 if half == "pm" else 0)
        late = part in {"afternoon", "evening"}
        return hour + 12 if late and 1 <= hour < 12 else hour

    def _day(self, day: str, at: time | None) -> date:
        today = self.local.date()
        if day == "today":
            if at is None:
                raise self.unclear("say at what time today")
            return today
        if day in {"tomorrow", "overmorrow"}:
            return today + timedelta(days=1 if day == "tomorrow" else 2)
        if day in {"next week", "next month"}:
            return today + timedelta(days=7) if day == "next week" else _months_later(self.local, 1).date()
        if day in WEEKDAYS:
            return today + timedelta(days=(WEEKDAYS.index(day) - today.weekday() - 1) % 7 + 1)
        if day.replace("next", "").strip() in WEEKDAYS:
            raise self.unclear('"next" and a weekday can mean two days; name the date')
        return self._date(day, at)

    def _date(self, day: str, at: time | None) -> date:
        match = next((match for form in _DATES if (match := form.fullmatch(day))), None)
        parts: Mapping[str, str | None] = match.groupdict() if match else self._slashed(day)
        word = parts["month"] or ""
        month = MONTHS.index(word) + 1 if word in MONTHS else int(word)
        number = int(parts["day"] or 0)
        year = parts["year"]
        try:
            if year is not None:
                return date(int(year), month, number)
            return self._coming(month, number, at)
        except ValueError:
            raise self.unclear() from None

    def _coming(self, month: int, day: int, at: time | None) -> date:
        """Return the next such day of a year; the 29th of February may be years away."""
        first = self.local.year
        for year in range(first, first + 9):
            if day > monthrange(year, month)[1]:
                continue
            found = date(year, month, day)
            if datetime.combine(found, at or time(PARTS["morning"])) > self.local:
                return found
        raise self.unclear()

    def _slashed(self, day: str) -> dict[str, str | None]:
        match = _SLASHED.fullmatch(day)
        if match is None:
            raise self.unclear()
        one, other = int(match["one"]), int(match["other"])
        if one <= 12 and other <= 12 and one != other:
            raise self.unclear(phrase("a date with slashes can mean two days; name the month"))
        month, number = (one, other) if other > 12 else (other, one)
        return {"month": str(month), "day": str(number), "year": match["year"]}

    def _next(self, at: time | None) -> datetime:
        if at is None:
            raise self.unclear()
        today = self.local.date()
        found = self._at(today, at)
        return found if found > self.now else self._at(today + timedelta(days=1), at)

    def _at(self, day: date, at: time) -> datetime:
        return self._instant(datetime.combine(day, at))

    def _instant(self, local: datetime) -> datetime:
        """Return the moment that the clock on the wall shows ``local``."""
        return (local if self.zone is None else local.replace(tzinfo=self.zone)).astimezone(UTC)

    def unclear(self, why: str = _NO_TIME) -> InvalidError:
        """Return the refusal for words that are not understood; it does not repeat them."""
        return InvalidError(
            phrase("{field}: {why}. Give {forms}.", field=self.field, why=why, forms=FORMS),
            field=self.field,
            reason="unclear_time",
        )

    def far(self) -> InvalidError:
        """Return the refusal for a moment that is too far away."""
        return InvalidError(
            phrase("{field}: that is more than a hundred years away.", field=self.field),
            field=self.field,
            limit=int(MAX_SECONDS),
        )


def moment(given: float | str, now: datetime, *, zone: tzinfo | None = None, field: str = "due") -> datetime:
    """Return the moment that seconds, a time stamp or words name, in UTC.

    Args:
        given: Seconds from now; RFC 3339 with a zone; or words in English, Italian, German, French or Spanish. A text
            that is a number counts as seconds.
        now: From where they count, aware.
        zone: The person's time zone; this machine's without it.
        field: The argument that it came in, for the refusal.

    Raises:
        InvalidError: It names no moment, two moments, one that has passed or one more than a hundred years away. The
            text is not repeated.
    """
    words = _Words(now, zone, field)
    try:
        found = _moment(given, words)
    except OverflowError:
        raise words.far() from None
    if found < now:
        raise InvalidError(phrase("{field}: that moment has passed.", field=field), field=field, reason="past_time")
    if (found - now).total_seconds() > MAX_SECONDS:
        raise words.far()
    return found


def _moment(given: float | str, words: _Words) -> datetime:
    if isinstance(given, str):
        text = given.strip()
        if re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII) is None:
            if re.match(r"\d{4}-\d{2}-\d{2}T", text, re.ASCII | re.IGNORECASE):
                return _stamp(text, words)
            if not text or len(text) > MAX_WORDS:
                raise words.unclear()
            return words.read(canonical(text))
        given = float(text)
    if not 0 < given <= MAX_SECONDS:
        raise words.far() if given > 0 else words.unclear("seconds must be more than 0")
    return words.now + timedelta(milliseconds=round(given * 1000))


def _stamp(text: str, words: _Words) -> datetime:
    try:
        return parse(text)
    except InvalidError:
        raise words.unclear("a time stamp must be RFC 3339, with its zone, and exist") from None


def canonical(text: str) -> str:
    """Return words as the grammar knows them: small letters without accents, every known phrase as its one word."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    plain = re.sub(r"\b([ap])\. ?m\b\.?", r"\1m", plain)
    plain = re.sub(r"(?<=\d),(?=\d)", ".", plain)
    plain = re.sub(r"['’,!?-]+(?!\d)|,", " ", plain)
    plain = re.sub(r"\b(\d{1,2})(?:st|nd|rd|th|er|°|º|\.(?=\s))", r"\1", plain)
    plain = re.sub(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)", " ", plain)
    plain = re.sub(r"\.$", "", " ".join(plain.split()))
    return _phrases().sub(lambda match: PHRASES[match[0]], plain)


@lru_cache(maxsize=1)
def _phrases() -> re.Pattern[str]:
    longest = sorted(PHRASES, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b")


def _unit_of(text: str, units: Mapping[str, int]) -> bool:
    return any(match["unit"] in units for match in _QUANTITY.finditer(text))


def _months_later(local: datetime, months: int) -> datetime:
    """Return the same day some months later, or the month's last where it has fewer days."""
    year, month = divmod(local.month - 1 + months, 12)
    year += local.year
    if year > 9_999:
        raise OverflowError
    return local.replace(year=year, month=month + 1, day=min(local.day, monthrange(year, month + 1)[1]))
