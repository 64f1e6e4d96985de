"""A lock that is kept for as long as its holder lives: who of several processes does what only one of them should.

The operating system frees it when the process ends, however it ends. It is taken without waiting, from any thread, and
stands outside the order of the locks that guard writes.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from persona_store import files
from persona_store.locks import LOCKS
from persona_store.native_lock import NativeLock
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX: Final = "standing"


class StandingLock:
    """One such lock below a profile's root. Making it touches no disk.

    Args:
        root: The profile's root.
        words: What it is for, such as ``backlog/rocket.json``; names its file.
    """

    def __init__(self, root: Path, words: str) -> None:
        self._root = root
        self.path = root / LOCKS / f"{words.replace('/', '!')}.{SUFFIX}"
        self._lock = NativeLock(self.path)
        self._releasing = threading.Lock()

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._lock.descriptor is not None

    def take(self) -> bool:
        """Take it if nobody holds it; return whether it is held now. Never waits.

        Raises:
            RefusedError: The lock file is no private regular file.
            StorageError: The file system offers no locks, or refused.
        """
        if self.held:
            return True
        # One of its own, since another thread may be at it as well.
        lock = NativeLock(self.path)
        with storage_errors(self.path):
            files.open_directory(self._root, [LOCKS], create=True).close()
            if lock.take() is None:
                return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Let it go, if it is held."""
        with self._releasing, storage_errors(self.path):
            self._lock.give_up()
