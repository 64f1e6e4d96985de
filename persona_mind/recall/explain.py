"""Why an item was found: every hit carries the terms its score is the sum of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.recall.model import Doc


@dataclass(frozen=True, slots=True)
class Term:
    """One reason: what it is, what it is worth in this profile, and how much of it there is.

    Attributes:
        name: The kind of evidence, and after a colon what it is about: ``word:potteri``, ``before``, ``when:2023-05``.
            A stemmed word of the question is all it ever holds of anybody's text.
        weight: From the profile.
        value: From the item.
    """

    name: str
    weight: float
    value: float

    @property
    def amount(self) -> float:
        """What this term adds to the score (negative for a repetition)."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found. ``score == sum(term.weight * term.value for term in terms)``, exactly."""

    doc: Doc
    score: float
    terms: tuple[Term, ...]

    @property
    def key(self) -> str:
        """The key of the document."""
        return self.doc.key


def total(terms: Iterable[Term]) -> float:
    """Return the score that these terms explain; the law of :class:`Hit` is this sum, in this order."""
    return sum(term.weight * term.value for term in terms)


def why(hit: Hit) -> list[tuple[str, float]]:
    """Return the reasons for a hit and what each added, strongest first. Holds no text of the item."""
    return sorted(((term.name, term.amount) for term in hit.terms), key=lambda reason: -abs(reason[1]))
