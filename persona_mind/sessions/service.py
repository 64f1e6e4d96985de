"""Recall over past conversations of one project: whose turns may be quoted, and the index over them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import NotFoundError
from persona_hooks.speech import phrase
from persona_mind.recall.pool import no_source
from persona_mind.sessions.model import EMBEDDED, PI

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_hooks.ports import Session
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.compared import Compared
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Hit
    from persona_mind.recall.pool import Sources
    from persona_mind.sessions.logs import Logs
    from persona_mind.sessions.model import Turn
    from persona_mind.sessions.view import View

_VIEWS: Final = 3
_SPARE: Final = 50
"""Hits that are asked for beyond those wanted at first, since some may stand in the present conversation."""


@dataclass(frozen=True, slots=True)
class Found:
    """One page of a recall.

    Attributes:
        turns: Best first, each with why it was found.
        total: How many match in all.
        known: How many there are to search.
        unread: How many logs could not be read.
        older: How many logs are left out because there are too many turns.
        unsafe: How many of the best may not be shown.
        compared: How far meaning took part; None where no model is set.
    """

    turns: tuple[tuple[Turn, Hit], ...]
    total: int
    known: int
    unread: int = 0
    older: int = 0
    unsafe: int = 0
    compared: Compared | None = None


class Sessions:
    """Past conversations. Reads only; safe to use from several threads."""

    def __init__(
        self, agent_dir: Path, home: Path, now: Now, monotonic: Callable[[], float], meaning: Sources = no_source
    ) -> None:
        self._agent_dir = agent_dir
        self._meaning = meaning
        self._home = home
        self._now = now
        self._monotonic = monotonic
        self._views: OrderedDict[tuple[str, str, str], View] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def transcripts(self) -> list[Path]:
        """The directories that hold transcripts: what was said stands there, whatever is erased here."""
        return [self._agent_dir / EMBEDDED, self._agent_dir / PI]

    def search(self, session: Session, scope: Scope, query: str, limit: int, withheld: Callable[[Turn], bool]) -> Found:
        """Return the best turns for a query among the owner's past conversations in this project.

        What stands in the present conversation is left out: it is known there. What may not be shown, as ``withheld``
        says, takes no other turn's place.
        """
        from persona_mind.recall.analyse import only_signs  # noqa: PLC0415 - most processes look at no past conversation
        from persona_mind.recall.room import readable  # noqa: PLC0415 - as above

        with self._lock:
            view = self._view(session, scope)
            present = {entry.id for entry in session.journal.branch()} if view.turns else set[str]()
            now = self._now().timestamp()

            def best(most: int) -> list[tuple[Turn, Hit]]:
                return _elsewhere(lambda k: view.ranking.rank(query, k, now=now), most, present)

            kept: list[tuple[Turn, Hit]] = []
            unsafe = 0
            if not only_signs(query):
                kept, unsafe = readable(best, limit, lambda found: withheld(found[0]))
            total = view.ranking.count(query) if len(kept) == limit or not query.strip() else len(kept)
            return Found(
                tuple(kept),
                max(len(kept), total),
                len(view.ranking),
                unread=view.unread,
                older=view.older,
                unsafe=unsafe,
                compared=view.ranking.compared,
            )

    def prepare(self, session: Session, scope: Scope) -> None:
        """Index what there is, and have it read for likeness of meaning, before anybody asks."""
        with self._lock:
            self._view(session, scope).ranking.prepare()

    def forget(self) -> None:
        """Let every view go, and every word that it was made of."""
        with self._lock:
            self._views.clear()

    def read(
        self, session: Session, scope: Scope, session_id: str, turn_id: str, around: int
    ) -> tuple[list[Turn], list[Turn]]:
        """Return one turn as its pieces in order, and up to ``around`` turns before and after it.

        Raises:
            NotFoundError: No past conversation of this owner's in this project holds it.
        """
        with self._lock:
            turns = [turn for turn in self._view(session, scope).turns if turn.session == session_id]
        places = [at for at, turn in enumerate(turns) if turn.id == turn_id]
        if not places:
            raise NotFoundError(
                phrase("No past conversation here holds this turn; recall cites those that do."), field="turn"
            )
        first, last = places[0], places[-1]
        beside = turns[max(first - around, 0) : first] + turns[last + 1 : last + 1 + around]
        return turns[first : last + 1], beside

    @cached_property
    def _logs(self) -> Logs:
        from persona_mind.sessions.logs import Logs  # noqa: PLC0415 - most processes look at no past conversation

        return Logs(self._agent_dir, self._home, self._monotonic)

    def _view(self, session: Session, scope: Scope) -> View:
        logs = self._logs.of(scope.project)
        name = (scope.project.slug, scope.segment, session.id)
        view = self._views.get(name)
        if view is None or view.logs is not logs:
            from persona_mind.sessions.view import seen  # noqa: PLC0415 - ranking takes a while to load

            view = self._views[name] = seen(view, logs, scope, session.id, self._meaning)
        self._views.move_to_end(name)
        while len(self._views) > _VIEWS:
            self._views.popitem(last=False)
        return view


def _elsewhere(rank: Callable[[int], list[tuple[Turn, Hit]]], most: int, present: set[str]) -> list[tuple[Turn, Hit]]:
    """Return the best hits that do not stand in the present conversation, however many better ones do."""
    spare = min(len(present), _SPARE)
    while True:
        hits = rank(most + spare)
        found = [(turn, hit) for turn, hit in hits if turn.id not in present]
        if len(found) >= most or len(hits) < most + spare:
            return found[:most]
        spare = 4 * (len(hits) - len(found))
