"""The move while a conversation goes on: nobody waits for it longer than a moment, and it says once what it did.

It runs on a thread of its own. While it is pending, expired entries stay on disk, since clearing them would wait for
the same lock; whoever reads leaves them out anyway.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import ConflictError, PersonaError
from persona_hooks.speech import say, say_n
from persona_hooks.turn import Turn
from persona_mind.migration.layouts import FOLDERS, ROOT, old_segment, persona_files, project_files, root_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from persona_hooks.owner import Owner
    from persona_hooks.ports import Host, Session
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access, Permit
    from persona_mind.kernel.scope import Scope
    from persona_mind.migration.layouts import Source
    from persona_mind.migration.moving import Moved

WAIT: Final = 0.1
"""The longest that a hook waits for it, in seconds."""
MAX_WARNINGS: Final = 4
STATUS: Final = "moving in"


class _Job:
    """One move of one session.

    Attributes:
        key: Whose and where; another persona or project is another job.
        ended: Set once nothing more will happen.
        stopped: Nothing more is wanted.
        again: Something is left for the next turn.
        told: The person was told that it goes on.
    """

    def __init__(self, session: Session, key: tuple[str, str]) -> None:
        self.session = session
        self.key = key
        self.ended = threading.Event()
        self.stopped = False
        self.again = False
        self.told = False


class Moving:
    """The moves of one plugin instance.

    Args:
        host: Its agent directory, its person's home, and what can be shown.
        access: The gate: without an owner, or with memory off, nothing moves.
        facts: Where facts go.
        backlog: Where items go.
        changed: Told of a session into whose memory something came.
    """

    def __init__(
        self, host: Host, access: Access, facts: Facts, backlog: Backlog, changed: Callable[[Session], None]
    ) -> None:
        self._host = host
        self._access = access
        self._facts = facts
        self._backlog = backlog
        self._changed = changed
        self._job: _Job | None = None
        self._warned: set[str] = set()

    def start(self, session: Session) -> None:
        """Begin for a session, and wait a moment."""
        self.stop()
        self._warned.clear()
        self.turn(session)

    def turn(self, session: Session) -> None:
        """Go on with what is left, begin for another persona or project, and wait a moment if there is anything."""
        job = self._job
        if job is None or job.ended.is_set():
            job = self._begin(session, job)
        if job is None or job.ended.wait(WAIT) or job.told:
            return
        job.told = True
        self._host.ui.status(STATUS, say("moving in what an earlier release stored"))
        if job.ended.is_set():
            self._host.ui.status(STATUS, None)

    def stop(self) -> None:
        """Want nothing more; what is being written now may still be finished."""
        job, self._job = self._job, None
        if job is not None:
            job.stopped = True
            job.ended.wait(WAIT)

    @property
    def pending(self) -> bool:
        """Whether a move goes on."""
        return self._job is not None and not self._job.ended.is_set()

    def sources(self, session: Session, scope: Scope, *, ambiguous: bool = False) -> Iterator[Source]:
        """Yield the old files there are for a session.

        Args:
            session: Where the person works.
            scope: Whose, and where.
            ambiguous: Also those that may be another persona's.
        """
        old, new = self._roots
        yield from root_files(old)
        yield from project_files((new, old), session.cwd, self._host.home, scope)
        if ambiguous:
            yield from persona_files((new, old), scope)

    def stale_items(self, scope: Scope, *, ambiguous: bool = False) -> tuple[str, str, str] | None:
        """Return the backlog that may hold items under the persona's older name, that name and the present one.

        None where the name did not change, or where memory stands under the older one, which may be another persona's.
        """
        old, (_, root) = old_segment(scope), self._roots
        relative = f"{FOLDERS['backlog']}/{scope.project.slug}.json"
        if old is None or scope.project.home or not os.path.lexists(root / relative):
            return None
        if not ambiguous and os.path.lexists(root / FOLDERS["ltm"] / f"{old}.json"):
            return None
        return relative, old, scope.segment

    @property
    def _roots(self) -> tuple[Path, Path]:
        return self._host.agent_dir / ROOT, self._facts.files.profile.root

    def _begin(self, session: Session, last: _Job | None) -> _Job | None:
        if session.leg or not self._access.enabled(session):
            return None
        try:
            owner = self._access.owner(session)
            scope = self._access.scope(session, owner)
        except PersonaError:
            return None  # without an owner there is no memory to move into
        key = (scope.segment, scope.project.slug)
        if owner.leg or (last is not None and last.key == key and not last.again):
            return None
        job = self._job = _Job(session, key)
        if not self._anything(session, scope):
            job.ended.set()
            return None
        # A daemon: whoever ends the program does not wait for it, and every step of it can be interrupted.
        threading.Thread(
            target=copy_context().run, args=(self._run, job, owner, scope), name="persona-moving-in", daemon=True
        ).start()
        return job

    def _anything(self, session: Session, scope: Scope) -> bool:
        old, _ = self._roots
        try:
            return (
                os.path.lexists(old)
                or next(self.sources(session, scope), None) is not None
                or self.stale_items(scope) is not None
            )
        except PersonaError:
            return True  # the move itself says what is wrong

    def _run(self, job: _Job, owner: Owner, scope: Scope) -> None:
        try:
            turn = Turn(job.session.generation, alive=lambda: not job.stopped)
            moved = self._move(job.session, scope, self._access.permit(job.session, owner, turn))
            job.again = moved.again
            if not job.stopped:
                self._tell(job.session, moved)
        except ConflictError:
            job.again = True  # for whoever owns the session now
        finally:
            job.ended.set()
            if job.told:
                self._host.ui.status(STATUS, None)

    def _move(self, session: Session, scope: Scope, permit: Permit) -> Moved:
        # Moving in happens once; most conversations have nothing to move.
        from persona_mind.migration.moving import Mover  # noqa: PLC0415

        mover = Mover(self._facts, self._backlog)
        moved = mover.move(lambda: self.sources(session, scope), permit)
        stale = self.stale_items(scope)
        if stale is not None:
            try:
                moved.added += mover.rename(*stale, permit)
            except ConflictError:
                raise
            except PersonaError as error:
                moved.warnings.append(error.message)
        return moved

    def _tell(self, session: Session, moved: Moved) -> None:
        if moved.added:
            with suppress(PersonaError):
                self._changed(session)
            self._host.ui.notify(
                say_n(
                    "Moved in {number} entry from an earlier release. Its files are as they were.",
                    "Moved in {number} entries from an earlier release. Its files are as they were.",
                    moved.added,
                )
            )
        fresh = [text for text in moved.warnings if text not in self._warned]
        self._warned.update(fresh)
        for text in fresh[:MAX_WARNINGS]:
            self._host.ui.notify(say("Moving in: {what}", what=text), "warning")
        if len(fresh) > MAX_WARNINGS:
            left = len(fresh) - MAX_WARNINGS
            self._host.ui.notify(say("Moving in: {number} more files could not be read.", number=left), "warning")
