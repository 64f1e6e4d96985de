"""Pure changes to the rows of a backlog. Each runs under the file's lock, on the rows that stand there then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, RefusedError
from persona_hooks.speech import phrase
from persona_mind.backlog.handles import resolve
from persona_mind.backlog.model import ACTIVE, Item, State, Step, milliseconds, stepped
from persona_mind.kernel import clock
from persona_mind.kernel.approvals import approvals_of, joined
from persona_mind.kernel.identity import content_id
from persona_mind.kernel.wording import state_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from persona_store.admission import Admitted
    from persona_store.document import Document, Row, Snapshot

Pair = tuple[str, float]
"""An item's id and one of its deadlines."""

MAX_CLOSED: Final = 1_000


@dataclass
class Add:
    """The change that queues an item, or refreshes the open one that says the same.

    Attributes:
        document: The file.
        new: The item as it is said now; its id is settled here, so that no two rows share one.
        now: What has expired by now goes in the same step.
        again: Queue it anew beside one that was taken, done or dropped.
        result: The item as it stands afterwards.
        refreshed: Whether there was an open one.
    """

    document: Document[Item]
    new: Item
    now: datetime
    again: bool
    result: Item = field(init=False)
    refreshed: bool = field(init=False, default=False)

    def __call__(self, snapshot: Snapshot[Item]) -> Sequence[Row[Item]]:
        """Return the rows of the next version; may be called again on a newer one."""
        rows = _kept(snapshot.rows, self.now)
        self.result, self.refreshed = self.new, False
        same = [row for row in rows if row.value and self._is_same(row.value)]
        known = min(same, key=_standing, default=None)
        if known is not None and known.value is not None:
            if known.value.state == "open":
                row = self.document.revise(known, _said_again(known.value, self.new, self.now))
                self.result, self.refreshed = row.value or self.new, True
                return [row if old is known else old for old in rows]
            if not self.again:
                raise _closed(known.value.state)
        row = self.document.row(self.new.model_copy(update={"id": free_id(self.new, rows)}))
        self.result = row.value or self.new
        return [*rows, row]

    def _is_same(self, old: Item) -> bool:
        return old.key == self.new.key and old.persona == self.new.persona


@dataclass
class Move:
    """The change that moves one item to another state, or to another deadline.

    Attributes:
        document: The file.
        handle: The item's id.
        persona: The segment of whoever asks; only its own items and those of nobody are moved.
        to: Makes the item as it is afterwards, or raises.
        now: Expired items are not found.
        result: The item as it stands afterwards.
    """

    document: Document[Item]
    handle: str
    persona: str
    to: Callable[[Item], Item]
    now: datetime
    result: Item = field(init=False)

    def __call__(self, snapshot: Snapshot[Item]) -> Sequence[Row[Item]]:
        """Return the rows of the next version; may be called again on a newer one."""
        live = [row for row in snapshot.rows if row.value is not None and row.value.live(self.now)]
        old, item = resolve(live, self.handle, self.persona)
        # What a copy has worked out of its former fields is not to be relied on, so the item is read back.
        row = self.document.revise(old, self.to(item))
        self.result = row.value or item
        return [row if known is old else known for known in snapshot.rows]


def reminded(document: Document[Item], pairs: Collection[Pair], now: datetime) -> Callable[..., Sequence[Row[Item]]]:
    """Return the change that notes which deadlines were reminded of; one renewed meanwhile stays as it is."""

    def settled(row: Row[Item]) -> Row[Item]:
        item = row.value
        if item is None or item.due_at_epoch_ms is None or (item.id, item.due_at_epoch_ms) not in pairs:
            return row
        due = item.due_at_epoch_ms
        history = stepped(item, "reminded", now, due)
        update = {"due_at_epoch_ms": None, "reminded_due_epoch_ms": due, "reminded_at": clock.format(now)}
        return document.revise(row, item.model_copy(update={**update, "history": history}))

    return lambda snapshot: [settled(row) for row in snapshot.rows]


