"""The log of a Claude Code session, which a hook of its own and a server may both go on with."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_host.embedded.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_hooks.journal import SessionLog
    from persona_hooks.ports import Entry


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
        self._known, self._journal = len(journal.entries()), journal
        journal.on_append(self._took)
        return journal

    def passed(self) -> bool:
        """Return whether another process has written to it since it was opened here.

        What plugins know of a session, its switch for one, was read when it was opened.
        """
        journal = self._journal
        if isinstance(journal, JsonlJournal) and not journal.stored:
            return journal.path.exists()
        return len(journal.entries()) != self._known

    def _took(self, entry: Entry) -> None:
        with self._lock:
            self._known += 1
        self._arrived(entry)
