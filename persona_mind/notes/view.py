"""One owner's notes on one branch: which come first for a task, and how they may be shown."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from persona_mind.kernel.kinds import prior
from persona_mind.notes.shown import ShownNote, shown
from persona_mind.recall.part import part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.notes.model import Note
    from persona_mind.recall import Doc, Hit, Index


class View:
    """The notes that one owner sees; kept while the branch has no new event and nothing is erased.

    Attributes:
        notes: Oldest first.
    """

    def __init__(self, notes: Sequence[Note]) -> None:
        self.notes = notes
        self._by_id = {note.id: note for note in notes}
        self._index: Index | None = None
        self._shown: dict[str, ShownNote] = {}
        self._parts: dict[tuple[str, int], tuple[str, bool]] = {}
        self._lock = threading.Lock()

    def shown(self, note: Note) -> ShownNote:
        """Return one of the notes as it may be shown; judged once."""
        known = self._shown.get(note.id)
        if known is None:
            known = self._shown[note.id] = shown(note)
        return known

    def part(self, note: Note, limit: int) -> tuple[str, bool]:
        """Return the beginning of a note as it may be shown, as ``recall.part`` does; worked out once."""
        known = self._parts.get((note.id, limit))
        if known is None:
            known = self._parts[note.id, limit] = part(self.shown(note).text, limit)
        return known

    def matching(self, query: str) -> list[tuple[Note, Hit]]:
        """Return the notes that have to do with a query, best first, each with why."""
        if not self.notes or not query.strip():
            return []
        # Ranking takes a while to load, and a session without notes ranks nothing.
        from persona_mind.recall import ITEMS  # noqa: PLC0415

        with self._lock:
            hits = self._indexed().search(query, len(self.notes), replace(ITEMS, repeats=0.0))
        return [(self._by_id[hit.key], hit) for hit in hits]

    def ordered(self, query: str) -> list[tuple[Note, Hit | None]]:
        """Return all notes for a request: objectives first, then what matches the task, then the latest."""
        hits = {note.id: hit for note, hit in self.matching(query)}
        places = {handle: place for place, handle in enumerate(hits)}

        def rank(note: Note) -> tuple[bool, int]:
            return note.kind != "objective", places.get(note.id, len(places))

        latest_first = list(reversed(self.notes))
        # Sorting keeps that order among those that rank alike.
        return [(note, hits.get(note.id)) for note in sorted(latest_first, key=rank)]

    def _indexed(self) -> Index:
        from persona_mind.recall import Index  # noqa: PLC0415 - as above

        if self._index is None:
            self._index = Index()
            self._index.sync(map(_doc, self.notes))
        return self._index


def _doc(note: Note) -> Doc:
    from persona_mind.recall import Doc  # noqa: PLC0415 - as above

    return Doc(note.id, note.text, at=note.saved.timestamp(), prior=prior(note.kind))
