"""From a query to ranked hits: the rarest words select, and then every kind of evidence weighs."""

from __future__ import annotations

import sys
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from persona_mind.recall import evidence
from persona_mind.recall.analyse import Analyser, language_of, tokens
from persona_mind.recall.diverse import spread
from persona_mind.recall.evidence import Column
from persona_mind.recall.explain import Hit, Term, total
from persona_mind.recall.language import ASKS_WHEN, QUESTIONS
from persona_mind.recall.seats import seat
from persona_mind.recall.when import Window, window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from persona_mind.recall.model import Profile
    from persona_mind.recall.postings import Postings
    from persona_mind.recall.seats import Pick

SELECTED = 8_000
"""Postings read to select candidates for a short answer. Words too frequent to fit in weigh, but select nothing."""
COMMON_TAG = 8
"""A tag that more than one in so many items have, such as a speaker's name, weighs but selects nothing."""
FEW = 64
"""Items that may have a tag without its being common."""
READ = 8_000
"""Characters of a query that are read; a prompt with a file pasted into it says early what it is about."""
TERMS = 32
"""Terms of a query that are looked for; of more, the rarest in the index."""
DEPTH = 32
"""Candidates that are weighed in full, at least; four for each hit asked for when that is more.

Who asks for more hits than this pages through everything: then every word and tag selects."""
EXPANDED = 10
"""The best candidates, whose neighbours become candidates too."""


class Query(NamedTuple):
    """What a query comes down to.

    Attributes:
        terms: Distinct stems, in the order of the query.
        asks: Whether it is a question; otherwise it is a cue.
        asks_when: Whether it asks for a time.
        span: The time it names.
    """

    terms: tuple[str, ...]
    asks: bool
    asks_when: bool
    span: Window | None


class Meaning(Protocol):
    """How like each item is to a query in meaning.

    Attributes:
        share: The part of the items of which that is known, 0 to 1.
    """

    share: float

    def best(self, most: int) -> list[int]:
        """Return the slots that are likest."""
        ...

    def values(self, slots: Iterable[int]) -> Mapping[int, float]:
        """Return how much likelier than usual each slot is, in standard deviations."""
        ...


def read(postings: Postings, analyser: Analyser, text: str, now: float | None) -> Query:
    """Analyse a query: in its own language, and in each language that the index holds."""
    words = tokens(text[:READ])
    language = language_of(frozenset(words), analyser.default, postings.languages)
    content = [word for word in words if analyser.stems((word,), language)]
    terms = dict.fromkeys(analyser.stems(content, language))
    for other in postings.languages:
        if other != language:
            terms |= dict.fromkeys(analyser.stems(content, other))
    return Query(
        tuple(terms) if len(terms) <= TERMS else _rarest(postings, terms),
        asks="?" in text or (bool(words) and words[0] in QUESTIONS),
        asks_when=not ASKS_WHEN.isdisjoint(words[:2]),
        span=window(words, postings.newest() if now is None else now),
    )


def _rarest(postings: Postings, terms: Iterable[str]) -> tuple[str, ...]:
    """Return the terms of a long query to look for, in its order: the rarest of those that the index has."""
    held = {term: count for term in terms if (count := postings.held(term))}
    rarest = frozenset(sorted(held, key=held.__getitem__)[:TERMS])
    # A query of unknown words still names something to look for, so that it does not list everything.
    return tuple(term for term in held if term in rarest) or tuple(islice(terms, TERMS))


