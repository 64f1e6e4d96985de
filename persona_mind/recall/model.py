"""What goes into recall: a document, and the weights a faculty ranks its documents with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doc:
    """One thing that can be recalled: a fact, a note, a turn of a conversation, a moment.

    Attributes:
        key: The faculty's own identity of the thing; unique in an index.
        text: The words to find it by.
        tags: Short labels: tags of a fact, the speaker of a turn. Matched as words, weighed apart from the text.
        group: What it stands in order with, such as the id of a session; empty when it has no order.
        seq: Its place in the group. Neighbours are the next lower and the next higher place that exist.
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

    A word's value is its BM25 value; every other value is made of those or scaled to them, so that one set of
    weights serves short and long questions alike. ``docs/recall.md`` gives each formula and why its weight is what it is.

    Attributes:
        words: A word of the question in the text.
        tags: A word of the question among the tags.
        kin: A word of the text that begins like a word of the question (``counsellor`` for ``counselling``).
        pairs: Two neighbouring words of the question, neighbours in the text too.
        before: What the item before this one, in its group, has in words and tags.
        after: The same of the item after it.
        group: What the item's group as a whole says about the question.
        when: The question names a day, a month or a year, and the item is of that time.
        told_when: The question asks when, and the item tells a time.
        meaning: Likeness of meaning, for an index with vectors and a text that asks something.
        meaning_of_cue: The same for a text that asks nothing: there, shared words tell less.
        recency: Newer is better, halved every ``half_life_days``.
        prior: The faculty's own opinion, :attr:`Doc.prior`.
        repeats: What an item loses for saying again what a better one says.
        half_life_days: Age at which recency has halved, counted from the newest item.
    """

    words: float = 1.0
    tags: float = 1.0
    kin: float = 0.3
    pairs: float = 0.3
    before: float = 0.0
    after: float = 0.0
    group: float = 0.0
    when: float = 0.0
    told_when: float = 0.0
    meaning: float = 0.8
    meaning_of_cue: float = 2.0
    recency: float = 0.0
    prior: float = 0.0
    repeats: float = 0.5
    half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Synced:
    """What :meth:`Index.sync` did, in numbers of documents."""

    added: int
    changed: int
    removed: int
    kept: int


ITEMS = Profile(recency=0.2, prior=0.5)
"""Items without an order: facts, notes, backlog items."""

CONVERSATION = Profile(before=0.5, after=0.5)
"""Turns of conversations: order and time tell something."""
