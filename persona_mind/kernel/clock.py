"""Times as they stand in files (RFC 3339, UTC, milliseconds) and as people read them (whole days).

A label changes at most once a day, so that the text a model reads stays the same from one turn to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase

Now = Callable[[], datetime]
"""Returns the wall clock's time, aware; a test passes its own."""

DAY: Final = timedelta(days=1)

_RFC3339: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


@lru_cache(maxsize=256)
def parse(text: str) -> datetime:
    """Return the moment that ``text`` names, in UTC.

    Args:
        text: RFC 3339 with a zone: ``2026-03-01T09:30:00.000Z`` or with an offset such as ``+02:00``.

    Raises:
        InvalidError: It is not of that form, or names no real moment. The text is not repeated.
    """
    if _RFC3339.fullmatch(text):
        try:
            return datetime.fromisoformat(_microseconds(text.upper())).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise InvalidError(phrase("A time must be RFC 3339 with a zone, such as 2026-03-01T09:30:00.000Z."), field="time")


def format(moment: datetime) -> str:  # noqa: A001 - read as clock.format, beside clock.parse
    """Return ``moment``, which must be aware, as it stands in files: UTC, milliseconds, ``Z``."""
    if moment.tzinfo is None:
        raise InvalidError(phrase("A time needs a zone."), field="time")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_milliseconds(number: float) -> str | None:
    """Return the moment ``number`` milliseconds after 1970 as it stands in files; None where no calendar reaches it."""
    try:
        return format(datetime.fromtimestamp(number / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def age(then: datetime, now: datetime) -> str:
    """Return how long ago ``then`` was, in whole days or more: ``today``, ``3d``, ``5w``, ``4mo``, ``2y``.

    What lies in the future counts as today.
    """
    days = (now - then) // DAY
    if days < 1:
        return "today"
    if days < 14:
        return f"{days}d"
    if days < 60:
        return f"{days // 7}w"
    if days < 365:
        return f"{days // 30}mo"
    return f"{days // 365}y"


def _microseconds(text: str) -> str:
    """Cut a fraction of a second to the six digits that a ``datetime`` holds."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)
