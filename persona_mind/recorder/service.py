"""The recorder: a turn is kept in memory while it runs, and written once nobody waits for it.

Each owner has a log of its own, so that nobody learns what another persona was reminded of.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_mind.kernel import clock
from persona_mind.recorder.model import MAX_ITEMS, Item, Turn, explained, without

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from persona_hooks.ports import Session
    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Hit
    from persona_store.document import Document, Row, Snapshot
    from persona_store.transaction import Profile

FAMILY: Final = "recorder"
MAX_TURNS: Final = 256
"""Turns that one owner's log holds; an older one makes room for a new one."""


@dataclass(frozen=True, slots=True)
class Request:
    """What stood in one request.

    Attributes:
        shown: Tier and id of each memory, in order.
        explain: Finds out, after the turn, which of them had to do with what was asked.
        left: By kind of memory, how many entries had no room.
        withheld: How many break a rule.
    """

    shown: Sequence[tuple[str, str]]
    explain: Callable[[], Mapping[str, Hit]]
    left: Mapping[str, int]
    withheld: int


@dataclass(slots=True)
class _Running:
    """A turn that is not written yet."""

    scope: Scope
    at: str
    request: Request | None = None
    recalled: dict[str, Item] = field(default_factory=dict)


class Recorder:
    """The recorder of one profile."""

    def __init__(self, profile: Profile, now: Now) -> None:
        self._profile = profile
        self._now = now
        self._running: dict[tuple[str, str], _Running] = {}

    def asked(self, session: Session, scope: Scope, request: Request) -> None:
        """Note a request that is about to be made; one before it that was never answered is dropped."""
        self._running[session.id, session.seat] = _Running(scope, clock.format(self._now()), request)

    def recalled(self, session: Session, scope: Scope, found: Iterable[tuple[str, str, Hit]]) -> None:
        """Note what the model recalled by itself: tier, id and why."""
        key = session.id, session.seat
        running = self._running.get(key)
        if running is None or running.scope.segment != scope.segment:
            running = self._running[key] = _Running(scope, clock.format(self._now()))
        for tier, handle, hit in found:
            running.recalled[handle] = explained(handle, tier, hit, "recalled")

    def settle(self, session: Session, check: Permit) -> bool:
        """Write the turn that has ended; return whether there was one with a memory in it.

        Raises:
            PersonaError: As for ``Profile.update``; the turn is lost, and nothing else.
        """
        running = self._running.pop((session.id, session.seat), None)
        turn = None if running is None else _turn(running, session.id)
        if running is None or turn is None:
            return False
        document = self.document(running.scope.segment)

        def add(snapshot: Snapshot[Turn]) -> list[Row[Turn]]:
            return [*snapshot.rows, document.row(turn)][-MAX_TURNS:]

        self._profile.update(document, add, check=check)
        return True

    def close(self, session: Session, check: Permit) -> None:
        """End a session: what the model recalled in a host that never says it has settled is written."""
        running = self._running.get((session.id, session.seat))
        if running is not None and running.recalled:
            self.settle(session, check)
        self.forget(session)

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended."""
        self._running.pop((session.id, session.seat), None)

    def turns(self, session: Session, scope: Scope) -> list[Turn]:
        """Return the owner's turns, oldest first, with the one that is running. Reads only."""
        turns = list(self.document(scope.segment).read().values)
        running = self._running.get((session.id, session.seat))
        now = None if running is None or running.scope.segment != scope.segment else _turn(running, session.id)
        return turns if now is None else [*turns, now]

    def document(self, segment: str) -> Document[Turn]:
        """Return the log of an owner; it has a lock of its own, apart from memory's."""
        return self._profile.document(f"recorder/{segment}.json", Turn, family=FAMILY)

    def drop(self, ids: Collection[str], check: Permit | None = None) -> list[Path]:
        """Take ids out of every log, since what they named was erased; return the files that changed."""
        folder = self._profile.root / "recorder"
        segments = sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []
        changed = []
        for document in map(self.document, segments):

            def clean(snapshot: Snapshot[Turn], document: Document[Turn] = document) -> list[Row[Turn]]:
                return [
                    row if row.value is None else document.revise(row, without(row.value, ids)) for row in snapshot.rows
                ]

            if self._profile.update(document, clean, check=check).changed:
                changed.append(document.path)
        return changed


def _turn(running: _Running, session_id: str) -> Turn | None:
    request = running.request
    hits = request.explain() if request and request.shown else {}
    shown = [explained(handle, tier, hits.get(handle)) for tier, handle in request.shown] if request else []
    items = tuple([*shown, *running.recalled.values()][:MAX_ITEMS])
    withheld = request.withheld if request else 0
    if not items and not withheld:
        return None
    return Turn(
        id=secrets.token_hex(6),
        at=running.at,
        session=session_id,
        project=running.scope.project.slug,
        items=items,
        left=dict(request.left) or None if request else None,
        withheld=withheld,
    )
