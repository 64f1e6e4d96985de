"""Diversity: what says again what a better item says loses some of its score, and says which item it repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.recall.explain import Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from persona_mind.recall.postings import Entry

ALIKE = 0.6
"""Share of common words from which an item counts as repeating another (Jaccard's measure, 0 to 1)."""


def spread(
    ranked: Sequence[int], scores: Mapping[int, float], entries: Mapping[int, Entry], k: int, weight: float
) -> list[tuple[int, Term | None]]:
    """Choose ``k`` of the ranked slots one by one, each time the one whose score is best less what it repeats.

    Returns the chosen slots in order, each with the term that lowered its score, if any.
    """
    if not weight:
        return [(slot, None) for slot in ranked[:k]]
    left = [(scores[slot], slot, None) for slot in ranked]
    bags = {slot: frozenset(entries[slot].analysis.terms) for slot in ranked}
    chosen: list[tuple[int, Term | None]] = []
    rest: list[tuple[float, int, Term | None]] = list(left)
    while rest and len(chosen) < k:
        best = max(range(len(rest)), key=lambda i: rest[i][0])
        _, slot, term = rest.pop(best)
        chosen.append((slot, term))
        for i, (score, other, _) in enumerate(rest):
            alike = likeness(entries[slot], entries[other], bags[slot], bags[other])
            if alike >= ALIKE:
                lowered = scores[other] - weight * alike * scores[other]
                if lowered < score:
                    term = Term(f"repeats:{entries[slot].doc.key}", -weight, alike * scores[other])
                    rest[i] = (lowered, other, term)
    return chosen


def likeness(one: Entry, other: Entry, words: frozenset[str], others: frozenset[str]) -> float:
    """Return how far two items say the same, 0 to 1; 0 when one denies, or names other numbers, where they differ."""
    shared = len(words & others)
    everything = len(words) + len(others) - shared
    if not shared or shared < ALIKE * everything or one.analysis.negated != other.analysis.negated:
        return 0.0
    if any(any(c.isdigit() for c in word) for word in words ^ others):
        return 0.0
    return shared / everything
