"""The embedded host: one runtime, one open session at a time, and the ways to change it.

A session's log is a file under the agent directory; with the companion off, or in an incognito room, it lives in memory
and nothing is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from persona_hooks.errors import InvalidError, NotFoundError, PersonaError
from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.speech import phrase, say
from persona_hooks.verbs import refusal
from persona_host.embedded.models import HostModels
from persona_host.embedded.screen import Event, answered
from persona_host.embedded.shelf import Shelf, new_id
from persona_host.embedded.turns import Turns
from persona_host.headless import SystemScheduler
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

    from persona_hooks.ports import Scheduler, SessionReason, Ui
    from persona_hooks.session_logs import SessionSummary
    from persona_hooks.specs import Room
    from persona_host.embedded.screen import Screen
    from persona_host.place import Place

Journal = JsonlJournal | MemoryJournal


class EmbeddedHost:
    """A conversation's host. Close it; the plugins learn of the session's end then.

    Attributes:
        runtime: The plugins and the open session.
        models: The models it can call.
        shelf: The logs of this working directory.
        turns: The conversation in the open session.
    """

    def __init__(self, runtime: Runtime, place: Place, models: HostModels, screen: Screen) -> None:
        self.runtime = runtime
        self.models = models
        self.shelf = Shelf(place.agent_dir, place.cwd)
        self.turns = Turns(runtime, models, screen)
        self.screen = screen
        self._place = place
        self._room: Room | None = None

    @classmethod
    def start(
        cls,
        place: Place,
        *,
        screen: Screen,
        ui: Ui,
        model: str | None = None,
        room: Room | None = None,
        scheduler: Scheduler | None = None,
        plugins: Callable[[], Found] = entry_points,
        patience: float = 1.0,
        english: bool = False,
    ) -> Self:
        """Load the plugins and open the session that ``place`` asks for, or a new one.

        Args:
            place: Where it works.
            screen: What outcomes are shown on.
            ui: What notices are shown on.
            model: The model asked for by name.
            room: Who is present.
            scheduler: The clock; the system's if left out.
            plugins: Where plugins come from.
            patience: How many times its budget a hook may take.
            english: A program reads the outcomes.

        Raises:
            InvalidError: The session's id cannot be one.
        """
        models = HostModels(place.environ, model)
        able = Capabilities()
        setup = Setup("embedded", place.agent_dir, place.home, place.environ, able, plugins, patience, english=english)
        runtime = Runtime.start(setup, ui=ui, models=models, scheduler=scheduler or SystemScheduler())
        host = cls(runtime, place, models, screen)
        host._room = room
        try:
            with runtime.speaking():
                host._first()
        except BaseException:
            host.close()
            raise
        return host

    @property
    def journal(self) -> Journal:
        """The open session's log."""
        journal = self.runtime.session.journal
        assert isinstance(journal, JsonlJournal | MemoryJournal)  # noqa: S101 - this host opens no other
        return journal

    def new(self) -> None:
        """Open a new session; the persona in use stays in use."""
        session_id = new_id(self.runtime.scheduler.now())
        self._open(self._log(session_id), session_id, "new", self._persona())

    def resume(self, kept: SessionSummary) -> None:
        """Open a session from the shelf where it was left."""
        self._open(self._log(kept.session_id), kept.session_id, "resume", None)

    def fork(self, entry: str | None) -> str:
        """Copy the active branch, up to ``entry`` if given, into a session of its own and open it; return its id.

        Raises:
            NotFoundError: There is no such entry, or nothing was said yet.
        """
        target = self.find(entry) if entry else self.journal.leaf
        if target is None:
            raise NotFoundError(phrase("Nothing was said here yet, so there is nothing to fork."), reason="empty_log")
        session_id = new_id(self.runtime.scheduler.now())
        journal = self.journal
        if isinstance(journal, MemoryJournal):
            forked: Journal = journal.fork(target, session_id=session_id)
        else:
            forked = journal.fork(target, self.shelf.path(session_id), session_id=session_id)
        self._open(forked, session_id, "fork", self._persona())
        return session_id

    def move(self, entry: str) -> None:
        """Make ``entry`` the end of the active branch.

        Raises:
            NotFoundError: There is no such entry.
        """
        self.journal.branch_to(self.find(entry))
        self.runtime.fire("session_tree")
        self.turns.drain()

    def find(self, word: str) -> str:
        """Return the id of the entry that ``word`` begins.

        Raises:
            NotFoundError: There is none, or more than one.
        """
        ids = [entry.id for entry in self.journal.entries()]
        meant = [word] if word in ids else [item for item in ids if item.startswith(word)]
        if len(meant) != 1:
            what = phrase("There is no entry of that id here. /tree lists them.")
            if meant:
                what = phrase("There are {number} entries of that id here. /tree lists them.", number=len(meant))
            raise NotFoundError(what, reason="unknown_entry")
        return meant[0]

    def command(self, line: str) -> None:
        """Perform a plugin's slash command and show its answer."""
        answer = self.runtime.command(line)
        if answer.details.get("reason") == "unknown_command":
            group = line.removeprefix("/").split()[0]
            answer = answer._replace(
                card=replace(answer.card, hint=say("/help {group} tells what each of them does.", group=group))
            )
        self.screen.show(answered(answer))
        self.turns.drain()

    def close(self) -> None:
        """Show what came late, shut the session down and let plugins and connections go."""
        self.turns.close()
        self.runtime.close()

    def _first(self) -> None:
        asked = self._place.session
        if asked is None:
            session_id = new_id(self.runtime.scheduler.now())
            self._open(self._log(session_id), session_id, "startup", self._place.persona)
            return
        there = self.shelf.path(asked).exists()
        self._open(self._log(asked), asked, "resume" if there else "startup", self._place.persona)

    def _open(self, journal: Journal, session_id: str, reason: SessionReason, persona: str | None) -> None:
        self.turns.detach()
        self.runtime.shut_session()
        self.turns.attach(journal)
        self.runtime.open(
            journal,
            session_id=session_id,
            cwd=self._place.cwd,
            reason=reason,
            persona=persona,
            role=self._place.role,
            incognito=self._room is not None and self._room.incognito,
        )
        try:
            self.models.configure(self.runtime.settings())
        except InvalidError as error:
            answer = refusal("model", error)
            self.screen.show(Event("error", ok=False, card=answer.card, data=answer.details))
        if self._room is not None:
            self.runtime.fire("room_changed", room=self._room)
        self.turns.drain()

    def _log(self, session_id: str) -> Journal:
        path = self._path(session_id)
        cwd = self._place.cwd
        return MemoryJournal(session_id, cwd) if path is None else JsonlJournal(path, session_id, cwd)

    def _path(self, session_id: str) -> Path | None:
        hidden = self._place.disabled or (self._room is not None and self._room.incognito)
        return None if hidden else self.shelf.path(session_id)

    def _persona(self) -> str | None:
        try:
            return self.runtime.owner().persona
        except PersonaError:
            return self._place.persona
