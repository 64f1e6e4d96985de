"""The parameters of the ``backlog`` verbs: the only place where they are described and checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_hooks.verbs import Params, Place
from persona_mind.backlog.model import MAX_NOTE, State
from persona_mind.kernel.rowfields import MAX_ID, MAX_TAG, MAX_TAGS, MAX_TEXT

if TYPE_CHECKING:
    from datetime import datetime

MAX_ITEMS: Final = 50
DEFAULT_ITEMS: Final = 20
MAX_TTL_HOURS: Final = 876_600.0
MAX_DUE: Final = 128
SNOOZE_SECONDS: Final = 3_600.0

DUE_HELP: Final = (
    "When to remind: seconds from now, RFC 3339 with a zone, or words such as 'in 2 days', 'tomorrow at 9' or "
    "'5 March at 14:30' (also Italian, German, French, Spanish), in the person's time zone."
)

ItemId = Annotated[str, Place.WORD, Field(min_length=1, max_length=MAX_ID, description="The item's id.")]
Note = Annotated[str | None, Place.REST, Field(max_length=MAX_NOTE, description="What came of it, or why.")]
DueWords = Annotated[str, Field(max_length=MAX_DUE)]
DueSeconds = Annotated[float | None, Field(gt=0, description="The older form of due: seconds from now.")]


class Add(Params):
    """Queue what is to be done later in this project, with a reminder if wanted."""

    text: Annotated[
        str, Place.REST, Field(min_length=1, max_length=MAX_TEXT, description="What is to be done, in itself clear.")
    ]
    tags: Annotated[
        tuple[Annotated[str, Field(max_length=MAX_TAG)], ...],
        Field(max_length=MAX_TAGS, description="Words to find it by; part of what makes it this item."),
    ] = ()
    due: Annotated[float | DueWords | None, Field(description=DUE_HELP)] = None
    due_in_seconds: DueSeconds = None
    ttl_hours: Annotated[
        float | None,
        Field(
            gt=0, le=MAX_TTL_HOURS, description="Hours until it expires; 48 without it. A later reminder extends it."
        ),
    ] = None
    again: Annotated[bool, Field(description="Queue it anew although the same was taken, done or dropped before.")] = (
        False
    )
    insist: Annotated[bool, Field(description="Take it in although it was erased for good; a person's to say.")] = False


class List(Params):
    """List the backlog of this project: what was taken, then what is open, the most urgent first."""

    state: Annotated[State | None, Field(description="Only this state; open and taken without it.")] = None
    all: Annotated[bool, Field(description="All personas' items, not only this one's.")] = False
    max: Annotated[float | None, Field(allow_inf_nan=True, description="How many at most, 1 to 50; 20 without it.")] = (
        None
    )
    id: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_ID, description="This item alone, whole, with what happened to it."),
    ] = None


class Take(Params):
    """Take an item, so that others see that it is worked on; shows it whole."""

    id: ItemId


class Done(Params):
    """Note that an item is done."""

    id: ItemId
    note: Note = None


class Drop(Params):
    """Note that an item will not be done."""

    id: ItemId
    note: Note = None


class Snooze(Params):
    """Remind of an item later: in an hour, or when it is said."""

    id: ItemId
    due: Annotated[float | DueWords | None, Place.REST, Field(description=DUE_HELP)] = None
    due_in_seconds: DueSeconds = None


def deadline(due: float | str | None, due_in_seconds: float | None, now: datetime) -> datetime | None:
    """Return the moment that a verb's parameters name, if they name one.

    Raises:
        InvalidError: Both forms are given, or the one given names no moment to come.
    """
    if due is not None and due_in_seconds is not None:
        raise InvalidError(phrase("due and dueInSeconds are two forms of one; give one of them."), field="due")
    given = due if due_in_seconds is None else due_in_seconds
    if given is None:
        return None
    # The words of five languages are for those who use them.
    from persona_mind.kernel.spoken_time import moment  # noqa: PLC0415

    return moment(given, now, field="due" if due_in_seconds is None else "dueInSeconds")


def limit(number: float | None) -> int:
    """Return how many items are asked for: floored and kept in 1 to 50; 20 where nothing useful is said."""
    if number is None or math.isnan(number):
        return DEFAULT_ITEMS
    return MAX_ITEMS if number >= MAX_ITEMS else max(1, math.floor(max(number, 1.0)))
