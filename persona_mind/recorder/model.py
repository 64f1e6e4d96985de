"""What is recorded of a turn: ids, tiers, scores, reasons by kind, counts. No word of a memory or of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, Field

from persona_mind.kernel.rowfields import MAX_ID, ROW, Moment, RowId, RowSession

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.recall import Hit

MAX_ITEMS: Final = 96
"""Items of one turn."""

How = Literal["shown", "recalled"]

# Kinds of evidence that come from the question; the others are true of an item whatever is asked.
_OF_THE_QUESTION: Final = frozenset({"word", "kin", "tag", "when", "told_when", "meaning", "seat"})

Number = Annotated[float | int, Field(allow_inf_nan=False)]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z_-]{0,31}$")]
"""A kind of memory or of evidence."""


class Item(BaseModel):
    """One memory in one turn.

    Attributes:
        id: Its id.
        tier: Where it stands: a tier of facts, ``notes`` or ``backlog``.
        how: It was shown in the request, or the model recalled it.
        score: What recall gave it for this turn's question; None where it had nothing to do with it.
        terms: That score by kind of evidence.
    """

    model_config = ROW

    id: RowId
    tier: Word
    how: How = "shown"
    score: Number | None = None
    terms: dict[Word, Number] | None = None

    @property
    def matched(self) -> bool:
        """Whether it had to do with what was asked."""
        return any(kind in _OF_THE_QUESTION and amount > 0 for kind, amount in (self.terms or {}).items())


class Turn(BaseModel):
    """One turn.

    Attributes:
        id: Its handle.
        at: When its request was made.
        session: The session.
        project: The project's files.
        items: What stood in the request, then what the model recalled.
        left: By kind of memory, how many entries had no room.
        withheld: How many were withheld because their text breaks a rule.
    """

    model_config = ROW

    id: RowId
    at: Moment
    session: RowSession
    project: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    items: Annotated[tuple[Item, ...], Field(max_length=MAX_ITEMS)]
    left: dict[Word, int] | None = None
    withheld: int = 0


def reasons(hit: Hit) -> dict[str, float]:
    """Return a score by kind of evidence. What a term is about (a word of the question) is left out."""
    amounts: dict[str, float] = {}
    for term in hit.terms:
        kind = term.name.partition(":")[0]
        amounts[kind] = amounts.get(kind, 0.0) + term.amount
    return {kind: round(amount, 3) for kind, amount in amounts.items()}


def explained(key: str, tier: str, hit: Hit | None, how: How = "shown") -> Item:
    """Return an item with its reasons."""
    if hit is None:
        return Item(id=key, tier=tier, how=how)
    return Item(id=key, tier=tier, how=how, score=round(hit.score, 3), terms=reasons(hit))


def without(turn: Turn, ids: Iterable[str]) -> Turn:
    """Return a turn without some of its items."""
    gone = set(ids)
    kept = tuple(item for item in turn.items if item.id not in gone)
    return turn if len(kept) == len(turn.items) else turn.model_copy(update={"items": kept})
