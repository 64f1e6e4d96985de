"""What one plugin instance works with: each service is made when it is first used.

Most processes perform one verb, or none, and end. What is imported inside a method here is left to those who use it,
since importing every faculty takes longer than most commands do.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

from persona_mind.kernel.access import Access
from persona_mind.kernel.entries import NOTE
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from persona_hooks.ports import Handle, Host, Session
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Call
    from persona_mind.backlog.reminders import Reminders
    from persona_mind.backlog.service import Backlog
    from persona_mind.capture.blocked import Blocked
    from persona_mind.capture.pipeline import Capture
    from persona_mind.facts.search import Views
    from persona_mind.facts.service import Facts
    from persona_mind.injection.pipeline import Injection
    from persona_mind.kernel.scope import Project, Scope
    from persona_mind.meaning.service import Meaning
    from persona_mind.migration.background import Moving
    from persona_mind.notes.service import Notes
    from persona_mind.notes.view import View as NotesView
    from persona_mind.quarantine.service import Quarantine
    from persona_mind.recall import Hit
    from persona_mind.recorder.service import Recorder, Request
    from persona_mind.safekeeping.erasing import Erasing
    from persona_mind.safekeeping.shelf import Quiet, Shelf
    from persona_mind.sessions.service import Sessions
    from persona_mind.status.counts import Counts

PROFILE: Final = "persona-mind"


class Services:
    """The services of one plugin instance. Making any of them touches no disk and reads no clock.

    Attributes:
        host: What the host lends.
        root: Where everything of the mind's is kept.
        access: The gate.
        profile: The files.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.root = host.agent_dir / PROFILE
        self.access = Access(host.bus, host.home, host.environ)
        self.profile = Profile(self.root, host.scheduler.now)
        self._session: Session | None = None
        self._meaning: Meaning | None = None
        self._past: tuple[str, str] | None = None

    @cached_property
    def facts(self) -> Facts:
        """What is remembered."""
        from persona_mind.facts.service import Facts  # noqa: PLC0415 - see the module's docstring

        return Facts(self.profile, self.host.scheduler.now, self.host.name)

    @cached_property
    def views(self) -> Views:
        """Recall over facts."""
        from persona_mind.facts.search import Views  # noqa: PLC0415 - see the module's docstring

        return Views(self.facts.files, self.meaning)

    @cached_property
    def backlog(self) -> Backlog:
        """What is to be done later."""
        from persona_mind.backlog.service import Backlog  # noqa: PLC0415 - see the module's docstring

        return Backlog(self.profile, self.host.scheduler.now)

    @cached_property
    def reminders(self) -> Reminders:
        """What shows what is due."""
        from persona_mind.backlog.reminders import Reminders  # noqa: PLC0415 - see the module's docstring

        return Reminders(self.host, self.access, self.backlog)

    @cached_property
    def notes(self) -> Notes:
        """What belongs to one conversation."""
        from persona_mind.notes.service import Notes  # noqa: PLC0415 - see the module's docstring

        return Notes(self.facts.erased)

    @cached_property
    def quarantine(self) -> Quarantine:
        """What waits for a person."""
        from persona_mind.quarantine.service import Quarantine  # noqa: PLC0415 - see the module's docstring

        return Quarantine(self.profile, self.host.scheduler.now)

    @cached_property
    def recorder(self) -> Recorder:
        """Why a memory stood in a request."""
        from persona_mind.recorder.service import Recorder  # noqa: PLC0415 - see the module's docstring

        return Recorder(self.profile, self.host.scheduler.now, self._timers)

    @cached_property
    def erasing(self) -> Erasing:
        """What removes for good."""
        from persona_mind.safekeeping.erasing import Erasing  # noqa: PLC0415 - see the module's docstring

        return Erasing(self.profile, self.recorder, self._erased)

    @cached_property
    def shelf(self) -> Shelf:
        """Where backups are."""
        from persona_mind.safekeeping.shelf import Shelf  # noqa: PLC0415 - see the module's docstring

        return Shelf(self.profile)

    @cached_property
    def quiet(self) -> Quiet:
        """What is done for safety while nobody waits."""
        from persona_mind.safekeeping.shelf import Quiet  # noqa: PLC0415 - see the module's docstring

        return Quiet(self.shelf, self.erasing, self._timers)

    @property
    def _timers(self) -> Callable[[float, Callable[[], None]], Handle] | None:
        return self.host.scheduler.call_later if self.host.capabilities.scheduler else None

    @cached_property
    def sessions(self) -> Sessions:
        """Past conversations."""
        from persona_mind.sessions.service import Sessions  # noqa: PLC0415 - see the module's docstring

        host = self.host
        return Sessions(host.agent_dir, host.home, host.scheduler.now, host.scheduler.monotonic, self.meaning)

    def meaning(self) -> Meaning | None:
        """Return what compares meanings; None where the person named no model."""
        session = self._session
        source = self.access.settings(session).vectors if session is not None else ""
        if not source:
            return None
        old = self._meaning
        if old is None or old.setting != source or not old.resume():
            self._past = None
            if old is not None:
                old.close()
            from persona_mind.meaning.service import Meaning  # noqa: PLC0415 - see the module's docstring

            self._meaning = Meaning(
                source,
                self.profile,
                base=self.host.agent_dir,
                allowed=self._writes,
                tell=lambda text: self.host.ui.notify(text, "info"),
            )
        return self._meaning

    def begin(self, session: Session) -> None:
        """Begin a session afresh; where the host stays, a model gets ready meanwhile."""
        self.forget(session)
        self._session = session
        if self.host.capabilities.scheduler and not session.leg and self.access.enabled(session):
            meaning = self.meaning()
            if meaning is not None:
                meaning.warm()

    def end(self) -> None:
        """Let a model rest: the next session may need it, and what it has read is kept."""
        self._past = None
        if self._meaning is not None:
            self._meaning.rest()

    def read_ahead(self, session: Session, scope: Scope) -> None:
        """Have what is remembered and what was said read for likeness of meaning, while nobody waits."""
        meaning = self.meaning()
        if meaning is None or not (self.host.capabilities.scheduler or meaning.state == "used"):
            return

        def look() -> None:
            now = self.host.scheduler.now()
            home = scope.project.home
            for tiers in (("persona", "shared"), *(() if home else (("project",), ("stm",)))):
                self.views.view(scope, tiers, now).prepare()
            # Past conversations are past: once a session and owner is enough.
            past = session.id, scope.segment
            if self._past != past and self.access.settings(session).sessions:
                self.sessions.prepare(session, scope)
                self._past = past

        meaning.meanwhile(look)

    def _writes(self) -> bool:
        session = self._session
        return session is not None and self.access.enabled(session)

    def _erased(self, saids: frozenset[bytes]) -> None:
        """Let go of what is kept in memory of facts, and of all that was made of texts that were erased."""
        self.profile.forget()
        self.views.forget()
        if saids and self.made("sessions"):
            self.sessions.forget()
        if saids and self._meaning is not None:
            self._meaning.drop(saids)
            self._past = None

    @cached_property
    def moving(self) -> Moving:
        """What brings the original's files in."""
        from persona_mind.migration.background import Moving  # noqa: PLC0415 - see the module's docstring

        return Moving(self.host, self.access, self.facts, self.backlog, self.deferred)

    @cached_property
    def capture(self) -> Capture:
        """What hears a person ask for something to be remembered."""
        from persona_mind.capture.pipeline import Capture  # noqa: PLC0415 - see the module's docstring

        return Capture(self.access, self.facts, self.host.ui, self.notice, self.count)

    @cached_property
    def blocked(self) -> Blocked:
        """What suggests the backlog where a delegated task is blocked."""
        from persona_mind.capture.blocked import Blocked  # noqa: PLC0415 - see the module's docstring

        return Blocked(self.access, self.host.ui)

    @cached_property
    def injection(self) -> Injection:
        """What gives the model what is remembered."""
        from persona_mind.injection.pipeline import Injection  # noqa: PLC0415 - see the module's docstring

        return Injection(
            self.access,
            self.facts,
            self.views,
            self.backlog,
            notes=self.noted,
            asked=self.asked,
            bus=self.host.bus,
            ui=self.host.ui,
        )

    @cached_property
    def counts(self) -> Counts:
        """The mind's place in the status line."""
        from persona_mind.status.counts import Counts  # noqa: PLC0415 - see the module's docstring

        return Counts(self.access, self.views, self.backlog, self.host.ui)

    def made(self, name: str) -> bool:
        """Return whether a service was used; one that was not has nothing to end or to let go of."""
        return name in self.__dict__

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended, so that nothing leaks into its successor."""
        self.access.forget(session)
        for name in ("capture", "blocked", "injection", "recorder"):
            if self.made(name):
                getattr(self, name).forget(session)
        if self.made("notes"):
            self.notes.release(session)

    def notice(self) -> str | None:
        """Return what a person is told before anything was ever stored, else None."""
        return None if os.path.exists(self.root) else self.first_run()  # noqa: PTH110 - it never raises

    def first_run(self) -> str:
        """Return what a person is told once: where memory is stored, and how to stop it."""
        from persona_mind.status.words import first_run  # noqa: PLC0415 - see the module's docstring

        return first_run(self.root)

    def preview(self, session: Session, turn: Turn) -> str:
        """Return what the model would be given now."""
        return "\n\n".join(block.text for block in self.injection.preview(session, turn))

    def noted(self, session: Session, scope: Scope) -> NotesView | None:
        """Return the owner's notes of a conversation; None where it has none at all, and they need not be loaded."""
        there = self.made("notes") or session.journal.branch(NOTE)
        return self.notes.view(session, scope) if there else None

    def asked(self, session: Session, scope: Scope, request: Request) -> None:
        """Note what stands in a request."""
        self.recorder.asked(session, scope, request)

    def noticed(self, call: Call, scope: Scope, found: Iterable[tuple[str, str, Hit]]) -> None:
        """Note what was recalled."""
        self.recorder.recalled(call.session, scope, found)

    def obstacle(self, project: Project) -> str | None:
        """Return why no reminders of a project are shown here, or None."""
        return self.reminders.obstacle(project)

    def deferred(self, session: Session) -> None:
        """Look at the backlog again, since it changed."""
        self.reminders.changed(session)
        self.count(session)

    def count(self, session: Session) -> None:
        """Show how much is remembered, where that can be shown; a delegated worker has no status line."""
        if self.host.capabilities.ui and not session.leg:
            self.counts.show(session)
