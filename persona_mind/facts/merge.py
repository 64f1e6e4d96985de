"""Two copies of one fact become one: the later one counts, and what is known of the first recording stays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from persona_mind.facts.rewrite import refreshed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.facts.model import Fact
    from persona_mind.kernel.identity import Key
    from persona_store.document import Document, Row, Snapshot

Identity = tuple["Key", str | None]


def identity(fact: Fact) -> Identity:
    """Return what makes it one row of its file: several personas may each have observed the same for now."""
    return fact.key, fact.persona if fact.expires_at is not None else None


def settled(old: Fact, new: Fact) -> Fact:
    """Return the one fact that two copies come to; ``old`` itself where the other one is not later."""
    return old if new.seen <= old.seen else refreshed(old, new)


def reconciled(old: Fact, new: Fact) -> Fact | None:
    """Return the one fact that two machines' versions come to, under the id of ``old``; None where no rule tells.

    It is as if the earlier one had been said first and the later one afterwards, here. Where neither is later, ``old``
    counts as long as it has all that ``new`` tells, as one does into which that came before.
    """
    if old.seen == new.seen:
        return old if refreshed(old, new) == old else None
    earlier, later = (old, new) if old.seen < new.seen else (new, old)
    first = min(old, new, key=lambda fact: fact.recorded)
    return refreshed(earlier, later).model_copy(update={"id": old.id, "recorded_at": first.recorded_at})


@dataclass
class Merge:
    """The change that takes rows of another file in, by what they say and not by their ids.

    Attributes:
        document: The file.
        coming: What comes in; rows that cannot be read are added as they are, once.
        added: How many were added.
        renewed: How many rows gave way to a later copy.
    """

    document: Document[Fact]
    coming: Sequence[Row[Fact]]
    added: int = field(init=False, default=0)
    renewed: int = field(init=False, default=0)

    def __call__(self, snapshot: Snapshot[Fact]) -> Sequence[Row[Fact]]:
        """Return the rows of the next version; may be called again on a newer one."""
        self.added = self.renewed = 0
        rows, at = list(snapshot.rows), standing(snapshot.rows)
        raw = {row.raw for row in rows}
        for row in self.coming:
            known = None if row.value is None else at.get(identity(row.value))
            if known is not None and row.value is not None:
                self._settle(rows, known, row.value)
            elif row.raw not in raw:
                if row.value is not None:
                    at[identity(row.value)] = len(rows)
                rows.append(row)
                raw.add(row.raw)
                self.added += 1
        return rows

    def _settle(self, rows: list[Row[Fact]], at: int, new: Fact) -> None:
        old = rows[at]
        if old.value is None:
            return
        fact = settled(old.value, new)
        if fact is not old.value:
            rows[at] = self.document.revise(old, fact)
            self.renewed += rows[at] is not old


def standing(rows: Sequence[Row[Fact]]) -> dict[Identity, int]:
    """Return where each fact stands first."""
    found: dict[Identity, int] = {}
    for at, row in enumerate(rows):
        if row.value is not None:
            found.setdefault(identity(row.value), at)
    return found
