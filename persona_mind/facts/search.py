"""Recall over facts: one index a view, kept while nothing changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_mind.facts.files import Held, rows
from persona_mind.facts.model import TIERS, Tier
from persona_mind.facts.shown import ShownFact, shown
from persona_mind.kernel.kinds import PRIORITY, prior
from persona_mind.recall.pool import Patience, no_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from persona_mind.facts.files import FactFiles
    from persona_mind.facts.model import Fact
    from persona_mind.kernel.compared import Compared
    from persona_mind.kernel.identity import Key
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Doc, Hit, Index
    from persona_mind.recall.pool import Sources
    from persona_store.document import Damage, Snapshot

_VIEWS: Final = 6


class Found(NamedTuple):
    """One page of a recall.

    Attributes:
        facts: Best first, each with why it was found.
        total: How many match in all.
        known: How many there are to search.
        unsafe: How many of the best may not be shown, since their text breaks a rule.
        damaged: The tiers that were read from a previous version, and what was wrong with the present one.
        compared: How far meaning took part; None where no model is set.
    """

    facts: tuple[tuple[Held, Hit], ...]
    total: int
    known: int
    unsafe: int = 0
    compared: Compared | None = None
    damaged: tuple[tuple[Tier, Damage], ...] = ()


class View:
    """What one owner sees in some tiers, at one version of their files."""

    def __init__(
        self, snapshots: Sequence[tuple[Tier, Snapshot[Fact]]], now: datetime, meaning: Sources = no_source
    ) -> None:
        self.snapshots = snapshots
        self._meaning = meaning
        found = [held for tier, shot in snapshots for held in rows(tier, shot)]
        live = [held for held in found if held.fact.live(now)]
        ends = {held.fact.expires for held in found if held.fact.expires}
        # What has expired is there again if the clock is set back.
        self._since = max((end for end in ends if end <= now), default=None)
        self._until = min((end for end in ends if end > now), default=None)
        self.facts = collapse(live)
        self._by_key = {str(at): held for at, held in enumerate(self.facts)}
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._shown: dict[int, ShownFact] = {}

    @cached_property
    def standing(self) -> list[Held]:
        """The facts by what they matter without any question: objectives, then by kind, the latest first."""
        return sorted(self.facts, key=lambda held: (PRIORITY.index(held.fact.kind), -held.fact.seen.timestamp()))

    @cached_property
    def objectives(self) -> list[Held]:
        """Those of the standing facts that are objectives."""
        return [held for held in self.standing if held.fact.kind == "objective"]

    @cached_property
    def keys(self) -> frozenset[Key]:
        """What the facts say."""
        return frozenset(held.fact.key for held in self.facts)

    @cached_property
    def recent(self) -> list[Held]:
        """The facts, the latest first."""
        return sorted(self.facts, key=lambda held: held.fact.seen, reverse=True)

    def shown(self, held: Held) -> ShownFact:
        """Return one of the facts as it may be shown; judged once a version."""
        known = self._shown.get(id(held))
        if known is None:
            known = self._shown[id(held)] = shown(held)
        return known

    def holds(self, snapshots: Sequence[tuple[Tier, Snapshot[Fact]]], now: datetime) -> bool:
        """Return whether this is still what there is to see."""
        pairs = zip(self.snapshots, snapshots, strict=True)
        # A file that is not there gives a new empty version each time.
        same = all(
            old is new or (not (old.rows or new.rows) and old.damage == new.damage) for (_, old), (_, new) in pairs
        )
        return same and (self._since is None or self._since <= now) and (self._until is None or now < self._until)

    def best(self, query: str, limit: int) -> list[Held]:
        """Return the best facts for a query and nothing about the others. One search at a time."""
        return [held for held, _ in self.hits(query, limit)]

    def hits(self, query: str, limit: int) -> list[tuple[Held, Hit]]:
        """Return the best facts for a query that nobody waits for by itself, each with why. One search at a time."""
        with self._lock:
            hits = self._indexed().search(query, limit, patience=Patience.PASSING)
            return [(self._by_key[hit.key], hit) for hit in hits]

    def prepare(self) -> None:
        """Index what there is, and have it read for likeness of meaning, before anybody asks."""
        with self._lock:
            self._indexed().prepare()

    def search(self, query: str, limit: int) -> Found:
        """Return the best facts for a query, the newest where it is empty, none where it holds no word.

        One search at a time.
        """
        with self._lock:
            return self._search(query, limit)

    def _search(self, query: str, limit: int) -> Found:
        # Ranking takes a while to load, and a request without a question ranks nothing.
        from persona_mind.recall import ITEMS  # noqa: PLC0415
        from persona_mind.recall.analyse import only_signs  # noqa: PLC0415
        from persona_mind.recall.room import readable  # noqa: PLC0415

        if only_signs(query):
            return Found((), 0, len(self.facts))
        newest = replace(ITEMS, recency=0.0, prior=0.0, repeats=0.0)
        plain = not query.strip()
        index = self._indexed()
        profile = newest if plain else ITEMS
        hits, unsafe = readable(lambda most: index.search(query, most, profile), limit, self._withheld)
        total = len(index) if plain else len(hits)
        if not plain and total == limit:
            total = max(total, index.count(query))
        found = tuple((self._by_key[hit.key], hit) for hit in hits)
        damaged = tuple((tier, shot.damage) for tier, shot in self.snapshots if shot.damage is not None)
        return Found(found, total, len(index), unsafe, index.compared, damaged)

    def _withheld(self, hit: Hit) -> bool:
        return bool(self.shown(self._by_key[hit.key]).withheld)

    def _indexed(self) -> Index:
        from persona_mind.recall import Index  # noqa: PLC0415 - as above

        if self._index is None:
            self._index = Index(meaning=self._meaning)
            self._index.sync(_doc(key, held) for key, held in self._by_key.items())
        return self._index


class Views:
    """The views of one profile, the latest few kept. Safe to use from several threads.

    Args:
        files: Where the facts stand.
        meaning: Returns the model by which meanings are compared, where one is set.
    """

    def __init__(self, files: FactFiles, meaning: Sources = no_source) -> None:
        self._files = files
        self._meaning = meaning
        self._views: OrderedDict[tuple[object, ...], View] = OrderedDict()
        self._forgotten = 0
        self._lock = threading.Lock()

    def view(self, scope: Scope, tiers: Iterable[Tier], now: datetime) -> View:
        """Return what the owner sees in ``tiers`` now. Reads only."""
        wanted = tuple(tier for tier in TIERS if tier in set(tiers))
        forgotten = self._forgotten
        snapshots = [(tier, document.read()) for tier, document in self._files.documents(scope, wanted)]
        name = (scope.segment, scope.project.slug, wanted)
        with self._lock:
            known = self._views.get(name)
            if forgotten != self._forgotten:
                # What was read since may hold what was erased: it serves whoever read it, and is not kept.
                return View(snapshots, now, self._meaning)
            if known is None or not known.holds(snapshots, now):
                known = self._views[name] = View(snapshots, now, self._meaning)
            self._views.move_to_end(name)
            while len(self._views) > _VIEWS:
                self._views.popitem(last=False)
            return known

    def forget(self) -> None:
        """Let every view go, and every word that it was made of."""
        with self._lock:
            self._forgotten += 1
            self._views.clear()

    def search(self, scope: Scope, tiers: Iterable[Tier], query: str, limit: int, now: datetime) -> Found:
        """Return the best facts for a query among what the owner sees."""
        return self.view(scope, tiers, now).search(query, limit)


def collapse(live: Iterable[Held]) -> list[Held]:
    """Return one row for each fact: the private one where there is one, else the latest recorded."""
    best: dict[Key, Held] = {}
    for held in live:
        other = best.get(held.fact.key)
        if other is None or _rank(held) > _rank(other):
            best[held.fact.key] = held
    return list(best.values())


def _rank(held: Held) -> tuple[bool, datetime]:
    return held.tier == "persona", held.fact.seen


def _doc(key: str, held: Held) -> Doc:
    from persona_mind.recall import Doc  # noqa: PLC0415 - as above

    fact = held.fact
    return Doc(key, fact.text, fact.tags, at=fact.seen.timestamp(), prior=prior(fact.kind))
