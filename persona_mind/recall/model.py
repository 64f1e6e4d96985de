"""What goes into recall: a document, and the weights a faculty ranks its documents with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doc:
    """One thing that can be recalled: a fact, a note, a turn of a conversation, a moment.

    Attributes:
        key: The faculty's own identity of the thing; unique in an index.
        text: The words to find it by.
        tags: Short labels: tags of a fact, the speaker of a turn. Matched as words, weighed apart.
        group: What it stands in order with, such as the id of a session; empty when it has no order.
        seq: Its place in the group, then by key. Neighbours are the next lower and the next higher that exist.
        at: When it was said or written, in seconds since the epoch (UTC); ``None`` when unknown.
        prior: What the faculty thinks of it before any question, 0 to 1 (kind, importance).
    """

    key: str
    text: str
    tags: tuple[str, ...] = ()
    group: str = ""
    seq: int = 0
    at: float | None = None
    prior: float = 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """How much each kind of evidence weighs; a weight of zero switches that kind off.

    The unit is the worth of one word: its BM25 value, which is about its rarity (ln of how few items have it).
    ``docs/recall.md`` gives the formula of each kind and the reason for its weight.

    Attributes:
        words: A word of the question in the text.
        tags: A word of the question among the tags.
        kin: A longer or shorter form of a word of the question (``counsellor`` for ``counselling``).
        before: What the item before this one, in its group, has in words.
        answer: The same once more where the item before asks something: this one may answer it.
        after: What the item after it has in words.
        near: What the items two places before and after have in words.
        group: How much of the question the item's group covers as a whole.
        when: The question names a day, a month or a year, and the item is of that time or soon after.
        told_when: The question asks when, and the item tells a time.
        asks: The item asks something: what is wanted was told, so this is best negative.
        meaning: Likeness of meaning, for an index with vectors.
        seats: The share of places that likeness of meaning alone fills, for an index with vectors.
        seats_of_cue: The same for a query that asks nothing; there, shared words tell less.
        recency: Newer is better, halved every ``half_life_days``.
        prior: The faculty's own opinion, :attr:`Doc.prior`.
        repeats: The share of its score that an item loses by saying again what a better one says.
        half_life_days: Age at which recency has halved, counted from the newest item.
    """

    words: float = 1.0
    tags: float = 2.0
    kin: float = 0.5
    before: float = 0.0
    answer: float = 0.0
    after: float = 0.0
    near: float = 0.0
    group: float = 0.0
    when: float = 1.0
    told_when: float = 0.5
    asks: float = 0.0
    meaning: float = 1.5
    seats: float = 0.25
    seats_of_cue: float = 0.5
    recency: float = 0.0
    prior: float = 0.0
    repeats: float = 0.5
    half_life_days: float = 30.0

    @property
    def ordered(self) -> bool:
        """Whether neighbours count."""
        return bool(self.before or self.answer or self.after or self.near)


@dataclass(frozen=True, slots=True)
class Synced:
    """What :meth:`Index.sync` did, in numbers of documents."""

    added: int
    changed: int
    removed: int
    kept: int


ITEMS = Profile(recency=0.2, prior=0.5)
"""Items without an order: facts, notes, backlog items."""

CONVERSATION = Profile(before=0.3, answer=0.5, after=0.2, near=0.2, group=0.3, asks=-0.5)
"""Turns of conversations: order tells what a turn is about, and an answer seldom repeats its question."""
