"""Pure changes to the rows of one file: record, retire, drop what has expired."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from persona_mind.kernel.approvals import joined

if TYPE_CHECKING:
    from datetime import datetime

    from persona_mind.facts.model import Fact
    from persona_mind.kernel.identity import Key
    from persona_store.document import Document, Row, Rows, Snapshot
    from persona_store.pages import Page

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
        source: The row that it was until now; what a later release put there comes along.
        result: The fact as it stands afterwards.
        again: Whether there was such a row before.
    """

    document: Document[Fact]
    new: Fact
    now: datetime
    own_rows_only: bool
    retired: Collection[bytes] = ()
    source: Row[Fact] | None = None
    result: Fact = field(init=False)
    again: bool = field(init=False, default=False)

    def __call__(self, snapshot: Snapshot[Fact]) -> Sequence[Row[Fact]]:
        """Return the rows of the next version; may be called again on a newer one."""
        kept = without(living(snapshot.rows, self.now), self.retired)
        self.result, self.again = self.new, False
        for page, place, old in self._same(kept):
            row = self.document.revise(kept.pages[page].rows[place], refreshed(old, self.new))
            # What a copy has worked out of its former fields is not to be relied on, so the fact is read back.
            self.result, self.again = row.value or self.new, True
            return kept.replace(page, place, row)
        if self.source is not None:
            return kept.append(self.document.revise(self.source, self.new))
        return kept.append(self.document.row(self.new))

    def _same(self, rows: Rows[Fact]) -> Iterator[tuple[int, int, Fact]]:
        """Yield on which page, and where on it, the same fact stands."""
        wanted = self.new.key
        # To pass over ten thousand rows would be a good part of what a change costs: pages know what they hold.
        for number, page in enumerate(rows.pages):
            for place, row in enumerate(page.rows if wanted in page.made(_keys) else ()):
                old = row.value
                if old is None or old.key != wanted:
                    continue
                if not self.own_rows_only or old.persona == self.new.persona:
                    yield number, place, old


def _keys(rows: Iterable[Row[Fact]]) -> frozenset[Key]:
    return frozenset([row.value.key for row in rows if row.value is not None])


def _first_end(rows: Iterable[Row[Fact]]) -> datetime | None:
    """Return when the first of these facts expires, if one does."""
    return min((row.value.expires for row in rows if row.value is not None and row.value.expires), default=None)


def without(rows: Rows[Fact], gone: Collection[bytes]) -> Rows[Fact]:
    """Return all rows but exactly these; every other one stays byte for byte."""
    return rows.change(lambda page: tuple([row for row in page.rows if row.raw not in gone])) if gone else rows


def retire(rows: Collection[bytes]) -> Mutation:
    """Return the change that removes exactly these rows."""
    return lambda snapshot: without(snapshot.rows, rows)


def sweep(now: datetime) -> Mutation:
    """Return the change that removes what has expired."""
    return lambda snapshot: living(snapshot.rows, now)


def living(rows: Rows[Fact], now: datetime) -> Rows[Fact]:
    """Return the rows that have not expired; those that nobody can read stay."""

    def kept(page: Page[Fact]) -> tuple[Row[Fact], ...]:
        end = page.made(_first_end)
        if end is None or end > now:
            return page.rows
        return tuple([row for row in page.rows if row.value is None or row.value.live(now)])

    return rows.change(kept)


def refreshed(old: Fact, new: Fact) -> Fact:
    """Return ``old`` said again as ``new``.

    It keeps its id, its first recording and who recorded it; an expiry is never brought forward, and what the new
    saying leaves out stays.
    """
    # The person's own words stay the person's when a model repeats them unchanged.
    said = old if old.origin == "user" and old.text == new.text else new
    return new.model_copy(
        update={
            "id": old.id,
            "recorded_at": old.recorded_at,
            "persona": old.persona or new.persona,
            "expires_at": _later(old, new),
            "source": new.source or old.source,
            "derived_from": new.derived_from or old.derived_from,
            "supersedes": new.supersedes or old.supersedes,
            "origin": said.origin,
            "host": said.host,
            "approvals": joined(new.approvals, old.approvals),
        }
    )


def _later(old: Fact, new: Fact) -> str | None:
    if old.expires is None or new.expires is None:
        return new.expires_at
    return old.expires_at if old.expires > new.expires else new.expires_at
