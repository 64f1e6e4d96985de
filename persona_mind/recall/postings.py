"""The inverted index: which items hold a term, what that is worth, and who stands beside whom."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from persona_mind.recall.analyse import Analyser, Analysis
    from persona_mind.recall.model import Doc

K1 = 1.2
"""How fast further occurrences of a word stop counting (BM25's usual value)."""
B = 0.75
"""How far a long text is discounted for its length (BM25's usual value)."""


class Entry(NamedTuple):
    """An indexed document with its analysis."""

    doc: Doc
    analysis: Analysis
    tags: tuple[str, ...]


class Postings:
    """Postings in memory, kept up to date one document at a time.

    A document has a slot, a small number that is used again after it is removed. What a term is worth in each slot is
    worked out when a question first needs it and kept until the next change, so that a warm search only adds.
    """

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self.entries: dict[int, Entry] = {}
        self.slots: dict[str, int] = {}
        self._free: list[int] = []
        self._words: dict[str, dict[int, int]] = {}
        self._tags: dict[str, dict[int, int]] = {}
        self._length = 0
        self.groups: dict[str, list[tuple[int, int]]] = {}
        self._languages: dict[str, int] = {}
        self._worth: dict[str, dict[int, float]] = {}
        self._tag_worth: dict[str, dict[int, float]] = {}
        self._vocabulary: list[str] | None = None

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def languages(self) -> list[str]:
        """The languages of the indexed texts, most frequent first."""
        return sorted(self._languages, key=lambda name: -self._languages[name])

    def add(self, doc: Doc) -> int:
        """Index a document that is not indexed yet, and return its slot."""
        analysis = self._analyser.analyse(doc.text)
        tags = tuple(dict.fromkeys(stem for tag in doc.tags for stem in self._analyser.analyse(tag).terms))
        slot = self._free.pop() if self._free else len(self.slots)
        self.entries[slot] = Entry(doc, analysis, tags)
        self.slots[doc.key] = slot
        words = self._words
        for term in analysis.terms:
            row = words.setdefault(term, {})
            row[slot] = row.get(slot, 0) + 1
        for tag in tags:
            self._tags.setdefault(tag, {})[slot] = 1
        self._length += len(analysis.terms)
        self._languages[analysis.language] = self._languages.get(analysis.language, 0) + 1
        if doc.group:
            insort(self.groups.setdefault(doc.group, []), (doc.seq, slot))
        self._stale()
        return slot

    def remove(self, key: str) -> int:
        """Take a document out, with every trace of its words, and return the slot it had."""
        slot = self.slots.pop(key)
        doc, analysis, tags = self.entries.pop(slot)
        for table, terms in ((self._words, set(analysis.terms)), (self._tags, tags)):
            for term in terms:
                row = table[term]
                del row[slot]
                if not row:
                    del table[term]
        self._length -= len(analysis.terms)
        self._languages[analysis.language] -= 1
        if not self._languages[analysis.language]:
            del self._languages[analysis.language]
        if doc.group:
            order = self.groups[doc.group]
            order.remove((doc.seq, slot))
            if not order:
                del self.groups[doc.group]
        self._free.append(slot)
        self._stale()
        return slot

    def replace_doc(self, doc: Doc) -> None:
        """Take over what is not indexed (time, prior) from a document of the same words and place."""
        slot = self.slots[doc.key]
        self.entries[slot] = self.entries[slot]._replace(doc=doc)

    def _stale(self) -> None:
        if self._worth or self._tag_worth:
            self._worth = {}
            self._tag_worth = {}
        self._vocabulary = None

    def rarity(self, term: str) -> float:
        """Return BM25's inverse document frequency of a term, over texts and tags together."""
        held = len(self._words.get(term, ())) + len(self._tags.get(term, ()))
        everything = max(len(self.slots), held)
        return math.log(1.0 + (everything - held + 0.5) / (held + 0.5))

    def words(self, term: str) -> Mapping[int, float]:
        """Return what the term is worth in the text of each slot that holds it: its BM25 value."""
        worth = self._worth.get(term)
        if worth is None:
            worth = self._worth[term] = self._bm25(term)
        return worth

    def tags(self, term: str) -> Mapping[int, float]:
        """Return what the term is worth as a tag of each slot that has it: its rarity."""
        worth = self._tag_worth.get(term)
        if worth is None:
            rarity = self.rarity(term)
            worth = self._tag_worth[term] = dict.fromkeys(self._tags.get(term, ()), rarity)
        return worth

    def _bm25(self, term: str) -> dict[int, float]:
        row = self._words.get(term)
        if not row:
            return {}
        top = self.rarity(term) * (K1 + 1.0)
        flat = K1 * (1.0 - B)
        slope = K1 * B * len(self.slots) / self._length
        entries = self.entries
        return {
            slot: top * count / (count + flat + slope * len(entries[slot].analysis.terms))
            for slot, count in row.items()
        }

    def beginning_with(self, prefix: str) -> Iterator[str]:
        """Yield the indexed words that begin so, in alphabetical order."""
        if self._vocabulary is None:
            self._vocabulary = sorted(self._words)
        vocabulary = self._vocabulary
        for at in range(bisect_left(vocabulary, prefix), len(vocabulary)):
            if not vocabulary[at].startswith(prefix):
                return
            yield vocabulary[at]

    def beside(self, slot: int) -> tuple[int | None, int | None]:
        """Return the slots before and after this one in its group; ``None`` at an end or without a group."""
        doc = self.entries[slot].doc
        if not doc.group:
            return None, None
        order = self.groups[doc.group]
        at = bisect_left(order, (doc.seq, slot))
        return (
            order[at - 1][1] if at else None,
            order[at + 1][1] if at + 1 < len(order) else None,
        )
