"""A backlog item: a pure value, as it stands in a file, with what moved it from state to state."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from persona_mind.kernel import clock
from persona_mind.kernel.approvals import RowApprovals
from persona_mind.kernel.identity import Key, handles, key
from persona_mind.kernel.rowfields import (
    LIFE_HOURS,
    ROW,
    UNKNOWN_ORIGIN,
    Moment,
    RowId,
    RowOrigin,
    RowPersona,
    RowTags,
    RowText,
)

State = Literal["open", "taken", "done", "dropped"]
Happened = Literal["open", "taken", "done", "dropped", "refreshed", "snoozed", "reminded"]

ACTIVE: Final[tuple[State, ...]] = ("open", "taken")
KIND: Final = "backlog"
"""What stands in an item's identity where a fact has its kind."""

MAX_NOTE: Final = 1_024
MAX_STEPS: Final = 32
AFTER_REMINDER: Final = timedelta(days=1)
"""How long an item that lived until its reminder is kept for whoever was reminded."""

Milliseconds = Annotated[int | float, Field(allow_inf_nan=False)]


class Step(BaseModel):
    """One thing that happened to an item.

    Attributes:
        to: The state it came to, or what happened within a state.
        at: When.
        due_at_epoch_ms: The deadline that was set, or reminded of.
    """

    model_config = ROW

    to: Happened
    at: Moment
    due_at_epoch_ms: Milliseconds | None = None


class Item(BaseModel):
    """One thing to be done later.

    Attributes:
        id: Its handle, unique in its file.
        persona: The segment of the persona that it belongs to; None on rows that belong to nobody.
        due_at_epoch_ms: When to remind of it; None once that was done.
        expires_at: When it ends; rows without it end two days after they were made.
        note: What was said when it was closed.
        origin: Who brought the words; None on rows of another program.
        note_origin: Who brought the note.
        approvals: What a person approved of it, where a stranger's words needed that.
        reminded_due_epoch_ms: The last deadline that was reminded of.
        reminded_at: When that was shown.
        history: What happened to it, oldest first: its beginning, and the newest ``MAX_STEPS - 1`` steps.
    """

    model_config = ROW

    id: RowId
    text: RowText
    state: State
    tags: RowTags = ()
    persona: RowPersona | None = None
    created_at: Moment
    due_at_epoch_ms: Milliseconds | None = None
    expires_at: Moment | None = None
    note: Annotated[str, Field(max_length=MAX_NOTE)] | None = None
    origin: RowOrigin | None = None
    note_origin: RowOrigin | None = None
    approvals: RowApprovals | None = None
    reminded_due_epoch_ms: Milliseconds | None = None
    reminded_at: Moment | None = None
    history: tuple[Step, ...] | None = None

    @cached_property
    def key(self) -> Key:
        """What makes it this item: its words and tags, whatever became of it."""
        return key(KIND, self.text, self.tags)

    @cached_property
    def handles(self) -> frozenset[str]:
        """Every id that it answers to."""
        return handles(self.key, self.id)

    @cached_property
    def created(self) -> datetime:
        """When it was queued."""
        return clock.parse(self.created_at)

    @cached_property
    def expires(self) -> datetime:
        """When it ends if nobody has still to be reminded of it."""
        if self.expires_at is not None:
            return clock.parse(self.expires_at)
        return self.created + timedelta(hours=LIFE_HOURS)

    @property
    def brought_by(self) -> RowOrigin:
        """The origin that it is judged by when it is shown."""
        return self.origin or UNKNOWN_ORIGIN

    @property
    def active(self) -> bool:
        """Whether it is still to be done."""
        return self.state in ACTIVE

    @property
    def awaits(self) -> float | None:
        """The deadline that nobody was reminded of yet, in milliseconds since the epoch."""
        return self.due_at_epoch_ms if self.active else None

    @property
    def deadline(self) -> float | None:
        """The deadline it has or had, in milliseconds since the epoch."""
        return self.reminded_due_epoch_ms if self.due_at_epoch_ms is None else self.due_at_epoch_ms

    @cached_property
    def closed(self) -> datetime:
        """When it was done or dropped; when it was queued, where that is not known."""
        last = next((step for step in reversed(self.history or ()) if step.to in {"done", "dropped"}), None)
        return self.created if last is None else clock.parse(last.at)

    def live(self, now: datetime) -> bool:
        """Return whether it still stands.

        What has expired is gone, in any state: but not before its reminder was shown, and where it lived for that
        reminder alone, not before whoever was reminded has had a day to act.
        """
        if now < self.expires or self.awaits is not None:
            return True
        if not self.active or self.reminded_at is None or self.reminded_due_epoch_ms is None:
            return False
        for_reminder = milliseconds(self.expires) <= self.reminded_due_epoch_ms
        return for_reminder and now < clock.parse(self.reminded_at) + AFTER_REMINDER


def milliseconds(moment: datetime) -> int:
    """Return a moment as it stands in ``dueAtEpochMs``."""
    return round(moment.timestamp() * 1000)


def stepped(item: Item, to: Happened, now: datetime, due: float | None = None) -> tuple[Step, ...]:
    """Return the item's history with one more step."""
    known = item.history or (Step(to="open", at=item.created_at),)
    step = Step(to=to, at=clock.format(now), due_at_epoch_ms=due)
    return (known[0], *known[1:][-(MAX_STEPS - 2) :], step)