def rank(postings: Postings, query: Query, k: int, profile: Profile, meaning: Meaning | None = None) -> list[Hit]:
    """Return the best ``k`` documents for the query; by standing alone when it names nothing to look for."""
    if not k or not len(postings):
        return []
    said = evidence.of_words(postings, query.terms, profile)
    tagged = evidence.of_tags(postings, query.terms, profile)
    dated = evidence.of_window(postings, query.span, profile) if query.span and profile.when else []
    depth = max(DEPTH, 4 * k)
    spoken, found, left_over = (
        select(said, tagged, SELECTED, max(FEW, len(postings) // COMMON_TAG))
        if k <= DEPTH
        else select(said, tagged, sys.maxsize, len(postings))
    )
    likest = meaning.best(depth) if meaning else []
    candidates = _candidates(found, dated, likest, depth)
    columns = [column for column in (*said, *tagged, *dated) if column.weight]
    if candidates and profile.ordered:
        candidates |= dict.fromkeys(evidence.neighbourhood(postings, islice(candidates, EXPANDED)))
        if left_over:
            _complete(spoken, left_over, evidence.neighbourhood(postings, candidates) | candidates.keys())
        columns += evidence.of_order(postings, spoken, candidates, profile)
    if not candidates and not query.terms:
        candidates = dict.fromkeys(postings.entries)
    columns += evidence.of_groups(postings, query.terms, candidates, profile)
    columns += evidence.of_sentence(postings, candidates, profile, asks_when=query.asks_when)
    columns += evidence.of_standing(postings, candidates, profile)
    if meaning and profile.meaning:
        columns.append(Column("meaning", profile.meaning, meaning.values(candidates)))
    scores = _scores(candidates, columns)
    picked = spread(scores, postings.entries, k, profile.repeats)
    if meaning:
        # While most are still unread, the likest of the others deserve no more places than their share.
        share = meaning.share * (profile.seats if query.asks else profile.seats_of_cue)
        picked = seat(picked, _seating(postings, likest, meaning, profile), scores, share)
    return _explained(postings, picked, columns)


def matching(postings: Postings, query: Query, profile: Profile) -> int:
    """Return how many documents hold a word of the query, in text or tags."""
    columns = (*evidence.of_words(postings, query.terms, profile), *evidence.of_tags(postings, query.terms, profile))
    return len(set[int]().union(*(column.values for column in columns)))


def _candidates(
    found: Mapping[int, float], dated: Sequence[Column], likest: Sequence[int], depth: int
) -> dict[int, None]:
    """Return the slots worth weighing, best first: by words, by the time named, by meaning."""
    candidates = dict.fromkeys(_top(found, depth))
    for column in dated:
        candidates |= dict.fromkeys(islice(column.values, depth if candidates else None))
    return candidates | dict.fromkeys(likest)


def _seating(postings: Postings, likest: Sequence[int], meaning: Meaning, profile: Profile) -> list[int]:
    """Order the likest by likeness, those that only ask after those that tell."""
    likeness = meaning.values(likest)
    asking = {slot for slot in likest if postings.entries[slot].analysis.asks}
    return sorted(likest, key=lambda slot: -likeness[slot] - profile.asks * (slot in asking))


def select(
    said: Sequence[Column], tagged: Sequence[Column], room: int, common: int
) -> tuple[dict[int, float], dict[int, float], list[Column]]:
    """Add up the rarest columns of words, as far as there is room for their postings, and of tags that are not common.

    Args:
        said: The columns of words.
        tagged: The columns of tags.
        room: Postings to read at most, but for the rarest word's.
        common: A tag that more items have selects nothing, unless nothing else does.

    Returns:
        The sums of the words, the sums of words and tags, and the columns of words that were left over.
    """
    spoken: dict[int, float] = {}
    left_over: list[Column] = []
    for column in sorted(said, key=_size):
        if spoken and len(column.values) > room:
            left_over.append(column)
            continue
        room -= len(column.values)
        _add(spoken, column)
    found = spoken
    for column in sorted(tagged, key=_size):
        if found and len(column.values) > common:
            break
        if found is spoken:
            found = dict(spoken)
        _add(found, column)
    return spoken, found, left_over


def _size(column: Column) -> int:
    return len(column.values)


def _add(sums: dict[int, float], column: Column) -> None:
    _, weight, values = column
    if not sums and weight == 1.0:
        sums.update(values)
        return
    get = sums.get
    for slot, value in values.items():
        sums[slot] = get(slot, 0.0) + weight * value


def _complete(sums: dict[int, float], columns: Iterable[Column], slots: Iterable[int]) -> None:
    for _, weight, values in columns:
        for slot in slots:
            value = values.get(slot)
            if value is not None:
                sums[slot] = sums.get(slot, 0.0) + weight * value


def _top(sums: Mapping[int, float], most: int) -> list[int]:
    """Return the slots with the highest sums, best first; a sample bounds what has to be sorted."""
    items: Iterable[tuple[int, float]] = sums.items()
    if len(sums) > 8 * most:
        step = 8
        sample = sorted(islice(sums.values(), 0, None, step), reverse=True)
        bar = sample[min(len(sample) - 1, 2 * most // step + 8)]
        above = [item for item in items if item[1] >= bar]
        if len(above) >= most:
            items = above
    return [slot for slot, _ in sorted(items, key=itemgetter(1), reverse=True)[:most]]


def _scores(candidates: Iterable[int], columns: Sequence[Column]) -> dict[int, float]:
    scores = dict.fromkeys(candidates, 0.0)
    for _, weight, values in columns:
        few, many = (values, scores) if len(values) < len(scores) else (scores, values)
        for slot in few:
            if slot in many:
                scores[slot] += weight * values[slot]
    return scores


def _explained(postings: Postings, picked: Iterable[Pick], columns: Sequence[Column]) -> list[Hit]:
    hits = []
    for slot, choice in picked:
        terms = [Term(name, weight, values[slot]) for name, weight, values in columns if values.get(slot)]
        if choice is not None:
            terms.append(choice)
        hits.append(Hit(postings.entries[slot].doc, total(terms), tuple(terms)))
    hits.sort(key=lambda hit: -hit.score)
    return hits
