"""Access: what every verb and every pipeline passes before it touches memory.

The switch is asked first (``/mind off``), then the owner's scope is worked out; the permit that comes with it is asked
again inside the store, before each lock and each rename: a write whose owner changed meanwhile does not happen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, ConflictError, RefusedError
from persona_hooks.owner import Owner, live_owner
from persona_hooks.speech import phrase
from persona_mind.kernel import scope as scopes
from persona_mind.kernel.settings import ENABLED, MindSettings, collect

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.bus import BusClient
    from persona_hooks.ports import Session
    from persona_hooks.specs import Room
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Call
    from persona_mind.kernel.scope import Project, Scope

SWITCH: Final = "persona-mind-switch"
"""The journal entry that holds ``{"enabled": bool}``; the last one in a log counts.

One that turns memory on against the lasting setting holds that setting, too: ``{"enabled": true, "setting": false}``.
"""

Permit = Callable[[], None]
"""Raises once the work it stands for must not change anything any more."""


@dataclass(slots=True)
class _Known:
    """What is kept of one session between calls.

    Attributes:
        settings: What the person set, as it was when the session began.
        switch: On or off where this session was told so; None where the setting says, as after an "on" that only took
            an "off" back: whoever then turns memory off for good has turned it off here, too.
        incognito: Whether nothing may be read or written.
    """

    settings: MindSettings
    switch: bool | None
    incognito: bool

    @property
    def enabled(self) -> bool:
        """The session's switch, else the setting."""
        return self.settings.enabled if self.switch is None else self.switch


class Access:
    """The gate of one plugin instance."""

    def __init__(self, bus: BusClient, home: Path, environ: Mapping[str, str]) -> None:
        self._bus = bus
        self._home = home
        self._environ = environ
        self._known: dict[str, _Known] = {}

    def settings(self, session: Session) -> MindSettings:
        """Return the settings as they were when the session began."""
        return self._session(session).settings

    def effective(self, session_id: str) -> MindSettings | None:
        """Return the settings of a session that has begun here as they work now, its switch included."""
        known = self._known.get(session_id)
        return None if known is None else known.settings._replace(enabled=known.enabled and not known.incognito)

    def enabled(self, session: Session) -> bool:
        """Return whether memory works in this session: not incognito, and the session's switch, else the setting."""
        return not self.incognito(session) and self._session(session).enabled

    def incognito(self, session: Session) -> bool:
        """Return whether nothing may be read or written, because the room is incognito."""
        return self._session(session).incognito

    def silenced(self, session: Session) -> str | None:
        """Return why this conversation is not remembered, where the person chose that for it; else None."""
        if self.incognito(session):
            return phrase("this room is incognito")
        return phrase("memory is off in this session") if self._session(session).switch is False else None

    def room(self, session: Session, room: Room) -> None:
        """Take note of who is present, and how private it is."""
        self._session(session).incognito = session.incognito or room.incognito

    def switch(self, session: Session, *, on: bool) -> tuple[bool, bool]:
        """Turn memory on or off for this session, in its log.

        Returns:
            Whether that changed anything, and whether a file holds it.
        """
        known = self._session(session)
        if known.enabled == on:
            path = session.journal.path
            return False, path is not None and os.path.exists(path)  # noqa: PTH110 - it never raises
        data = {"enabled": on} if known.settings.enabled or not on else {"enabled": on, "setting": False}
        receipt = session.journal.append(session.guard(), SWITCH, data)
        known.switch = _switched(data)
        return True, receipt.durable

    def forget(self, session: Session) -> None:
        """Let go of what is kept of a session that begins anew or has ended."""
        self._known.pop(session.id, None)

    def scope(self, session: Session, owner: Owner) -> Scope:
        """Return the owner's scope in the session's project."""
        return scopes.Scope(owner.persona, scopes.segment(owner.persona), self.project(session))

    def project(self, session: Session) -> Project:
        """Return where the session works, whoever owns it."""
        return scopes.find_project(session.cwd, self._home)

    def owner(self, session: Session) -> Owner:
        """Return the live owner; see ``persona_hooks.owner.live_owner``."""
        return live_owner(self._bus, session.id, session.seat)

    def permit(self, session: Session, owner: Owner, turn: Turn) -> Permit:
        """Return what the store asks before each lock and each rename."""

        def check() -> None:
            turn.check()
            if self.owner(session) != owner:
                raise ConflictError(
                    phrase("The memory's owner changed meanwhile; {unchanged}.", unchanged=UNCHANGED),
                    reason="owner_changed",
                )

        return check

    def enter(self, call: Call) -> tuple[Scope, Permit]:
        """Return the scope and the permit of a verb's call.

        Raises:
            RefusedError: Memory is off in this session, or a delegated worker asks.
        """
        if self.incognito(call.session):
            raise RefusedError(
                phrase("This room is incognito: memory is neither read nor written here."), reason="incognito"
            )
        if not self.enabled(call.session):
            raise RefusedError(
                phrase(
                    "{off} `/mind on` turns it on; `{setting}` in persona/settings.json is the lasting setting.",
                    off=phrase("Memory is off for commands in this directory.")
                    if call.session.shared
                    else phrase("Memory is off in this session."),
                    setting=ENABLED,
                ),
                reason="memory_off",
            )
        if call.owner.leg or call.session.leg:
            raise RefusedError(
                phrase("A delegated worker reads memory in its prompt and has no memory tools."), reason="leg"
            )
        return self.scope(call.session, call.owner), self.permit(call.session, call.owner, call.turn)

    def _session(self, session: Session) -> _Known:
        known = self._known.get(session.id)
        if known is None:
            fresh = _Known(collect(self._bus, session.id, self._environ), _last_switch(session), session.incognito)
            # Verbs run on callers' threads: whoever came first may have switched it by now, and that must not be lost.
            known = self._known.setdefault(session.id, fresh)
        elif not known.settings.answered:
            # A companion that started late may say that memory is off.
            known.settings = collect(self._bus, session.id, self._environ)
        return known


def _last_switch(session: Session) -> bool | None:
    # All branches are looked at: who turned memory off did not mean one branch of the conversation.
    for entry in reversed(session.journal.entries()):
        if entry.type == "custom" and entry.custom_type == SWITCH:
            return _switched(entry.data)
    return None


def _switched(data: Mapping[str, object]) -> bool | None:
    """Return what an entry of the switch says: off, on against the setting, or no more than the setting (None)."""
    if data.get("enabled") is False:
        return False
    return True if data.get("setting") is False else None
