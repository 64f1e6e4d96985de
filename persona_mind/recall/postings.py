"""The inverted index: which items hold a term, what that is worth, and who stands beside whom."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from persona_mind.recall.analyse import Analyser, Analysis
    from persona_mind.recall.model import Doc

K1 = 0.9
"""How slowly further occurrences of a word stop counting: 0 at once, higher later."""
B = 0.4
"""How far a long text is discounted for its length: 0 not at all, 1 in full. Both are Anserini's defaults."""
NOBODY = -1
"""The slot of a neighbour that is not there."""
Around = tuple[int, int, int, int]
"""Slots two before, before, after and two after an item in its group, or ``NOBODY``."""


class Entry(NamedTuple):
    """An indexed document with its analysis and the stems of its tags."""

    doc: Doc
    analysis: Analysis
    tags: tuple[str, ...]


class Worth:
    """What terms are worth, worked out when a question first needs it and kept until the next change."""

    def __init__(self) -> None:
        self.words: dict[str, dict[int, float]] = {}
        self.tags: dict[str, dict[int, float]] = {}
        self.groups: dict[str, dict[str, float]] = {}
        self.vocabulary: list[str] | None = None
        self.times: list[tuple[float, int]] | None = None


class Postings:
    """Postings in memory, kept up to date one document at a time.

    A document has a slot, a small number that is used again after it is removed. Lists are impact-ordered in effect:
    a warm search does nothing but add numbers that are already there.
    """

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self.entries: dict[int, Entry] = {}
        self.slots: dict[str, int] = {}
        self._free: list[int] = []
        self._words: dict[str, dict[int, int]] = {}
        self._tags: dict[str, dict[int, int]] = {}
        self._length = 0
        self._order: dict[str, list[tuple[int, str, int]]] = {}
        self._around: dict[str, dict[int, Around]] = {}
        self._languages: dict[str, int] = {}
        self._worth = Worth()

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def languages(self) -> list[str]:
        """The languages of the indexed texts, most frequent first."""
        return sorted(self._languages, key=lambda name: -self._languages[name])

    def add(self, doc: Doc) -> int:
        """Index a document that is not indexed yet, and return its slot."""
        analysis = self._analyser.analyse(doc.text)
        tags = self._analyser.labels(doc.tags)
        slot = self._free.pop() if self._free else len(self.slots)
        self.entries[slot] = Entry(doc, analysis, tags)
        self.slots[doc.key] = slot
        words = self._words
        for term in analysis.terms:
            row = words.get(term)
            if row is None:
                words[term] = {slot: 1}
            else:
                row[slot] = row.get(slot, 0) + 1
        for tag in tags:
            self._tags.setdefault(tag, {})[slot] = 1
        self._length += len(analysis.terms)
        self._languages[analysis.language] = self._languages.get(analysis.language, 0) + 1
        if doc.group:
            insort(self._order.setdefault(doc.group, []), (doc.seq, doc.key, slot))
            self._around.pop(doc.group, None)
        self._worth = Worth()
        return slot

    def remove(self, key: str) -> int:
        """Take a document out, with every trace of its words, and return the slot it had."""
        slot = self.slots.pop(key)
        doc, analysis, tags = self.entries.pop(slot)
        for term in set(analysis.terms):
            _take_out(self._words, term, slot)
        for tag in tags:
            _take_out(self._tags, tag, slot)
        self._length -= len(analysis.terms)
        self._languages[analysis.language] -= 1
        if not self._languages[analysis.language]:
            del self._languages[analysis.language]
        if doc.group:
            self._leave(doc.group, (doc.seq, key, slot))
        self._analyser.forget(" ".join((doc.text, *doc.tags)))
        self._free.append(slot)
        self._worth = Worth()
        return slot

    def _leave(self, group: str, place: tuple[int, str, int]) -> None:
        order = self._order[group]
        del order[bisect_left(order, place)]
        if not order:
            del self._order[group]
        self._around.pop(group, None)

    def restate(self, doc: Doc) -> None:
        """Take over what is not indexed (time, prior) from a document of the same words and place."""
        slot = self.slots[doc.key]
        self.entries[slot] = self.entries[slot]._replace(doc=doc)
        self._worth.times = None

    def rarity(self, held: int, among: int | None = None) -> float:
        """Return BM25's inverse document frequency of what ``held`` items have."""
        among = max(len(self.slots) if among is None else among, held)
        return math.log(1.0 + (among - held + 0.5) / (held + 0.5))

    def held(self, term: str) -> int:
        """Return how many texts and tags hold a term."""
        return len(self._words.get(term, ())) + len(self._tags.get(term, ()))

    def _rarity_of(self, term: str) -> float:
        return self.rarity(self.held(term))

    def words(self, term: str) -> Mapping[int, float]:
        """Return what the term is worth in the text of each slot that holds it: its BM25 value."""
        worth = self._worth.words.get(term)
        if worth is None:
            worth = self._worth.words[term] = self._bm25(term)
        return worth

    def tags(self, term: str) -> Mapping[int, float]:
        """Return what the term is worth as a tag of each slot that has it: its rarity."""
        worth = self._worth.tags.get(term)
        if worth is None:
            worth = dict.fromkeys(self._tags.get(term, ()), self._rarity_of(term))
            self._worth.tags[term] = worth
        return worth

    def groups(self, term: str) -> Mapping[str, float]:
        """Return what the term is worth for each group: its rarity among groups, for the part of its items.

        With ``n`` items of the group holding the term that part is ``n / (n + 1)``: saying it again tells less.
        """
        worth = self._worth.groups.get(term)
        if worth is None:
            counts: dict[str, int] = {}
            for slot in self._words.get(term, ()):
                group = self.entries[slot].doc.group
                counts[group] = counts.get(group, 0) + 1
            counts.pop("", None)
            rarity = self.rarity(len(counts), len(self._order))
            worth = {group: rarity * count / (count + 1.0) for group, count in counts.items()}
            self._worth.groups[term] = worth
        return worth

    def _bm25(self, term: str) -> dict[int, float]:
        row = self._words.get(term)
        if not row:
            return {}
        top = self._rarity_of(term) * (K1 + 1.0)
        flat = K1 * (1.0 - B)
        slope = K1 * B * len(self.slots) / self._length
        entries = self.entries
        return {
            slot: top * count / (count + flat + slope * len(entries[slot].analysis.terms))
            for slot, count in row.items()
        }

    def beginning_with(self, prefix: str) -> Iterator[str]:
        """Yield the indexed words that begin so, in alphabetical order."""
        vocabulary = self._worth.vocabulary
        if vocabulary is None:
            vocabulary = self._worth.vocabulary = sorted(self._words)
        for at in range(bisect_left(vocabulary, prefix), len(vocabulary)):
            if not vocabulary[at].startswith(prefix):
                return
            yield vocabulary[at]

    def around(self, slot: int) -> Around:
        """Return the neighbours of an item in its group."""
        group = self.entries[slot].doc.group
        if not group:
            return NOBODY, NOBODY, NOBODY, NOBODY
        places = self._around.get(group)
        if places is None:
            row = [NOBODY, NOBODY, *(there for _, _, there in self._order[group]), NOBODY, NOBODY]
            places = self._around[group] = {
                row[i]: (row[i - 2], row[i - 1], row[i + 1], row[i + 2]) for i in range(2, len(row) - 2)
            }
        return places[slot]

    def _timeline(self) -> list[tuple[float, int]]:
        times = self._worth.times
        if times is None:
            dated = ((entry.doc.at, slot) for slot, entry in self.entries.items())
            times = self._worth.times = sorted((at, slot) for at, slot in dated if at is not None)
        return times

    def newest(self) -> float | None:
        """Return the time of the newest document that has one."""
        times = self._timeline()
        return times[-1][0] if times else None

    def between(self, start: float, end: float) -> list[int]:
        """Return the slots of the documents from ``start`` up to, not including, ``end``."""
        times = self._timeline()
        return [slot for _, slot in times[bisect_left(times, (start, NOBODY)) : bisect_left(times, (end, NOBODY))]]


def _take_out(table: dict[str, dict[int, int]], term: str, slot: int) -> None:
    row = table[term]
    del row[slot]
    if not row:
        del table[term]
