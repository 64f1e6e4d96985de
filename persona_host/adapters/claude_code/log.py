"""The log of a Claude Code session, which a hook of its own and a server may both go on with."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.errors import CorruptError
from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_hooks.logformat import parse_header
from persona_host.embedded.shelf import Shelf, slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.journal import SessionLog
    from persona_hooks.ports import Entry
    from persona_host.adapters.claude_code.payload import Event

_HEADER = 64 * 1024
"""Bytes at a log's beginning that hold its first line."""


def log_name(event: Event) -> str:
    """Return the id under which we keep a session of Claude Code's."""
    return f"claude-{event.session_id}"


def begun(event: Event, agent_dir: Path) -> Event:
    """Return an event with the directory that its session's log belongs to, where Claude Code did not say it.

    Without that, a ``cd`` would give the session another log, and turn on again what was turned off in it.
    """
    path = Shelf(agent_dir, event.cwd).path(log_name(event))
    if event.settled or path.exists():
        return event
    for other in sorted(path.parent.parent.glob(f"*/{path.name}")):
        with suppress(OSError, CorruptError), other.open("rb") as file:
            cwd = Path(parse_header(file.readline(_HEADER).rstrip(b"\n"), other.name).cwd)
            if slug(cwd) == other.parent.name:
                return event._replace(cwd=cwd)
    return event


class Log:
    """Opens the log of one session, and tells when another process has written to it since.

    Args:
        agent_dir: Where logs are kept.
        cwd: The directory that the session belongs to.
        session_id: Its id.
        lasting: Whether it is kept in a file.
        arrived: Called with every entry that is appended here.
    """

    def __init__(
        self, agent_dir: Path, cwd: Path, session_id: str, *, lasting: bool, arrived: Callable[[Entry], None]
    ) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self._path = Shelf(agent_dir, cwd).path(session_id) if lasting else None
        self._arrived = arrived
        self._lock = threading.Lock()
        self._known = 0
        self._journal: SessionLog

    def open(self) -> SessionLog:
        """Return the log as it is now; one that was open here is left.

        Raises:
            PersonaError: As ``JsonlJournal``.
        """
        if self._path is None:
            journal: SessionLog = MemoryJournal(self.session_id, self.cwd)
        else:
            journal = JsonlJournal(self._path, self.session_id, self.cwd, lasting=True)
        self._known, self._journal = journal.count(), journal
        journal.on_append(self._took)
        return journal

    def passed(self) -> bool:
        """Return whether another process has written to it since it was opened here.

        What plugins know of a session, its switch for one, was read when it was opened.
        """
        journal = self._journal
        if isinstance(journal, JsonlJournal) and not journal.stored:
            return journal.path.exists()
        return journal.count() != self._known

    def _took(self, entry: Entry) -> None:
        with self._lock:
            self._known += 1
        self._arrived(entry)
