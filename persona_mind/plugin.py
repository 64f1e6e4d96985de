"""The mind as a plugin: it wires, and nothing else. An event comes in, one call is made, a value goes out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from persona_hooks.errors import PersonaError
from persona_hooks.messages import (
    MEMORY_OWNER_CHANGED,
    SETTINGS_COLLECT,
    Message,
    OwnerChanged,
    SettingsQuery,
    SettingsReply,
)
from persona_hooks.specs import hookimpl
from persona_mind.archive.verbs import ArchiveVerbs
from persona_mind.backlog.card import reminder
from persona_mind.backlog.reminders import WAKE, Reminders
from persona_mind.backlog.service import Backlog
from persona_mind.backlog.verbs import GUIDE as BACKLOG_GUIDE
from persona_mind.backlog.verbs import BacklogVerbs
from persona_mind.capture.blocked import Blocked
from persona_mind.capture.card import captured
from persona_mind.capture.pipeline import CARD, Capture
from persona_mind.facts.search import Views
from persona_mind.facts.service import Facts
from persona_mind.facts.verbs import GUIDE, MemoryVerbs
from persona_mind.injection.pipeline import Injection
from persona_mind.kernel.access import Access
from persona_mind.kernel.admitting import Reviewed
from persona_mind.migration.background import Moving
from persona_mind.migration.layouts import ROOT as OLD_ROOT
from persona_mind.migration.verbs import MigrationVerbs
from persona_mind.notes.service import Notes
from persona_mind.notes.verbs import GUIDE as NOTES_GUIDE
from persona_mind.notes.verbs import NoteVerbs
from persona_mind.quarantine.holding import Holding
from persona_mind.quarantine.service import Quarantine
from persona_mind.quarantine.verbs import QuarantineVerbs
from persona_mind.recorder.service import Recorder
from persona_mind.recorder.verbs import WhyVerbs
from persona_mind.safekeeping.erasing import Erasing
from persona_mind.safekeeping.naming import Naming
from persona_mind.safekeeping.shelf import Quiet, Shelf
from persona_mind.safekeeping.verbs import SafekeepingVerbs
from persona_mind.sessions.service import Sessions
from persona_mind.sessions.verbs import GUIDE as SESSIONS_GUIDE
from persona_mind.sessions.verbs import SessionVerbs
from persona_mind.status.counts import Counts
from persona_mind.status.described import Describing
from persona_mind.status.verbs import MindVerbs
from persona_mind.status.words import first_run
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from persona_hooks.cards import Card
    from persona_hooks.ports import Host, Session
    from persona_hooks.specs import Block, InputSource, Renderers, Room
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Call, Registry
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Hit

PROFILE = "persona-mind"


class MindPlugin:
    """One plugin instance. Building it touches no disk and reads no clock."""

    requires: ClassVar[tuple[str, ...]] = ("persona_companion",)

    def __init__(self, host: Host) -> None:
        self._host = host
        self._root = host.agent_dir / PROFILE
        self.access = Access(host.bus, host.home, host.environ)
        profile = Profile(self._root, host.scheduler.now)
        self.facts = Facts(profile, host.scheduler.now)
        self.views = Views(self.facts.files)
        self.backlog = Backlog(profile, host.scheduler.now)
        self.reminders = Reminders(host, self.access, self.backlog)
        self.counts = Counts(self.access, self.views, self.backlog, host.ui)
        self.quarantine = Quarantine(profile, host.scheduler.now)
        self.capture = Capture(self.access, self.facts, host.ui, self._notice, self._counted)
        self.blocked = Blocked(self.access, host.ui)
        self.notes = Notes(self.facts.erased)
        self.moving = Moving(host, self.access, self.facts, self.backlog, self._deferred)
        timers = host.scheduler.call_later if host.capabilities.scheduler else None
        self.recorder = Recorder(profile, host.scheduler.now, timers)
        self.erasing = Erasing(profile, self.recorder, self.views.forget)
        self.shelf = Shelf(profile)
        self.quiet = Quiet(self.shelf, self.erasing, timers)
        self.sessions = Sessions(host.agent_dir, host.home, host.scheduler.now, host.scheduler.monotonic)
        self.injection = Injection(
            self.access,
            self.facts,
            self.views,
            self.backlog,
            notes=self.notes,
            recorder=self.recorder,
            bus=host.bus,
            ui=host.ui,
        )
        self._open: Session | None = None
        host.bus.provide(SETTINGS_COLLECT, self._settings)
        host.bus.on(MEMORY_OWNER_CHANGED, self._owned)

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        """Offer the verbs and say when a model should use them."""
        registry = Reviewed(registry, Holding(self.access, self.quarantine), self.access.enabled, self._count)
        registry.add(*QuarantineVerbs(self.access, self.quarantine, self._host.verbs).verbs())
        past = SessionVerbs(self.access, self.sessions)
        registry.add(
            *MemoryVerbs(self.access, self.facts, self.views, self._notice, past.recall, self._noticed).verbs()
        )
        registry.add(*past.verbs())
        registry.add(*BacklogVerbs(self.access, self.backlog, self._notice, self._deferred).verbs())
        mind = MindVerbs(
            self._host,
            self.access,
            self.facts,
            self.views,
            self.backlog,
            self.quarantine,
            obstacle=self.reminders.obstacle,
            preview=self._preview,
            notice=self._notice,
        )
        registry.add(*mind.verbs())
        registry.add(*NoteVerbs(self.access, self.notes).verbs())
        archive = ArchiveVerbs(self._host, self.access, self.facts, self.backlog, self.notes, self._deferred)
        registry.add(*archive.verbs())
        moving = MigrationVerbs(self.access, self.moving, self.facts, self.backlog, self._deferred)
        registry.add(*moving.verbs())
        registry.add(*self._safekeeping().verbs())
        describing = Describing(self.facts, self.backlog, self.notes)
        registry.add(*WhyVerbs(self.access, self.recorder, describing).verbs())
        registry.guide("memory", GUIDE)
        registry.guide("notes", NOTES_GUIDE)
        registry.guide("sessions", SESSIONS_GUIDE)
        registry.guide("backlog", BACKLOG_GUIDE)

    @hookimpl
    def register_renderers(self, renderers: Renderers) -> None:
        """Render our entries live, from the ids they hold."""
        renderers.add(CARD, self._card)
        renderers.add(WAKE, self._reminder)

    @hookimpl
    def session_start(self, session: Session) -> None:
        """Begin afresh: nothing of the session before leaks into this one."""
        self._forget(session)
        self._open = session
        self.moving.start(session)
        self.reminders.start(session)
        if self._host.capabilities.ui and not session.leg:
            self.capture.warm()
            self.counts.show(session)

    @hookimpl
    def session_shutdown(self, session: Session) -> None:
        """Let go of the session."""
        self._open = None
        self.moving.stop()
        self.reminders.stop()
        with suppress(PersonaError):  # a session must end; what is lost is the record of its last turn
            self.recorder.close(session)
        self._forget(session)

    @hookimpl
    def room_changed(self, session: Session, room: Room) -> None:
        """Read and write nothing in an incognito room."""
        self.access.room(session, room)

    @hookimpl
    def input(self, session: Session, text: str, source: InputSource, turn: Turn) -> None:
        """Capture what a person asks to be remembered."""
        self.capture.input(session, text, source, turn)

    @hookimpl
    def message_start(self, session: Session, custom_type: str, text: str, turn: Turn) -> None:
        """Capture from a person's own input that is replayed."""
        self.capture.message(session, custom_type, text, turn)
        self.blocked.message(session, custom_type, text)

    @hookimpl
    def tool_result(
        self, session: Session, tool: str, call_id: str, text: str, parent_tool_call_id: str | None
    ) -> None:
        """Suggest the backlog where a delegated task reports itself blocked."""
        self.blocked.result(session, tool, call_id, text, parent_tool_call_id)

    @hookimpl
    def before_agent_start(self, session: Session, prompt: str, turn: Turn) -> list[Block]:
        """Give the model what is remembered."""
        self.moving.turn(session)
        notes = [*self.capture.lines(session, prompt), *self.blocked.lines(session)]
        return self.injection.blocks(session, prompt, notes, turn)

    @hookimpl
    def agent_start(self, session: Session) -> None:
        """Show what is due where no timer could."""
        self.reminders.turn(session)

    @hookimpl
    def agent_settled(self, session: Session, turn: Turn) -> None:
        """Clear what has expired from disk, now that nobody waits, after what is due was shown."""
        self.blocked.settled(session)
        if session.leg or not self.access.enabled(session):
            return
        self.reminders.turn(session)
        try:
            owner = self.access.owner(session)
            scope, permit = self.access.scope(session, owner), self.access.permit(session, owner, turn)
            if not self.moving.pending:
                self.facts.sweep(scope, permit)
                self.backlog.sweep(scope.project, permit)
            self.recorder.settle(session)
            self.quiet.settled()
        except PersonaError:
            return  # the next quiet moment will do; readers leave expired rows out anyway
        self._count(session)

    def _safekeeping(self) -> SafekeepingVerbs:
        naming = Naming(self.facts, self.backlog, self.notes, self.quarantine)
        return SafekeepingVerbs(
            self._host,
            self.access,
            naming,
            self.erasing,
            self.shelf,
            self.notes,
            outside=lambda: [*self.sessions.transcripts, self._host.agent_dir / OLD_ROOT],
            changed=self._deferred,
        )

    def _forget(self, session: Session) -> None:
        self.access.forget(session)
        self.capture.forget(session)
        self.blocked.forget(session)
        self.injection.forget(session)
        self.notes.release(session)
        self.recorder.forget(session)

    def _noticed(self, call: Call, scope: Scope, found: Iterable[tuple[str, str, Hit]]) -> None:
        self.recorder.recalled(call.session, scope, found)

    def _deferred(self, session: Session) -> None:
        self.reminders.changed(session)
        self._count(session)

    def _count(self, session: Session) -> None:
        if self._host.capabilities.ui and not session.leg:
            self.counts.show(session)

    def _owned(self, message: Message) -> None:
        # Another persona's memory is counted from now on.
        session = self._open
        if session is not None and isinstance(message, OwnerChanged) and message.session_id == session.id:
            self._count(session)

    def _counted(self, session: Session) -> None:
        if self._host.capabilities.ui:
            self.counts.show(session)

    def _preview(self, session: Session, turn: Turn) -> str:
        return "\n\n".join(block.text for block in self.injection.preview(session, turn))

    def _notice(self) -> str | None:
        return None if self._root.exists() else first_run(self._root)

    def _settings(self, request: Message) -> SettingsReply | None:
        if not isinstance(request, SettingsQuery):
            return None
        # Only what a session has taken is told; asking here would ask ourselves.
        known = self.access.effective(request.session_id)
        return None if known is None else SettingsReply(provider=self._host.bus.name, settings=known.effective())

    def _card(self, session: Session, data: Mapping[str, object]) -> Card:
        return captured(self.access, self.facts, session, data, lambda: first_run(self._root))

    def _reminder(self, session: Session, data: Mapping[str, object]) -> Card:
        return reminder(self.access, self.backlog, session, data)
