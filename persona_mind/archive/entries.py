"""An entry of another program's memory, as plain data, before anybody judges it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from persona_mind.kernel import clock

if TYPE_CHECKING:
    from persona_mind.kernel.kinds import Kind

TELLING: Final = re.compile(r"memor|mem0", re.IGNORECASE)
"""What a file is called that holds memories, whatever it looks like."""
_MILLISECONDS: Final = 1e11
"""Seconds since 1970 beyond this lie past the year 5000, so such a number counts milliseconds."""

KINDS: Final[dict[str, Kind]] = {
    "preference": "preference",
    "preferences": "preference",
    "convention": "convention",
    "rule": "convention",
    "style": "convention",
    "feedback": "convention",
    "invariant": "invariant",
    "requirement": "invariant",
    "constraint": "invariant",
    "gotcha": "gotcha",
    "pitfall": "gotcha",
    "warning": "gotcha",
    "bug": "gotcha",
    "decision": "rationale",
    "rationale": "rationale",
    "reason": "rationale",
}
"""Words by which other programs sort memories. None becomes an objective: what drives all work a person says here."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory of another program.

    Attributes:
        where: Where it stands in its source.
        at: When it was recorded, and last; None where the source does not say.
        source: What it comes from, within the file.
    """

    where: str
    text: str
    kind: Kind = "note"
    tags: tuple[str, ...] = ()
    at: datetime | None = None
    seen: datetime | None = None
    source: str = ""


@dataclass(slots=True)
class Read:
    """What a file holds.

    Attributes:
        format: What it was taken for.
        bad: Entries that cannot be read: where, and why.
        skipped: Entries that are no memories, or were turned off.
    """

    format: str
    entries: list[Entry] = field(default_factory=list)
    bad: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0


def kind_of(word: object) -> Kind:
    """Return the kind that another program's word comes to."""
    return KINDS.get(word.strip().lower(), "note") if isinstance(word, str) else "note"


def moment(value: object) -> datetime | None:
    """Return a moment from an ISO text, or from a number of seconds or milliseconds; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        elif math.isfinite(value):
            aware = datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        else:
            return None
        return clock.parse(clock.format(aware))
    except (ValueError, OverflowError, OSError):
        return None
