"""Two copies of one item become one: whichever got further counts, since no item ever goes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_mind.backlog.model import MAX_STEPS, Item, State, Step, stepped
from persona_mind.backlog.transitions import free_id
from persona_mind.kernel import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from persona_mind.kernel.identity import Key
    from persona_store.document import Document, Row, Snapshot

_PROGRESS: Final[dict[State, int]] = {"open": 0, "taken": 1, "done": 2, "dropped": 2}
_TRAVELS: Final = (
    "state",
    "note",
    "note_origin",
    "due_at_epoch_ms",
    "reminded_due_epoch_ms",
    "reminded_at",
    "approvals",
)


def further(old: Item, new: Item) -> bool:
    """Return whether ``new`` has got further."""
    return _PROGRESS[new.state] > _PROGRESS[old.state]


def settled(old: Item, new: Item, now: datetime) -> Item:
    """Return the one item that two copies come to; ``old`` itself where the other one has not got further.

    The state travels with what it brought about, the note and the deadline; how long it lives stays.
    """
    if not further(old, new):
        return old
    kept = {name: getattr(new, name) for name in _TRAVELS}
    return old.model_copy(update={**kept, "history": new.history or stepped(old, new.state, now)})


def reconciled(old: Item, new: Item) -> Item | None:
    """Return the one item that two machines' versions come to; None where no rule tells.

    One whose history goes on from the other's is its later version. Where both went on, the one that got further
    counts, or else the one that changed last, and the history tells what happened to either; two that were closed in
    different ways are left to a person.
    """
    there, coming = _steps(old), _steps(new)
    if coming == there[: len(coming)] and not further(old, new):
        return old if old == new or len(coming) < len(there) or further(new, old) else None
    if there == coming[: len(there)] and not further(new, old):
        return new.model_copy(update={"id": old.id})
    one = _counting(old, new)
    if one is None:
        return None
    first, *rest = sorted({*there, *coming}, key=_when)
    return one.model_copy(update={"id": old.id, "history": (first, *rest[-(MAX_STEPS - 1) :])})


def _steps(item: Item) -> tuple[Step, ...]:
    return item.history or (Step(to="open", at=item.created_at),)


def _when(step: Step) -> datetime:
    return clock.parse(step.at)


def _counting(old: Item, new: Item) -> Item | None:
    if further(old, new) or further(new, old):
        return new if further(old, new) else old
    if (old.state, old.note) != (new.state, new.note):
        return None
    return new if _when(_steps(new)[-1]) > _when(_steps(old)[-1]) else old


class Places:
    """Where items stand in some rows: found by their words and owner, and by when where these were queued twice."""

    def __init__(self, rows: Sequence[Row[Item]]) -> None:
        self._found: dict[tuple[Key, str | None], dict[str, int]] = {}
        self._taken: set[int] = set()
        for at, row in enumerate(rows):
            if row.value is not None:
                self.add(row.value, at)

    def add(self, item: Item, at: int) -> None:
        """Note where an item stands."""
        self._found.setdefault((item.key, item.persona), {}).setdefault(item.created_at, at)

    def of(self, item: Item) -> int | None:
        """Return where its other copy stands, each copy being given out once for items of another time."""
        there = self._found.get((item.key, item.persona), {})
        at = there.get(item.created_at)
        if at is None and len(there) == 1:
            only = next(iter(there.values()))
            at = None if only in self._taken else only
        if at is not None:
            self._taken.add(at)
        return at


@dataclass
class Merge:
    """The change that takes rows of another backlog in; see ``facts.merge.Merge``.

    Attributes:
        document: The file.
        coming: What comes in; rows that cannot be read are added as they are, once.
        now: When.
        without: Returns the rows that were not erased; asked under the file's lock, since an erasure may have begun.
        erased: How many stayed out.
    """

    document: Document[Item]
    coming: Sequence[Row[Item]]
    now: datetime
    without: Callable[[Sequence[Row[Item]]], Sequence[Row[Item]]]
    added: int = field(init=False, default=0)
    renewed: int = field(init=False, default=0)
    erased: int = field(init=False, default=0)

    def __call__(self, snapshot: Snapshot[Item]) -> Sequence[Row[Item]]:
        """Return the rows of the next version; may be called again on a newer one."""
        self.added = self.renewed = 0
        rows, places = list(snapshot.rows), Places(snapshot.rows)
        raw = {row.raw for row in rows}
        coming = self.without(self.coming)
        self.erased = len(self.coming) - len(coming)
        for row in coming:
            at = None if row.value is None else places.of(row.value)
            if at is not None and row.value is not None:
                self._settle(rows, at, row.value)
            elif row.raw not in raw:
                rows.append(self._distinct(row, rows))
                raw.add(row.raw)
                self.added += 1
        return rows

    def _settle(self, rows: list[Row[Item]], at: int, new: Item) -> None:
        old = rows[at]
        if old.value is None:
            return
        item = settled(old.value, new, self.now)
        if item is not old.value:
            rows[at] = self.document.revise(old, item)
            self.renewed += 1

    def _distinct(self, row: Row[Item], rows: Sequence[Row[Item]]) -> Row[Item]:
        """Return the row under an id that no other row has."""
        if row.value is None or all(other.value is None or other.value.id != row.value.id for other in rows):
            return row
        return self.document.revise(row, row.value.model_copy(update={"id": free_id(row.value, rows)}))
