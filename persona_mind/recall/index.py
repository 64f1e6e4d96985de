"""The index a faculty keeps over what it remembers: synchronised with the truth, searched in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.kernel.compared import Compared
from persona_mind.recall.analyse import Analyser
from persona_mind.recall.model import ITEMS, Doc, Profile, Synced
from persona_mind.recall.pool import Patience, no_source, reading
from persona_mind.recall.postings import Postings
from persona_mind.recall.rank import READ, matching, rank, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.kernel.compared import State
    from persona_mind.recall.explain import Hit
    from persona_mind.recall.pool import Kind, Pool, Sources
    from persona_mind.recall.vectors import Likeness, Vectors


class Index:
    """Finds documents by words, order, time and, given vectors, meaning.

    The index holds no truth: it is rebuilt from its documents in a moment, and forgets with them. One index serves one
    view: put into it only what its reader may see, since every document counts in what a word is worth.
    Not thread-safe; one owner at a time.

    Args:
        language: The language of texts that do not show theirs by their function words.
        meaning: Returns the model by which meanings are compared, or None while words alone count.
        kind: What the documents are.

    Attributes:
        compared: How far meaning took part in the last search; None where no model is set.
    """

    def __init__(self, *, language: str = "english", meaning: Sources = no_source, kind: Kind = "facts") -> None:
        self._analyser = Analyser(language)
        self._postings = Postings(self._analyser)
        self._meaning = meaning
        self._kind: Kind = kind
        self._vectors: Vectors | None = None
        self.compared: Compared | None = None

    def __len__(self) -> int:
        return len(self._postings)

    def __contains__(self, key: object) -> bool:
        return key in self._postings.slots

    def sync(self, docs: Iterable[Doc]) -> Synced:
        """Make the index hold exactly these documents; only those that differ are analysed.

        Of two documents with one key the later counts.
        """
        wanted = {doc.key: doc for doc in docs}
        gone = [key for key in self._postings.slots if key not in wanted]
        for key in gone:
            self._remove(key)
        added = changed = 0
        for doc in wanted.values():
            match self._put(doc):
                case "added":
                    added += 1
                case "changed":
                    changed += 1
                case _:
                    pass
        return Synced(added, changed, len(gone), len(wanted) - added - changed)

    def _put(self, doc: Doc) -> str:
        slot = self._postings.slots.get(doc.key)
        if slot is None:
            self._add(doc)
            return "added"
        held = self._postings.entries[slot].doc
        if held is doc or held == doc:
            return "kept"
        if (held.text, held.tags, held.group, held.seq) == (doc.text, doc.tags, doc.group, doc.seq):
            self._postings.restate(doc)
        else:
            self._remove(doc.key)
            self._add(doc)
        return "changed"

    def _add(self, doc: Doc) -> None:
        slot = self._postings.add(doc)
        if self._vectors is not None:
            self._vectors.put(slot, reading(doc))

    def _remove(self, key: str) -> None:
        slot = self._postings.remove(key)
        if self._vectors is not None:
            self._vectors.drop(slot)

    def prepare(self) -> None:
        """Have everything read for likeness of meaning that was not yet, in the background, where a model is ready."""
        source = self._meaning()
        self._attach(None if source is None else source.pool(self._kind, Patience.PASSING))

    def search(
        self,
        query: str,
        k: int = 10,
        profile: Profile = ITEMS,
        *,
        now: float | None = None,
        patience: Patience = Patience.ASKED,
    ) -> list[Hit]:
        """Return the best ``k`` documents for a question or a cue, best first; fewer when fewer match.

        A query without a word to look for (empty, or function words only) returns the documents by recency and
        prior, the newest first where the profile weighs neither.

        Args:
            query: A question, a cue or some words, in any language the index holds.
            k: How many hits at most.
            profile: The weights.
            now: The moment "yesterday" and "last May" are counted from, in seconds since the epoch; by default
                the time of the newest document.
            patience: How long the search may wait for the question's vector.
        """
        wanted = read(self._postings, self._analyser, query, now)
        return rank(self._postings, wanted, k, profile, self._likeness(query[:READ], patience))

    def _likeness(self, query: str, patience: Patience) -> Likeness | None:
        self.compared = None
        source = self._meaning()
        if source is None or not query.strip() or not len(self):
            return None
        vectors = self._attach(source.pool(self._kind, patience))
        if vectors is None:
            self.compared = Compared(source.state, 0, len(self))
            return None
        likeness = vectors.likeness(query, patience)
        state: State = "used" if likeness else "late" if vectors.held else "unread"
        self.compared = Compared(state, vectors.held, len(self))
        return likeness

    def _attach(self, pool: Pool | None) -> Vectors | None:
        """Take vectors from a pool from now on; without one there are none."""
        if pool is None:
            self._vectors = None
        elif self._vectors is None or self._vectors.pool is not pool:
            # Imported late: it needs numpy, which only vectors need.
            from persona_mind.recall.vectors import Vectors  # noqa: PLC0415

            self._vectors = Vectors(pool)
            for slot, entry in self._postings.entries.items():
                self._vectors.put(slot, reading(entry.doc))
        return self._vectors

    def count(self, query: str, profile: Profile = ITEMS) -> int:
        """Return how many documents hold a word of the query, or all where it names none to look for.

        That is what a page of hits is a part of, told without weighing each.
        """
        wanted = read(self._postings, self._analyser, query, None)
        return matching(self._postings, wanted, profile) if wanted.terms else len(self)
