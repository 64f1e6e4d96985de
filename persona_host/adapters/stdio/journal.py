"""The session log as it is kept by the host on the other side of the wire.

What was read may be outdated when something is written, so an append carries what its writer relied on, and the host
compares and appends in one step of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import BusyError, ConflictError, StorageError, UncertainError
from persona_hooks.ports import Appended, Entry
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.ports import Guard
    from persona_host.adapters.stdio.foreign import Foreign
    from persona_host.adapters.stdio.peer import Json, Peer

SECONDS = 2.0
"""How long the host may take: these calls are answered from its memory."""

OnAppend = Callable[[Entry], None]


@dataclass(frozen=True, slots=True)
class Identity:
    """Which session of which runtime of the host this process serves; fixed for the life of the process.

    Attributes:
        nonce: Made by the host for this process; a message of an earlier process cannot know it.
        generation: The host's count of runtimes.
        session_id: The host's session id.
        session_file: The log's file, or where it will be; None for a log in memory.
        cwd: Where the person works.
    """

    nonce: str
    generation: int
    session_id: str
    session_file: Path | None
    cwd: Path

    def wire(self) -> Json:
        """Return what the host compares."""
        return {"nonce": self.nonce, "generation": self.generation, "sessionId": self.session_id}


class RemoteJournal:
    """``ports.Journal`` over the wire.

    Attributes:
        generation: Set by the runtime; a guard of another one is refused here, before the host is asked.
    """

    def __init__(self, peer: Peer, identity: Identity, leaf: str | None, on_append: OnAppend, foreign: Foreign) -> None:
        self.generation = 0
        self._foreign = foreign
        self._peer = peer
        self._identity = identity
        self._leaf = leaf
        self._on_append = on_append
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._lock = threading.Lock()

    @property
    def leaf(self) -> str | None:
        """The active branch's end, as the host last told it."""
        return self._leaf

    @property
    def path(self) -> Path | None:
        """The file that holds the log, or will; None for a log in memory."""
        return self._identity.session_file

    def moved(self, leaf: str | None) -> None:
        """Take note of where the branch ends now."""
        self._leaf = leaf

    def branch(self, custom_type: str | None = None) -> list[Entry]:
        """Return the active branch from the root, or its custom entries of one type.

        Entries of the host's own types come without data: whole transcripts do not cross the wire.
        """
        with self._lock:
            self._sync()
            path, at = [], self._leaf
            while at is not None and (entry := self._by_id.get(at)) is not None:
                path.append(entry)
                at = entry.parent_id
        path.reverse()
        return [entry for entry in path if custom_type is None or entry.custom_type == custom_type]

    def entries(self) -> list[Entry]:
        """Return every entry of every branch, in the order of writing; see ``branch``."""
        with self._lock:
            self._sync()
            return list(self._entries)

    def append(self, guard: Guard, custom_type: str, data: Mapping[str, Any]) -> Appended:
        """Append a custom entry, or refuse.

        Raises:
            ConflictError: Session, generation or (when asked for) leaf are no longer the guard's, or an extension of
                the host says by now that the memory is somebody else's.
            UncertainError: The host did not answer; the entry may or may not be there.
        """
        if (guard.session_id, guard.generation) != (self._identity.session_id, self.generation):
            raise ConflictError(
                phrase("The session was replaced meanwhile; nothing was appended."), reason="stale_session"
            )
        wanted = {**self._identity.wire(), **({} if guard.leaf is None else {"leaf": guard.leaf or None})}
        if self._foreign.sample is not None:
            wanted["foreign"] = self._foreign.sample
        parameters = {"guard": wanted, "customType": custom_type, "data": dict(data)}
        try:
            result = self._peer.request("session.append", parameters, seconds=SECONDS)
            entry = _entry(result["entry"])
            durable = result["durable"] is True
        except BusyError:
            raise UncertainError(
                phrase("The host did not say whether it appended the entry."), reason="no_answer"
            ) from None
        except (KeyError, TypeError):
            raise UncertainError(
                phrase("The host answered an append in a form unknown here."), reason="bad_answer"
            ) from None
        self._leaf = entry.id
        self._on_append(entry)
        return Appended(entry.id, entry.parent_id, durable)

    def _sync(self) -> None:
        """Fetch what was appended since the last time: a log only grows, and a long one must not cross again."""
        known = len(self._entries)
        parameters = {"guard": self._identity.wire(), "since": known}
        result = self._peer.request("session.entries", parameters, seconds=SECONDS)
        try:
            fresh = [_entry(item) for item in result["entries"]]
            leaf, since = result["leaf"], result["since"]
        except (KeyError, TypeError):
            raise StorageError(
                phrase("The host answered session.entries in an unknown form."), reason="bad_answer"
            ) from None
        if since != known:
            self._entries.clear()
            self._by_id.clear()
        self._entries += fresh
        self._by_id |= {entry.id: entry for entry in fresh}
        self._leaf = leaf


def _entry(item: Mapping[str, Any]) -> Entry:
    data = item.get("data")
    return Entry(
        id=item["id"],
        parent_id=item["parentId"],
        timestamp=item["timestamp"],
        type=item["type"],
        custom_type=item.get("customType"),
        data=data if isinstance(data, dict) else {},
    )
