"""The companion's work: what happens when a session starts and ends, and when a person chooses a persona."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from persona_companion.names import NONE, canonical
from persona_companion.ownership import Ownership, Seat
from persona_companion.roles import resolve
from persona_companion.selection import PIN, Selection, Wish, select, wish
from persona_companion.settings import Settings, SettingsFile
from persona_hooks.errors import Changed, ConflictError, PersonaError, RefusedError
from persona_hooks.messages import CompanionQuery
from persona_hooks.speech import phrase, say, worded

if TYPE_CHECKING:
    from persona_companion.briefs import Brief
    from persona_companion.discovery import Catalogue
    from persona_companion.faults import Fault
    from persona_hooks.messages import Setting
    from persona_hooks.ports import Host, Session
    from persona_hooks.specs import Block
    from persona_hooks.turn import Turn


class Switched(NamedTuple):
    """What came of a choice.

    Attributes:
        seat: The seat as it is now.
        changed: Whether the session's persona or the remembered choice changed.
        remembered: Whether later sessions will begin with it.
        pinned: Whether ``PI_PERSONA_DEFAULT`` will decide there instead.
    """

    seat: Seat
    changed: Changed
    remembered: bool
    pinned: bool


class Companion:
    """One plugin instance's personas. Files are read when a session starts and when a person asks, never in a query.

    Args:
        host: What the host lends.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._file = SettingsFile(host.agent_dir)
        self._choosing = threading.Lock()
        self._chosen: dict[tuple[str, str], str | None] = {}
        self.ownership = Ownership(host.bus, self.settings)

    def start(self, session: Session, turn: Turn) -> None:
        """Find out who speaks in ``session`` and open its memory; where that cannot be known, say so instead."""
        settings = self._file.read()
        try:
            asked = self._wish(session, settings)
        except PersonaError as error:
            catalogue = None
            selection = Selection("leg" if session.leg else "remembered", blocked=error)
        else:
            catalogue = None if asked.persona is None else self.catalogue(session)
            selection = select(asked, catalogue)
        if turn.alive():
            self.ownership.activate(session, selection, settings)
            self._tell(selection, settings.faults, () if catalogue is None else catalogue.faults)

    def stop(self, session: Session) -> None:
        """Close the memory of ``session``."""
        self.ownership.revoke(session)

    def catalogue(self, session: Session) -> Catalogue:
        """Return the personas there are for ``session``, read now."""
        from persona_companion.discovery import discover  # noqa: PLC0415 - without a persona no brief is read

        return discover(self._host.agent_dir, session.cwd, self._host.home, trusted=session.trusted)

    def settings_faults(self) -> tuple[Fault, ...]:
        """Return whatever is malformed in the settings, read now."""
        return self._file.read().faults

    def choose(self, session: Session, name: str, turn: Turn) -> Switched:
        """Make ``name`` the persona of ``session``, or nobody where it is ``none``.

        The choice is written before it takes effect: where it cannot be remembered although it should be, nothing
        changes, so that what is shown and what owns the memory never differ.

        Raises:
            NotFoundError: There is no such persona to use.
            RefusedError: The session is a worker's, whose persona is frozen, has not started, or has another companion.
            PersonaError: The choice could not be written.
        """
        with self._choosing:
            if self._stands_down(session):
                raise RefusedError(phrase("Another companion decides who speaks here."), reason="foreign_companion")
            before = self.ownership.at(session)
            if before.leg:
                raise RefusedError(
                    phrase("A worker's persona is that of whoever launched it."), reason="frozen_persona"
                )
            wanted = canonical(name)
            brief = None if wanted.casefold() == NONE else self.catalogue(session).find(wanted)
            return self._settle(session, before, brief, turn)

    def _settle(self, session: Session, before: Seat, brief: Brief | None, turn: Turn) -> Switched:
        settings = self._file.read()
        persona = None if brief is None else brief.name
        remembers = settings.persists(self._host.environ)
        written = self._file.remember(persona, turn.check) if remembers else False
        try:
            seat = self.ownership.switch(before, Selection("chosen", brief), self._file.read())
        except ConflictError as error:
            raise ConflictError(error.message, reason=error.reason, changed=_said(written)) from None
        self._chosen[session.id, session.seat] = persona
        switched = (before.selection.persona, before.selection.ready) != (persona, True)
        pinned = bool(self._host.environ.get(PIN, "").strip())
        return Switched(seat, _said(switched or written), remembers, pinned)

    def block(self, session: Session) -> Block | None:
        """Return the persona's part of the model's request, or None where nobody speaks."""
        try:
            brief = self.ownership.at(session).selection.brief
        except RefusedError:
            return None
        if brief is None or self._stands_down(session):
            return None
        from persona_companion.prompt import persona_block  # noqa: PLC0415 - as for briefs
        from persona_hooks.brakes import braked  # noqa: PLC0415 - as above

        return persona_block(brief, objective=not braked(self._host.bus, session, declared=brief.may_brake))

    def settings(self, seat: Seat) -> tuple[Setting, ...]:
        """Return the effective settings of a seat: the file's, and what the persona's brief asks for."""
        settings, brief = seat.settings, seat.selection.brief
        found = settings.effective(self._host.environ)
        if brief is None:
            return found
        source = str(brief.path)
        asked: list[tuple[str, str | bool]] = [("brief.brakes", brief.may_brake)]
        if brief.role is not None:
            asked.append(("brief.role", resolve(settings.models, brief.role).role))
        if brief.model is not None:
            asked.append(("brief.model", brief.model))
        return (*found, *(settings.setting(key, value, source) for key, value in asked))

    def _stands_down(self, session: Session) -> bool:
        """Whether another companion is heard in this session: then it says who speaks, and we say nothing."""
        replies = self._host.bus.query(CompanionQuery(session_id=session.id))
        return any(reply.plugin != self._host.bus.name for reply in replies)

    def _wish(self, session: Session, settings: Settings) -> Wish:
        key = (session.id, session.seat)
        if session.reason == "reload" and key in self._chosen:
            return Wish(self._chosen[key], "chosen")
        return wish(session, self._host.environ, settings.remembered)

    def _tell(self, selection: Selection, settings: tuple[Fault, ...], briefs: tuple[Fault, ...]) -> None:
        notify = self._host.ui.notify
        # Where nobody watches, each command is refused with the same sentence.
        if selection.blocked is not None and self._host.capabilities.ui:
            notify(worded(selection.blocked.message), "warning")
        for fault in settings:
            if selection.blocked is None or fault.message not in selection.blocked.message:
                notify(worded(fault.text), "warning")
        # A script that runs one command is not told about the briefs it does not use.
        if briefs and self._host.capabilities.ui:
            notify(say("Personas: {number} to correct; see /persona doctor.", number=len(briefs)), "warning")


def _said(changed: bool) -> Changed:  # noqa: FBT001 - one value into another
    return "yes" if changed else "no"
