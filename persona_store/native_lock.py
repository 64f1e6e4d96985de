"""The kernel's exclusive lock on a side file: held by an open descriptor, freed with it however a process ends.

Taking and freeing it is the library's; which file it lies on, and for how long it is open, is decided here. A
descriptor that a forked child inherits would keep a lock held for as long as the child lives, so a child closes what
its parent had open before it does anything else.
"""

from __future__ import annotations

import os
import stat
import threading
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_store import files

if TYPE_CHECKING:
    from pathlib import Path

_OPEN: Final = (
    os.O_RDWR
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_opened: Final[set[NativeLock]] = set()
_forking: Final = threading.RLock()


class NativeLock:
    """One side file, private to its owner. Making this touches no disk; one object belongs to one holder."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int | None:
        """The open file while the lock is held; None otherwise, and in a forked child of the holder."""
        return self._descriptor

    def take(self) -> int | None:
        """Take the lock if nobody holds it; return the open file, or None while somebody does. Never waits.

        Raises:
            RefusedError: The file is no ordinary one, or has other names.
            OSError: The file system offers no locks, or refused.
        """
        # Reading needs no locks, and this import is slow.
        from filelock import lock_descriptor  # noqa: PLC0415

        taken = False
        try:
            descriptor = self._open()
            taken = lock_descriptor(descriptor, blocking=False) and self._is_there(descriptor)
        finally:
            if not taken:
                self._close()
        return self._descriptor

    def give_up(self) -> None:
        """Free the lock, if it is held, and close its file.

        Raises:
            OSError: The kernel would not unlock it. It is closed all the same, which frees it as well.
        """
        from filelock import unlock_descriptor  # noqa: PLC0415 - as in ``take``

        if self._descriptor is None:
            return
        try:
            unlock_descriptor(self._descriptor)
        finally:
            self._close()

    def _open(self) -> int:
        # A fork between opening a file and remembering it would leave it open in the child.
        with _forking:
            self._descriptor = descriptor = os.open(self.path, _OPEN, files.FILE_MODE)
            _opened.add(self)
        return descriptor

    def _close(self) -> None:
        # Forgotten first: once it is closed, its number may mean another file.
        descriptor, self._descriptor = self._descriptor, None
        _opened.discard(self)
        if descriptor is not None:
            files.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        """Return whether the locked file still has its name; somebody may have removed it before it was locked."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise RefusedError(
                phrase("{path} is no ordinary lock file; it was left untouched", path=self.path),
                reason="unsafe_lock",
                path=str(self.path),
            )
        return status.st_nlink == 1


def _forget() -> None:
    """Close in a forked child what its parent holds. The parent's locks stay its parent's."""
    for lock in list(_opened):
        lock._close()  # noqa: SLF001 - a method that no holder may call
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forking.acquire, after_in_parent=_forking.release, after_in_child=_forget)
