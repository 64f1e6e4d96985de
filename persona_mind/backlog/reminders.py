"""Reminders: shown once, to one session a project, and never a turn.

Every session that can show something looks at the project's backlog from time to time, at the next deadline and after
every change. Which of them shows what is due is settled by a lock that the operating system frees when its holder
dies. What was shown is noted on disk by id and deadline; an interruption in between shows it twice rather than never.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.cards import clip
from persona_hooks.errors import BusyError, ConflictError, PersonaError, RefusedError
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.backlog.lines import line, shown
from persona_mind.backlog.model import milliseconds
from persona_mind.kernel.entries import WAKE
from persona_store import foreign_lock
from persona_store.standing_lock import StandingLock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_hooks.ports import Handle, Host, Session
    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.backlog.transitions import Pair
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Project

CHUNK: Final = 60.0
"""The longest that a timer waits. Timers stand still while a laptop sleeps and know nothing of what other processes
queue, so the clock and the file are looked at again this often."""
RETRY: Final = 5.0
SOONEST: Final = 0.001
PATIENCE: Final = 2.0
MAX_SHOWN: Final = 20
TOAST: Final = 160

Due = list[tuple["Item", float]]


@dataclass
class _Watch:
    """What one session waits for; it is over once another one took its place.

    Attributes:
        shown: What was shown here and is not yet noted on disk.
        told: Obstacles that the person was told of.
    """

    session: Session
    project: Project
    election: StandingLock
    lock: threading.RLock = field(default_factory=threading.RLock)
    timer: Handle | None = None
    shown: set[Pair] = field(default_factory=set)
    told: set[str] = field(default_factory=set)


class Reminders:
    """The reminders of one plugin instance.

    Args:
        host: Its scheduler, what it can show, and whether timers run in it.
        access: The gate: without an owner, or with memory off, nothing is shown.
        backlog: The service.
        chunk: The longest that a timer waits, in seconds.
    """

    def __init__(self, host: Host, access: Access, backlog: Backlog, *, chunk: float = CHUNK) -> None:
        self._ui = host.ui
        self._scheduler = host.scheduler
        self._visible = host.capabilities.ui or host.capabilities.journal
        self._timers = host.capabilities.scheduler
        self._access = access
        self._backlog = backlog
        self._chunk = chunk
        self._watch: _Watch | None = None

    def start(self, session: Session) -> None:
        """Watch a session's project, and show what came due meanwhile. A delegated worker and home have none."""
        self.stop()
        if session.leg or not self._visible:
            return
        project = self._access.project(session)
        if project.home:
            return
        document = self._backlog.files.document(project)
        election = StandingLock(self._backlog.files.profile.root, f"{document.relative}.reminders")
        self._watch = _Watch(session, project, election, shown=_logged(session))
        if self._timers:
            self._look(self._watch)

    def stop(self) -> None:
        """Show nothing more; another session may show the rest."""
        watch, self._watch = self._watch, None
        if watch is None:
            return
        if watch.timer is not None:
            watch.timer.cancel()
        # A look that is under way sees that it is over, and lets the election go itself.
        if watch.lock.acquire(timeout=PATIENCE / 2):
            try:
                _release(watch)
            finally:
                watch.lock.release()

    def changed(self, session: Session) -> None:
        """Look again, since the backlog changed; what is due by now is shown at once."""
        if self._timers:
            self._again(session)

    def turn(self, session: Session) -> None:
        """Show what is due where no timer could: a host without a scheduler shows it at the next turn."""
        if self._timers:
            return
        if self._watch is None or self._watch.session.id != session.id:
            self.start(session)
        self._again(session)

    def obstacle(self, project: Project) -> str | None:
        """Return why this program shows no reminders of a project, or None."""
        found = foreign_lock.reminding(self._backlog.files.document(project).path)
        return (
            None
            if found is None
            else phrase("Reminders are left to {holder}; close it to have them here.", holder=found[0])
        )

    def _again(self, session: Session) -> None:
        watch = self._watch
        if watch is not None and watch.session.id == session.id:
            self._look(watch)

    def _look(self, watch: _Watch) -> None:
        with watch.lock:
            if self._watch is not watch:
                return
            try:
                delay = self._show_due(watch)
            except PersonaError as error:
                delay = RETRY if isinstance(error, BusyError) else self._chunk
                if self._watch is watch:
                    self._tell(watch, error.reason, say("Reminders wait: {why}", why=error.message))
            if self._watch is not watch:
                _release(watch)
            elif self._timers:
                self._arm(watch, delay)

    def _arm(self, watch: _Watch, delay: float) -> None:
        if watch.timer is not None:
            watch.timer.cancel()
        watch.timer = self._scheduler.call_later(max(min(delay, self._chunk), SOONEST), lambda: self._look(watch))

    def _show_due(self, watch: _Watch) -> float:
        """Show what is due and note it on disk; return in how many seconds to look again."""
        if not self._may_speak(watch):
            return self._chunk
        waiting = self._backlog.awaited(watch.project)
        # What is no longer waited for was noted, or has another deadline: that one is shown again.
        watch.shown &= {(item.id, due) for item, due in waiting}
        if not waiting or not self._elected(watch):
            return self._chunk
        now = milliseconds(self._scheduler.now())
        due = [pair for pair in waiting if pair[1] <= now]
        if self._watch is not watch:
            return self._chunk
        fresh = [(item, at) for item, at in due if (item.id, at) not in watch.shown]
        if fresh:
            self._show(watch, fresh)
        if due:
            self._backlog.acknowledge(watch.project, [(item.id, at) for item, at in due], PATIENCE)
        return min([(at - now) / 1000 for _, at in waiting if at > now], default=self._chunk)

    def _may_speak(self, watch: _Watch) -> bool:
        try:
            if not self._access.enabled(watch.session):
                return False
            return not self._access.owner(watch.session).leg
        except RefusedError:
            return False  # the next look asks again; verbs say why when they are used

    def _elected(self, watch: _Watch) -> bool:
        found = foreign_lock.reminding(self._backlog.files.document(watch.project).path)
        if found is None:
            return watch.election.take()
        _release(watch)
        name, certain = found
        if not certain:
            self._tell(
                watch, "foreign", say("Reminders are left to {holder}; remove its note if it is gone.", holder=name)
            )
        return False

    def _show(self, watch: _Watch, due: Due) -> None:
        session = watch.session
        first = due[:MAX_SHOWN]
        data: dict[str, Any] = {
            "ids": [item.id for item, _ in first],
            "due": [at for _, at in first],
            "more": len(due) - len(first),
        }
        try:
            session.journal.append(session.guard(), WAKE, data)
        except ConflictError:
            self._watch = None if self._watch is watch else self._watch
            raise
        except PersonaError as error:
            self._tell(watch, error.reason, say("A reminder's card could not be kept: {why}", why=error.message))
        watch.shown |= {(item.id, at) for item, at in due}
        self._ui.notify(self._toast([item for item, _ in due]))

    def _toast(self, items: Sequence[Item]) -> str:
        item = shown(items[0], self._scheduler.now())
        said = "" if item.origin == "user" else f"({worded(item.brought)}) "
        text = said + worded(line(item, TOAST)[0])
        told = say_n("Reminder: {text}", "{number} reminders: {text}", len(items), text=text)
        columns, cut = TOAST, clip(told, TOAST)
        # Columns are counted; marks above letters take none and could make it longer.
        while len(cut) > TOAST:
            columns -= 8
            cut = clip(told, columns)
        return cut

    def _tell(self, watch: _Watch, what: str, text: str) -> None:
        if what not in watch.told:
            watch.told.add(what)
            self._ui.notify(text, "warning")


def _logged(session: Session) -> set[Pair]:
    """Return what this session's log says was shown: it may have ended before that was noted on disk."""
    found: set[Pair] = set()
    for entry in session.journal.entries():
        if entry.custom_type == WAKE:
            ids, due = entry.data.get("ids"), entry.data.get("due")
            if isinstance(ids, list | tuple) and isinstance(due, list | tuple):
                found |= {
                    (str(handle), at) for handle, at in zip(ids, due, strict=False) if isinstance(at, int | float)
                }
    return found


def _release(watch: _Watch) -> None:
    try:
        watch.election.release()
    except PersonaError:
        return  # the operating system frees it with the process