def sweep(now: datetime) -> Callable[[Snapshot[Item]], Sequence[Row[Item]]]:
    """Return the change that removes what has expired, and the oldest of what was closed."""
    return lambda snapshot: _kept(snapshot.rows, now)


def _kept(rows: Iterable[Row[Item]], now: datetime) -> list[Row[Item]]:
    live = [row for row in rows if row.value is None or row.value.live(now)]
    closed = [row.value for row in live if row.value is not None and not row.value.active]
    if len(closed) <= MAX_CLOSED:
        return live
    newest = sorted(closed, key=lambda item: (item.closed, item.id), reverse=True)[:MAX_CLOSED]
    kept = {id(item) for item in newest}
    return [row for row in live if row.value is None or row.value.active or id(row.value) in kept]


def _standing(row: Row[Item]) -> tuple[bool, bool, float]:
    """Order rows of one item: open, then taken, then the one queued last."""
    item = row.value
    if item is None:
        return True, True, 0.0
    return item.state != "open", item.state != "taken", -item.created.timestamp()


def _said_again(old: Item, new: Item, now: datetime) -> Item:
    """Return an open item said once more: its life is never shortened, its deadline changes only if one is given."""
    ends = new.expires_at if new.expires > old.expires else old.expires_at
    update: dict[str, object] = {"expires_at": ends, "history": stepped(old, "refreshed", now, new.due_at_epoch_ms)}
    update["approvals"] = joined(new.approvals, old.approvals)
    if new.due_at_epoch_ms is not None:
        update |= {"due_at_epoch_ms": new.due_at_epoch_ms, "reminded_due_epoch_ms": None, "reminded_at": None}
    return old.model_copy(update=update)


def free_id(new: Item, rows: Iterable[Row[Item]]) -> str:
    """Return the item's id, with a number behind it where another row has it."""
    taken = {row.value.id for row in rows if row.value is not None}
    base, number = content_id(new.key), 1
    found = base
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    return found


def taken(item: Item, persona: str, now: datetime) -> Item:
    """Return the item taken; one that belongs to nobody becomes the taker's.

    Raises:
        RefusedError: It is closed.
    """
    if item.state == "taken":
        return item
    if item.state not in ACTIVE:
        raise _closed(item.state, phrase("cannot take a closed item"))
    return item.model_copy(
        update={"state": "taken", "persona": item.persona or persona, "history": stepped(item, "taken", now)}
    )


def closed(item: Item, state: State, note: Admitted | None, now: datetime) -> Item:
    """Return the item done or dropped.

    Raises:
        RefusedError: It is closed already.
    """
    if item.state not in ACTIVE:
        raise _closed(item.state, phrase("cannot close a closed item"))
    said: dict[str, object] = {}
    if note is not None:
        approvals = joined(approvals_of((note,)), item.approvals)
        said = {"note": note.text.strip(), "note_origin": note.origin, "approvals": approvals}
    return item.model_copy(update={"state": state, "history": stepped(item, state, now), **said})


def snoozed(item: Item, due: datetime, now: datetime) -> Item:
    """Return the item with another deadline, which it lives to see.

    Raises:
        RefusedError: It is closed.
    """
    if item.state not in ACTIVE:
        raise _closed(item.state, phrase("nobody is reminded of a closed item"))
    at = milliseconds(due)
    update = {
        "due_at_epoch_ms": at,
        "reminded_due_epoch_ms": None,
        "reminded_at": None,
        "expires_at": clock.format(max(item.expires, due)),
        "history": stepped(item, "snoozed", now, at),
    }
    return item.model_copy(update=update)


def first_step(now: datetime, due: float | None) -> tuple[Step, ...]:
    """Return the history of a new item."""
    return (Step(to="open", at=clock.format(now), due_at_epoch_ms=due),)


def _closed(state: State, why: str = "") -> RefusedError:
    if not why:
        why = phrase("`--again` (`again: true` in a tool) queues it anew")
        if state == "taken":
            why = phrase("take it up where it is")
    return RefusedError(
        phrase(
            "This item is already {state}; {why}; {unchanged}.", state=state_word(state), why=why, unchanged=UNCHANGED
        ),
        reason=f"already_{state}",
    )
