"""The kernel's exclusive lock on a side file: held by an open descriptor, freed with it however a process ends.

Taking and freeing it is the library's; which file it lies on, and for how long it is open, is decided here. A
descriptor that a forked child inherits would keep a lock held for as long as the child lives, so a child closes what
its parent had open before it does anything else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_store import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_OPEN: Final = (
    os.O_RDWR
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_FILE: Final = frozenset({errno.ELOOP, errno.EISDIR, errno.ENXIO})
"""What opening a link, a directory or a socket says."""


class NativeLock:
    """One side file, readable by its owner only. Making this touches no disk; one object belongs to one holder."""

    farewell = b""
    """What is put at the beginning of the file when it is given up."""
    # Of the class first: an interruption may come before an object has its own.
    _descriptor: int | None = None
    _process = 0
    _taken = False
    _unlock: Callable[[int], None] | None = None

    def __init__(self, path: Path) -> None:
        self.path = path

    def __del__(self) -> None:
        """Free what an interruption left held: it reached nobody who could give it up."""
        with contextlib.suppress(OSError):
            self.give_up()

    @property
    def descriptor(self) -> int | None:
        """The open file while the lock is held; None otherwise, and in a forked child of the holder."""
        return self._descriptor if self._taken else None

    def take(self) -> int | None:
        """Take the lock if nobody holds it; return the open file, or None while somebody does. Never waits.

        Raises:
            RefusedError: The file is a link or no ordinary one, or has other names.
            OSError: The file system offers no locks, or refused.
        """
        # Reading needs no locks, and this import is slow.
        from filelock import lock_descriptor, unlock_descriptor  # noqa: PLC0415

        try:
            descriptor = self._open()
            if lock_descriptor(descriptor, blocking=False):
                self._unlock = unlock_descriptor
                self._taken = self._is_there(descriptor)
        finally:
            if not self._taken:
                self._close()
        return self.descriptor

    def give_up(self) -> None:
        """Free the lock, if it is held, and close its file.

        Raises:
            OSError: The file took no farewell, or the kernel would not unlock it. It is closed all the same, which
                frees it as well.
        """
        if self._descriptor is None:
            return
        with _gate:
            try:
                self._say(self.farewell)
            except BaseException:
                # Another process would find a live holder named, and believe that the kernel keeps nobody out.
                with contextlib.suppress(OSError):
                    self._say(b"")
                raise
            finally:
                self._close()

    def rivalled(self) -> bool:
        """Return whether another object of this process holds the same file, so that the kernel keeps nobody out."""
        with _gate:
            known = list(_opened)
        return any(lock is not self and lock.descriptor is not None and lock.path == self.path for lock in known)

    def _open(self) -> int:
        with _gate:
            try:
                self._descriptor = descriptor = os.open(self.path, _OPEN, files.FILE_MODE)
            except OSError as error:
                if error.errno in _NO_FILE:
                    raise self._unsafe() from None
                raise
            self._process = os.getpid()
            _opened.add(self)
        return descriptor

    def _say(self, farewell: bytes) -> None:
        """Put a farewell at the beginning of the file, or take away what stands in it."""
        if self._descriptor is None or not self.farewell or self._process != os.getpid():
            return
        if farewell:
            files.pwrite(self._descriptor, farewell, 0)
        else:
            os.ftruncate(self._descriptor, 0)

    def _close(self) -> None:
        """Let go of the file; a forked child does not unlock what it shares with its parent."""
        with _gate:
            # Whoever is given the lock next must not find it held by this one still.
            self._taken = False
            try:
                if self._descriptor is not None and self._unlock is not None and self._process == os.getpid():
                    self._unlock(self._descriptor)
            finally:
                # Forgotten first: once it is closed, its number may mean another file.
                descriptor, self._descriptor = self._descriptor, None
                _opened.discard(self)
                if descriptor is not None:
                    files.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        """Return whether the locked file still has its name; somebody may have removed it before it was locked."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise self._unsafe()
        if stat.S_IMODE(status.st_mode) != files.FILE_MODE and hasattr(os, "fchmod"):
            # A mask of the process's own may have left it closed to its owner, or open to others.
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, files.FILE_MODE)
        return status.st_nlink == 1

    def _unsafe(self) -> RefusedError:
        return RefusedError(
            phrase("{path} is no ordinary lock file; it was left untouched", path=self.path),
            reason="unsafe_lock",
            path=str(self.path),
        )


_opened: Final[WeakSet[NativeLock]] = WeakSet()
_gate = threading.RLock()
"""Held while a file is opened or closed, so that no fork comes between and no two threads close one file."""


def _hold_back() -> None:
    # Not for ever: whoever has it may wait for a lock that the forking thread holds.
    _gate.acquire(timeout=1)


def _resume() -> None:
    # The fork may have gone on without it.
    with contextlib.suppress(RuntimeError):
        _gate.release()


def _begin_anew() -> None:
    """Close in a forked child what its parent holds. The parent's locks stay its parent's."""
    global _gate  # noqa: PLW0603 - a thread that is not there any more may hold the other one
    _gate = threading.RLock()
    for lock in list(_opened):
        if lock._process != os.getpid():  # noqa: SLF001 - known to this module alone
            lock._close()  # noqa: SLF001 - as above


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_back, after_in_parent=_resume, after_in_child=_begin_anew)
