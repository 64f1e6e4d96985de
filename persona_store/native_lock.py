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
from typing import TYPE_CHECKING, Final
from weakref import ref

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
    """One side file, readable by its owner only. Making this touches no disk; one object belongs to one thread.

    An object that is dropped gives its lock up: an interruption may come where nobody else could.
    """

    farewell: bytes | None = None
    """What is put at the beginning of the file when it is given up; an empty one empties it, None leaves it."""
    # Of the class first: an interruption may come before an object has its own.
    _descriptor: int | None = None
    _process = 0
    _taken = False
    _unlock: Callable[[int], None] | None = None

    def __init__(self, path: Path) -> None:
        self.path = path

    def __del__(self) -> None:
        try:  # noqa: SIM105 - nothing else may run here that can be interrupted
            self.give_up()
        except OSError:
            pass

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
        try:
            self._say(self.farewell)
        except BaseException:
            # Another process would find a live holder named, and believe that the kernel keeps nobody out.
            with contextlib.suppress(OSError):
                self._say(self.farewell and b"")
            raise
        finally:
            self._close()

    def rivalled(self) -> bool:
        """Return whether another object of this process holds the same file, so that the kernel keeps nobody out."""
        others = [lock for lock in _all_opened() if lock is not self and lock.path == self.path]
        return any(lock.descriptor is not None for lock in others)

    def _open(self) -> int:
        try:
            self._descriptor = descriptor = os.open(self.path, _OPEN, files.FILE_MODE)
        except OSError as error:
            if error.errno in _NO_FILE:
                raise _no_lock_file(self.path) from None
            raise
        self._process = os.getpid()
        _opened[id(self)] = ref(self)
        return descriptor

    def _say(self, farewell: bytes | None) -> None:
        if self._descriptor is None or farewell is None or self._process != os.getpid():
            return
        if farewell:
            files.pwrite(self._descriptor, farewell, 0)
        else:
            os.ftruncate(self._descriptor, 0)

    def _close(self) -> None:
        """Let go of the file; a forked child does not unlock what it shares with its parent."""
        # Whoever is given the lock next must not find it held by this one still.
        self._taken = False
        try:
            if self._descriptor is not None and self._unlock is not None and self._process == os.getpid():
                self._unlock(self._descriptor)
        finally:
            # Forgotten first: once it is closed, its number may mean another file.
            descriptor, self._descriptor = self._descriptor, None
            _opened.pop(id(self), None)
            if descriptor is not None:
                files.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        """Return whether the locked file still has its name; somebody may have removed it before it was locked."""
        status = os.fstat(descriptor)
        refusal = unsafe(self.path, status)
        if refusal is not None:
            raise refusal
        if stat.S_IMODE(status.st_mode) != files.FILE_MODE and hasattr(os, "fchmod") and status.st_uid == os.geteuid():
            # A mask of the process's own may have left it closed to its owner, or open to others.
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, files.FILE_MODE)
        return status.st_nlink == 1


def unsafe(path: Path, status: os.stat_result) -> RefusedError | None:
    """Return why a file is not used as a lock; None for one that is.

    Holders are written into it, which would spoil whatever else it is. And it cannot be replaced by a fresh one under
    the lock: whoever waits for the old one tells by its having no name left that it was replaced.
    """
    if not stat.S_ISREG(status.st_mode):
        return _no_lock_file(path)
    if status.st_nlink > 1:
        return _refusal(
            path,
            phrase(
                "{path} has other names, as copying by hard links gives it, so it was left untouched; delete it once "
                "nobody uses the profile: it is a lock and holds no memory",
                path=path,
            ),
        )
    return None


def _no_lock_file(path: Path) -> RefusedError:
    return _refusal(path, phrase("{path} is no ordinary lock file; it was left untouched", path=path))


def _refusal(path: Path, message: str) -> RefusedError:
    return RefusedError(message, reason="unsafe_lock", path=str(path))


_opened: Final[dict[int, ref[NativeLock]]] = {}


def _all_opened() -> list[NativeLock]:
    # A copy in one step: other threads open and close theirs meanwhile.
    return [lock for lock in (known() for known in list(_opened.values())) if lock is not None]


def _begin_anew() -> None:
    """Close in a forked child what its parent holds. The parent's locks stay its parent's."""
    for lock in _all_opened():
        if lock._process != os.getpid():  # noqa: SLF001 - known to this module alone
            lock._close()  # noqa: SLF001 - as above


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
