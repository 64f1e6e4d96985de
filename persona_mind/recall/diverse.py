"""Diversity: what repeats a better item loses some of its score, and says which item it repeats."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from persona_mind.recall.explain import Term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_mind.recall.postings import Entry

ALIKE = 0.6
"""Share of common words from which an item counts as repeating another (Jaccard's measure, 0 to 1)."""


def spread(
    scores: Mapping[int, float], entries: Mapping[int, Entry], k: int, weight: float
) -> list[tuple[int, Term | None]]:
    """Choose ``k`` slots one by one, each time the one whose score is best less what it repeats of those chosen.

    Of equal scores the newer wins, then the lower key. Returns the slots in the order chosen, each with the term
    that lowered its score, if any. A penalty can only grow, so a slot is compared when its turn comes, not before.
    """
    queue = [(-score, -(entries[slot].doc.at or 0.0), entries[slot].doc.key, slot) for slot, score in scores.items()]
    heapq.heapify(queue)
    compared = dict.fromkeys(scores, 0)
    penalties: dict[int, Term] = {}
    chosen: list[tuple[int, Term | None]] = []
    bags: list[frozenset[str]] = []
    while queue and len(chosen) < k:
        lowered, age, key, slot = heapq.heappop(queue)
        words = frozenset(entries[slot].analysis.terms)
        for at in range(compared[slot] if weight else len(chosen), len(chosen)):
            alike = _likeness(entries[slot], entries[chosen[at][0]], words, bags[at])
            if alike and scores[slot] > 0 and scores[slot] * (1.0 - weight * alike) < -lowered:
                name = f"repeats:{entries[chosen[at][0]].doc.key}"
                penalties[slot] = Term(name, -weight, alike * scores[slot])
                lowered = -scores[slot] * (1.0 - weight * alike)
        compared[slot] = len(chosen)
        if queue and (lowered, age, key, slot) > queue[0]:
            heapq.heappush(queue, (lowered, age, key, slot))
            continue
        chosen.append((slot, penalties.get(slot)))
        bags.append(words)
    return chosen


def _likeness(one: Entry, other: Entry, words: frozenset[str], others: frozenset[str]) -> float:
    """Return how far two items say the same, 0 to 1; 0 when only one denies, or their numbers differ."""
    few, many = sorted((len(words), len(others)))
    if few < ALIKE * many or one.analysis.negated != other.analysis.negated:
        return 0.0
    shared = len(words & others)
    everything = few + many - shared
    if not shared or shared < ALIKE * everything:
        return 0.0
    if any(any(c.isdigit() for c in word) for word in words ^ others):
        return 0.0
    return shared / everything
