"""Two lists under one budget: some places are kept for likeness of meaning alone.

Adding likeness to words finds most of what a question asks for. What a cue should bring to mind often shares no word
with it, and would be outweighed by items that share any; so every few places one goes to the likest item left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.recall.explain import Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Pick = tuple[int, Term | None]
"""A chosen slot, and the term that its choice adds to its score."""


def seat(picked: Sequence[Pick], likest: Iterable[int], scores: Mapping[int, float], share: float) -> list[Pick]:
    """Give the stated share of the places to the likest slots, evenly spread; the rest keeps its order.

    A seat lifts its holder to the score of the place before it, and says so in a term. The places do not depend on
    how many are asked for.
    """
    most = len(picked)
    seated: dict[int, Pick] = {}
    queue, rest = iter(likest), iter(picked)
    before = 0.0
    while len(seated) < most:
        place = len(seated) + 1
        slot = None
        if int(place * share) > int((place - 1) * share):
            slot = next((slot for slot in queue if slot not in seated), None)
        if slot is not None:
            pick: Pick = slot, Term("seat", 1.0, max(0.0, before - scores[slot]))
        else:
            pick = next(pick for pick in rest if pick[0] not in seated)
        seated[pick[0]] = pick
        before = scores[pick[0]] + (pick[1].amount if pick[1] else 0.0)
    return list(seated.values())
