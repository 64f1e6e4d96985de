"""Kinds of evidence, each a column: a name, a weight, and a value for each slot that has any.

A score is the sum over the columns, and an explanation is the same sum written out, so that the two cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from persona_mind.recall.postings import NOBODY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from persona_mind.recall.model import Profile
    from persona_mind.recall.postings import Postings
    from persona_mind.recall.when import Window

KIN_STEM = 5
"""A word has kin by its first letters, its last two left out, but never by fewer than these."""
KIN_LONGER = 4
"""Kin is at most so many letters longer; more is another word."""
KIN_MOST = 8
"""Kin looked at for each word of a question."""
TOLD_LATER = 14 * 86_400.0
"""What happened in the time named may be told so many seconds after it; it then counts half."""
_DAY = 86_400.0


class Column(NamedTuple):
    """One kind of evidence."""

    name: str
    weight: float
    values: Mapping[int, float]


def of_words(postings: Postings, terms: Iterable[str], profile: Profile) -> list[Column]:
    """Return the columns of words and their kin in the texts."""
    columns: list[Column] = []
    wanted = frozenset(terms)
    for term in terms:
        if profile.words and (values := postings.words(term)):
            columns.append(Column(f"word:{term}", profile.words, values))
        if profile.kin:
            columns += [Column(f"kin:{term}", profile.kin, values) for values in _kin(postings, term, wanted)]
    return columns


def _kin(postings: Postings, term: str, wanted: Collection[str]) -> Iterable[Mapping[int, float]]:
    if len(term) < KIN_STEM:
        return
    most = KIN_MOST
    for word in postings.beginning_with(term[: max(KIN_STEM, len(term) - 2)]):
        if word not in wanted and len(word) <= len(term) + KIN_LONGER:
            yield postings.words(word)
            most -= 1
            if not most:
                return


def of_tags(postings: Postings, terms: Iterable[str], profile: Profile) -> list[Column]:
    """Return the columns of words among the tags."""
    if not profile.tags:
        return []
    return [Column(f"tag:{term}", profile.tags, values) for term in terms if (values := postings.tags(term))]


def of_order(
    postings: Postings, said: Mapping[int, float], candidates: Iterable[int], profile: Profile
) -> list[Column]:
    """Return what the neighbours of the candidates have in words; ``said`` holds that for each slot."""
    before: dict[int, float] = {}
    answer: dict[int, float] = {}
    after: dict[int, float] = {}
    near: dict[int, float] = {}
    entries, get = postings.entries, said.get
    for slot in candidates:
        far_before, left, right, far_after = postings.around(slot)
        if value := get(left):
            before[slot] = value
            if entries[left].analysis.asks:
                answer[slot] = value
        if value := get(right):
            after[slot] = value
        if value := get(far_before, 0.0) + get(far_after, 0.0):
            near[slot] = value
    columns = [
        Column("before", profile.before, before),
        Column("answer", profile.answer, answer),
        Column("after", profile.after, after),
        Column("near", profile.near, near),
    ]
    return [column for column in columns if column.weight]


def of_groups(postings: Postings, terms: Iterable[str], candidates: Iterable[int], profile: Profile) -> list[Column]:
    """Return how much of the question each candidate's group covers."""
    if not profile.group:
        return []
    tables = [table for term in terms if (table := postings.groups(term))]
    known: dict[str, float] = {"": 0.0}
    values: dict[int, float] = {}
    for slot in candidates:
        group = postings.entries[slot].doc.group
        covered = known.get(group)
        if covered is None:
            covered = known[group] = sum(table.get(group, 0.0) for table in tables)
        if covered:
            values[slot] = covered
    return [Column("group", profile.group, values)]


def of_window(postings: Postings, span: Window, profile: Profile) -> list[Column]:
    """Return the items told in a stretch of time, or soon after it, worth the rarity of being so."""
    inside = postings.between(span.start, span.end)
    later = postings.between(span.end, span.end + TOLD_LATER)
    worth = postings.rarity(len(inside) + len(later))
    values = dict.fromkeys(later, worth / 2.0) | dict.fromkeys(inside, worth)
    return [Column(f"when:{span.label}", profile.when, values)]


def of_sentence(postings: Postings, candidates: Iterable[int], profile: Profile, *, asks_when: bool) -> list[Column]:
    """Return which candidates only ask, and, for a question that asks for a time, which tell one."""
    columns = []
    entries = postings.entries
    if profile.asks:
        asking = {slot: 1.0 for slot in candidates if entries[slot].analysis.asks}
        columns.append(Column("asks", profile.asks, asking))
    if asks_when and profile.told_when:
        timed = {slot: 1.0 for slot in candidates if entries[slot].analysis.timed}
        columns.append(Column("told_when", profile.told_when, timed))
    return columns


def of_standing(postings: Postings, candidates: Iterable[int], profile: Profile) -> list[Column]:
    """Return what does not depend on the question: recency and prior."""
    columns = []
    entries = postings.entries
    newest = postings.newest() if profile.recency else None
    if newest is not None:
        half = profile.half_life_days * _DAY
        times = {slot: at for slot in candidates if (at := entries[slot].doc.at) is not None}
        ages = {slot: 0.5 ** ((newest - at) / half) for slot, at in times.items()}
        columns.append(Column("recency", profile.recency, ages))
    if profile.prior:
        priors = {slot: prior for slot in candidates if (prior := entries[slot].doc.prior)}
        columns.append(Column("prior", profile.prior, priors))
    return columns


def neighbourhood(postings: Postings, slots: Iterable[int]) -> set[int]:
    """Return the neighbours of these slots, up to two places away."""
    found = {other for slot in slots for other in postings.around(slot)}
    found.discard(NOBODY)
    return found
