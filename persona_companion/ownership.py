"""Ownership: the answers to "is a companion here?" and "whose memory is this?", from memory and without I/O.

A seat has an owner from the end of its activation to its shutdown, and not a moment longer. The table is changed first
and announced afterwards, so that whoever hears the news and asks gets the new answer.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_companion.selection import Selection
from persona_hooks.errors import ConflictError, RefusedError
from persona_hooks.messages import (
    COMPANION,
    MEMORY_OWNER,
    SETTINGS_COLLECT,
    CompanionQuery,
    CompanionReply,
    Message,
    OwnerChanged,
    OwnerQuery,
    OwnerReply,
    SettingsQuery,
    SettingsReply,
)
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_companion.settings import Settings
    from persona_hooks.bus import BusClient
    from persona_hooks.messages import Setting
    from persona_hooks.ports import Session

RELEASE: Final = "0.1.0"
_MAX_REASON: Final = 1_024
_STARTING: Final = phrase("The companion has not finished starting in this session. Try again in a moment.")


class Seat(NamedTuple):
    """One persona's place in a session.

    Attributes:
        generation: The session's runtime that it belongs to.
        leg: Whether the session is a delegated worker's.
        selection: Who speaks.
        settings: The settings as they were when the session began, or when a choice was last made.
    """

    session_id: str
    name: str
    generation: int
    leg: bool
    selection: Selection
    settings: Settings


class Ownership:
    """The seats of all open sessions, and the companion's voice on the bus.

    Args:
        bus: The plugin's own handle.
        collect: Returns a seat's effective settings; called inside a query, so it reads no file.
    """

    def __init__(self, bus: BusClient, collect: Callable[[Seat], tuple[Setting, ...]]) -> None:
        self._bus = bus
        self._collect = collect
        self._seats: dict[tuple[str, str], Seat] = {}
        self._lock = threading.Lock()

    def answer(self) -> None:
        """Begin to answer on the bus."""
        self._bus.provide(COMPANION, self._companion)
        self._bus.provide(MEMORY_OWNER, self._owner)
        self._bus.provide(SETTINGS_COLLECT, self._settings)

    def at(self, session: Session) -> Seat:
        """Return the session's seat.

        Raises:
            RefusedError: Its activation has not finished, or it was shut down.
        """
        seat = self._seats.get((session.id, session.seat))
        if seat is None or seat.generation != session.generation:
            raise RefusedError(_STARTING, reason="owner_not_ready")
        return seat

    def activate(self, session: Session, selection: Selection, settings: Settings) -> Seat:
        """Give the session's seat its owner: the last step of its start.

        Raises:
            ConflictError: A newer runtime of the session has its owner already.
        """
        seat = Seat(session.id, session.seat, session.generation, session.leg, selection, settings)
        with self._lock:
            present = self._seats.get((session.id, session.seat))
            if present is not None and present.generation > session.generation:
                raise ConflictError(phrase("The session was replaced meanwhile."), reason="stale_session")
            self._seats[session.id, session.seat] = seat
        self._announce(seat)
        return seat

    def switch(self, before: Seat, selection: Selection, settings: Settings) -> Seat:
        """Replace the seat's selection, if it is still what the caller saw.

        Raises:
            ConflictError: The session ended, or another choice came first.
        """
        seat = before._replace(selection=selection, settings=settings)
        with self._lock:
            if self._seats.get((before.session_id, before.name)) is not before:
                raise ConflictError(phrase("The session was replaced meanwhile."), reason="stale_session")
            self._seats[before.session_id, before.name] = seat
        if (seat.selection.persona, seat.selection.ready) != (before.selection.persona, before.selection.ready):
            self._announce(seat)
        return seat

    def revoke(self, session: Session) -> None:
        """Take the owner away: the session's runtime ends. A newer runtime of the same session keeps its own."""
        with self._lock:
            seat = self._seats.get((session.id, session.seat))
            if seat is None or seat.generation > session.generation:
                return
            del self._seats[session.id, session.seat]
        self._announce(seat._replace(selection=Selection("none", blocked=RefusedError(_STARTING))))

    def _announce(self, seat: Seat) -> None:
        ready, persona = seat.selection.ready, seat.selection.persona
        self._bus.publish(
            OwnerChanged(
                provider=self._bus.name, session_id=seat.session_id, seat=seat.name, ready=ready, persona=persona
            )
        )

    def _companion(self, message: Message) -> CompanionReply:
        query = CompanionQuery.parse(message)
        return CompanionReply(provider=self._bus.name, contract=1, release=RELEASE, session_id=query.session_id)

    def _owner(self, message: Message) -> OwnerReply:
        query = OwnerQuery.parse(message)
        seat = self._seats.get((query.session_id, query.seat))
        blocked = None if seat is None else seat.selection.blocked
        ready = seat is not None and blocked is None
        reason = _STARTING if seat is None else "" if blocked is None else blocked.message
        return OwnerReply(
            provider=self._bus.name,
            session_id=query.session_id,
            seat=query.seat,
            ready=ready,
            persona=seat.selection.persona if seat is not None and ready else None,
            leg=seat is not None and seat.leg,
            reason=reason if len(reason) <= _MAX_REASON else reason[:_MAX_REASON],
        )

    def _settings(self, message: Message) -> SettingsReply | None:
        query = SettingsQuery.parse(message)
        seat = next((seat for seat in list(self._seats.values()) if seat.session_id == query.session_id), None)
        return None if seat is None else SettingsReply(provider=self._bus.name, settings=self._collect(seat))
