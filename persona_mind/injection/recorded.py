"""One request as the flight recorder keeps it: ids and counts now, reasons once nobody waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_mind.injection.choose import searched
from persona_mind.recorder.service import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.facts.search import View
    from persona_mind.injection.render import Tally
    from persona_mind.notes.view import View as NotesView
    from persona_mind.recall import Hit

MATCHES: Final = 64
"""Matches of one view that are looked through for what was shown."""


def recorded(prompt: str, views: Sequence[View], notes: NotesView | None, tallies: Sequence[Tally]) -> Request:
    """Return a request for the recorder. The prompt is kept until the turn has ended, in memory, and never written."""

    def explain() -> dict[str, Hit]:
        query = searched(prompt)
        if not query.strip():
            return {}
        hits = {held.fact.id: hit for view in views for held, hit in view.hits(query, MATCHES)}
        return hits | ({note.id: hit for note, hit in notes.matching(query)} if notes else {})

    left: dict[str, int] = {}
    for tally in tallies:
        for kind, number in tally.left.items():
            left[kind] = left.get(kind, 0) + number
    return Request(
        tuple(shown for tally in tallies for shown in tally.shown),
        explain,
        left,
        sum(tally.withheld for tally in tallies),
    )
