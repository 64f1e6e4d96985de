"""The recorder: a turn is kept in memory while it runs, and written behind, once nobody waits for it.

A write is a durable commit and takes as long as one, so it does not happen where the next turn would queue behind it:
where the host has timers, turns that settled are written together a little later, and at the latest when the session
ends. A crash in between loses the record of those turns and nothing else.

Each owner has a log of its own, so that nobody learns what another persona was reminded of.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_mind.kernel import clock
from persona_mind.recorder.model import MAX_ITEMS, Item, Turn, explained, without
from persona_store.document import is_unusable
from persona_store.layout import documents_below

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from persona_hooks.ports import Session
    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Hit
    from persona_store.document import Document, Row, Snapshot
    from persona_store.transaction import Profile

    Rows = list[Row[Turn]]

FOLDER: Final = "recorder/"
MAX_TURNS: Final = 256
"""Turns that one owner's log holds; an older one makes room for a new one."""
BEHIND: Final = 2.0
"""Seconds after which settled turns are written, all together."""

Later = Callable[[float, Callable[[], None]], object]


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

    session_id: str
    scope: Scope
    at: str
    request: Request | None = None
    recalled: dict[str, Item] = field(default_factory=dict)


class Recorder:
    """The recorder of one profile.

    Args:
        profile: Where the logs are.
        now: The clock.
        later: Runs something after so many seconds; None where the host has no timers, and turns are written at once.
    """

    def __init__(self, profile: Profile, now: Now, later: Later | None = None) -> None:
        self._profile = profile
        self._now = now
        self._later = later
        self._running: dict[tuple[str, str], _Running] = {}
        self._settled: list[_Running] = []
        self._lock = threading.Lock()

    def asked(self, session: Session, scope: Scope, request: Request) -> None:
        """Note a request that is about to be made; one before it that was never answered is dropped."""
        running = _Running(session.id, scope, clock.format(self._now()), request)
        self._running[session.id, session.seat] = running

    def recalled(self, session: Session, scope: Scope, found: Iterable[tuple[str, str, Hit]]) -> None:
        """Note what the model recalled by itself: tier, id and why."""
        key = session.id, session.seat
        running = self._running.get(key)
        if running is None or running.scope.segment != scope.segment:
            running = self._running[key] = _Running(session.id, scope, clock.format(self._now()))
        for tier, handle, hit in found:
            running.recalled[handle] = explained(handle, tier, hit, "recalled")

    def settle(self, session: Session) -> None:
        """Take note that a turn has ended; it is written soon, or at once where there are no timers."""
        running = self._running.pop((session.id, session.seat), None)
        if running is None:
            return
        with self._lock:
            self._settled.append(running)
            first = len(self._settled) == 1
        if self._later is None:
            self.flush()
        elif first:
            self._later(BEHIND, self._behind)

    def flush(self) -> int:
        """Write every turn that has settled; return how many there were with a memory in it.

        Raises:
            PersonaError: As for ``Profile.update``; the turns are lost, and nothing else.
        """
        with self._lock:
            settled, self._settled = self._settled, []
        turns: dict[str, list[Turn]] = {}
        for running in settled:
            turn = _turn(running)
            if turn is not None:
                turns.setdefault(running.scope.segment, []).append(turn)
        for segment, added in turns.items():
            document = self.document(segment)

            def add(snapshot: Snapshot[Turn], document: Document[Turn] = document, added: list[Turn] = added) -> Rows:
                return [*snapshot.rows, *map(document.row, added)][-MAX_TURNS:]

            self._profile.update(document, add)
        return sum(map(len, turns.values()))

    def _behind(self) -> None:
        with suppress(PersonaError):  # there is nobody to tell; the record of these turns is lost and nothing else
            self.flush()

    def close(self, session: Session) -> None:
        """End a session: what has settled is written, and what the model recalled in a host that never settles.

        Raises:
            PersonaError: As ``flush``.
        """
        running = self._running.pop((session.id, session.seat), None)
        if running is not None and running.recalled:
            with self._lock:
                self._settled.append(running)
        self.flush()

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended."""
        self._running.pop((session.id, session.seat), None)

    def turns(self, session: Session, scope: Scope) -> list[Turn]:
        """Return the owner's turns, oldest first, with the one that is running. Reads only."""
        with self._lock:
            unwritten = [*self._settled]
        running = self._running.get((session.id, session.seat))
        unwritten += [running] if running is not None else []
        mine = [_turn(item) for item in unwritten if item.scope.segment == scope.segment]
        return [*self.document(scope.segment).read().values, *(turn for turn in mine if turn is not None)]

    def document(self, segment: str) -> Document[Turn]:
        """Return the log of an owner; it has a lock of its own, apart from memory's."""
        return self._profile.document(f"{FOLDER}{segment}.json", Turn)

    def drop(self, ids: Collection[str], check: Permit | None = None) -> list[Path]:
        """Take ids out of the logs, since what they named was erased; return the files that changed.

        They are no words: a log that cannot be read, or is not ours, must not keep the words from being erased.
        """
        self.flush()
        for running in list(self._running.values()):
            # What a turn was given is explained by what stood there then, and written when the turn ends.
            running.request = None
            for handle in ids:
                running.recalled.pop(handle, None)
        changed = []
        for segment in self._segments():
            try:
                document = self.document(segment)
                if self._clean(document, ids, check):
                    changed.append(document.path)
            except PersonaError as error:
                if not is_unusable(error):
                    raise
        return changed

    def _clean(self, document: Document[Turn], ids: Collection[str], check: Permit | None) -> bool:
        def clean(snapshot: Snapshot[Turn]) -> list[Row[Turn]]:
            return [
                row if row.value is None else document.revise(row, without(row.value, ids)) for row in snapshot.rows
            ]

        return self._profile.update(document, clean, check=check).changed

    def _segments(self) -> list[str]:
        # Not by a pattern: that passes over a directory that may not be read, and an erasure must not.
        logs = [name for name in documents_below(self._profile.root) if name.startswith(FOLDER)]
        return [name.removeprefix(FOLDER).removesuffix(".json") for name in logs]


def _turn(running: _Running) -> Turn | None:
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
        session=running.session_id,
        project=running.scope.project.slug,
        items=items,
        left=dict(request.left) or None if request else None,
        withheld=withheld,
    )
