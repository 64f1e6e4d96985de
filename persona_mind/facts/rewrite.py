"""Pure changes to the rows of one file: record, retire, drop what has expired."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from persona_mind.kernel.approvals import joined

if TYPE_CHECKING:
    from datetime import datetime

    from persona_mind.facts.model import Fact
    from persona_store.document import Document, Row, Snapshot

Mutation = Callable[["Snapshot[Fact]"], Sequence["Row[Fact]"]]


@dataclass
class Record:
    """The change that records a fact: its row is refreshed where there is one, else added.

    Attributes:
        document: The file.
        new: The fact as it is said now.
        now: What has expired by now goes in the same step.
        own_rows_only: Leave an equal fact of another persona alone, and add one of our own beside it.
        retired: Exact bytes of rows that go in the same step.
        result: The fact as it stands afterwards.
        again: Whether there was such a row before.
    """

    document: Document[Fact]
    new: Fact
    now: datetime
    own_rows_only: bool
    retired: Collection[bytes] = ()
    result: Fact = field(init=False)
    again: bool = field(init=False, default=False)

    def __call__(self, snapshot: Snapshot[Fact]) -> Sequence[Row[Fact]]:
        """Return the rows of the next version; may be called again on a newer one."""
        kept = living(snapshot.rows, self.now)
        if self.retired:
            kept = [row for row in kept if row.raw not in self.retired]
        self.result, self.again = self.new, False
        for at, old in self._same(kept):
            self.result, self.again = refreshed(old, self.new), True
            kept[at] = self.document.revise(kept[at], self.result)
            return kept
        return [*kept, self.document.row(self.new)]

    def _same(self, rows: Sequence[Row[Fact]]) -> Iterator[tuple[int, Fact]]:
        """Yield where the same fact stands."""
        wanted = self.new.key
        # One pass over ten thousand rows is a good part of what a change costs: nothing is called for each of them.
        for at, row in enumerate(rows):
            old = row.value
            if old is not None and old.key == wanted and (not self.own_rows_only or old.persona == self.new.persona):
                yield at, old


def retire(rows: Collection[bytes]) -> Mutation:
    """Return the change that removes exactly these rows; every other one stays byte for byte."""
    return lambda snapshot: [row for row in snapshot.rows if row.raw not in rows]


def sweep(now: datetime) -> Mutation:
    """Return the change that removes what has expired."""
    return lambda snapshot: living(snapshot.rows, now)


def living(rows: Iterable[Row[Fact]], now: datetime) -> list[Row[Fact]]:
    """Return the rows that have not expired; those that nobody can read stay."""
    return [row for row in rows if (fact := row.value) is None or fact.expires_at is None or fact.live(now)]


def refreshed(old: Fact, new: Fact) -> Fact:
    """Return ``old`` said again as ``new``.

    It keeps its id, its first recording and who recorded it; an expiry is never brought forward, and what the new
    saying leaves out stays.
    """
    # The person's own words stay the person's when a model repeats them unchanged.
    origin = old.origin if old.origin == "user" and old.text == new.text else new.origin
    return new.model_copy(
        update={
            "id": old.id,
            "recorded_at": old.recorded_at,
            "persona": old.persona or new.persona,
            "expires_at": _later(old, new),
            "source": new.source or old.source,
            "derived_from": new.derived_from or old.derived_from,
            "supersedes": new.supersedes or old.supersedes,
            "origin": origin,
            "approvals": joined(new.approvals, old.approvals),
        }
    )


def _later(old: Fact, new: Fact) -> str | None:
    if old.expires is None or new.expires is None:
        return new.expires_at
    return old.expires_at if old.expires > new.expires else new.expires_at
