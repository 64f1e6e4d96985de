"""A lock that is kept for as long as its holder lives: who of several processes does what only one of them should.

The operating system frees it when the process ends, however it ends. It is taken without waiting, from any thread, and
stands outside the order of the locks that guard writes.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_store import files
from persona_store.locks import LOCKS
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from pathlib import Path

    from filelock import BaseFileLock

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
        self._lock: BaseFileLock | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._lock is not None

    def take(self) -> bool:
        """Take it if nobody holds it; return whether it is held now. Never waits.

        Raises:
            RefusedError: The lock file is no private regular file.
            StorageError: The file system offers no locks, or refused.
        """
        if self._lock is not None:
            return True
        # Most processes never compete for one, and this import is slow.
        from filelock import FileLock, Timeout  # noqa: PLC0415

        lock = FileLock(
            self.path,
            timeout=0,
            mode=files.FILE_MODE,
            thread_local=False,
            fallback_to_soft=False,
            preserve_lock_file=True,
            on_acquired=self._judge,
        )
        with storage_errors(self.path):
            files.open_directory(self._root, [LOCKS], create=True).close()
            try:
                lock.acquire()
            except Timeout:
                return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Let it go, if it is held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            with storage_errors(self.path):
                lock.release(force=True)

    def _judge(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise RefusedError(
                phrase("{path} is no ordinary lock file; it was left untouched", path=self.path),
                reason="unsafe_lock",
                path=str(self.path),
            )
