"""From a question to ranked hits: the rarest words select, and every kind of evidence then weighs.

All evidence is held in columns: a name, a weight, and a value for each slot. A score is the sum over the columns, and
an explanation is the same sum written out, so that the two cannot differ.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from persona_mind.recall.analyse import Analyser, language_of, tokens
from persona_mind.recall.diverse import spread
from persona_mind.recall.explain import Hit, Term, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from persona_mind.recall.model import Profile
    from persona_mind.recall.postings import Postings

SELECTED = 20_000
"""Postings read to select candidates. Words too frequent to fit still weigh, but select nothing."""
DEPTH = 60
"""Candidates that are weighed in full, before their neighbours join; more when more hits are asked for."""
_DAY = 86_400.0


class Column(NamedTuple):
    """One kind of evidence: what it weighs, and its value for each slot that has any."""

    name: str
    weight: float
    values: Mapping[int, float]


def rank(postings: Postings, analyser: Analyser, query: str, k: int, profile: Profile) -> list[Hit]:
    """Return the best ``k`` documents for the query."""
    if not k or not len(postings):
        return []
    terms = query_terms(postings, analyser, query)
    lexical = word_columns(postings, terms, profile)
    if not lexical:
        return _hits(
            postings, list(postings.entries), _standing(postings, postings.entries, profile), k, profile
        )
    base = select(lexical)
    depth = max(DEPTH, 4 * k)
    candidates = heapq.nlargest(depth, base, key=base.__getitem__)
    if profile.before or profile.after:
        candidates = _with_neighbours(postings, candidates)
    columns = [
        *lexical,
        *_order(postings, base, candidates, profile),
        *_standing(postings, candidates, profile),
    ]
    return _hits(postings, candidates, columns, k, profile)


def query_terms(postings: Postings, analyser: Analyser, query: str) -> list[str]:
    """Return the distinct stems to look for, in the order of the query, in each language the index holds."""
    words = tokens(query)
    found = dict.fromkeys(analyser.stems(words, language_of(words, analyser.default)))
    for language in postings.languages:
        content = [word for word in words if analyser.stems([word], language_of(words, analyser.default))]
        found |= dict.fromkeys(analyser.stems(content, language))
    return list(found)


def word_columns(postings: Postings, terms: Iterable[str], profile: Profile) -> list[Column]:
    """Return the columns of words and tags, those without any item left out."""
    columns = []
    for term in terms:
        if profile.words and (values := postings.words(term)):
            columns.append(Column(f"word:{term}", profile.words, values))
        if profile.tags and (values := postings.tags(term)):
            columns.append(Column(f"tag:{term}", profile.tags, values))
    return columns


def select(columns: list[Column]) -> dict[int, float]:
    """Return the summed columns of the slots that the rarest of them reach."""
    rare, common, read = [], [], 0
    for column in sorted(columns, key=lambda column: len(column.values)):
        read += len(column.values)
        (rare if read <= SELECTED or not rare else common).append(column)
    largest = rare.pop()
    weight = largest.weight
    base = dict(largest.values) if weight == 1.0 else {slot: weight * v for slot, v in largest.values.items()}
    for _, weight, values in rare:
        for slot, value in values.items():
            base[slot] = base.get(slot, 0.0) + weight * value
    for _, weight, values in common:
        for slot in base.keys() & values.keys():
            base[slot] += weight * values[slot]
    return base


def _with_neighbours(postings: Postings, candidates: list[int]) -> list[int]:
    found = dict.fromkeys(candidates)
    for slot in candidates:
        for other in postings.beside(slot):
            if other is not None:
                found[other] = None
    return list(found)


def _order(
    postings: Postings, base: Mapping[int, float], candidates: Iterable[int], profile: Profile
) -> list[Column]:
    if not (profile.before or profile.after):
        return []
    before, after = {}, {}
    for slot in candidates:
        earlier, later = postings.beside(slot)
        if earlier in base:
            before[slot] = base[earlier]
        if later in base:
            after[slot] = base[later]
    return [Column("before", profile.before, before), Column("after", profile.after, after)]


def _standing(postings: Postings, candidates: Iterable[int], profile: Profile) -> list[Column]:
    """Return what does not depend on the question: recency and prior."""
    columns = []
    if profile.recency:
        times = {slot: at for slot in candidates if (at := postings.entries[slot].doc.at) is not None}
        newest = max(times.values(), default=0.0)
        half = profile.half_life_days * _DAY
        columns.append(
            Column("recency", profile.recency, {s: 0.5 ** ((newest - at) / half) for s, at in times.items()})
        )
    if profile.prior:
        priors = {slot: prior for slot in candidates if (prior := postings.entries[slot].doc.prior)}
        columns.append(Column("prior", profile.prior, priors))
    return columns


def _hits(
    postings: Postings, candidates: Iterable[int], columns: list[Column], k: int, profile: Profile
) -> list[Hit]:
    scores = dict.fromkeys(candidates, 0.0)
    for _, weight, values in columns:
        for slot in scores:
            value = values.get(slot)
            if value is not None:
                scores[slot] += weight * value
    entries = postings.entries

    def standing(slot: int) -> tuple[float, float, str]:
        doc = entries[slot].doc
        return scores[slot], doc.at or 0.0, doc.key

    best = heapq.nlargest(3 * k if profile.repeats else k, scores, key=standing)
    ordered = spread(best, scores, entries, k, profile.repeats)
    hits = []
    for slot, repetition in ordered:
        terms = [Term(n, w, v) for n, w, values in columns if (v := values.get(slot))]
        if repetition is not None:
            terms.append(repetition)
        hits.append(Hit(entries[slot].doc, total(terms), tuple(terms)))
    return hits
