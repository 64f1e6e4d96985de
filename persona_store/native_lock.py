"""The kernel's exclusive lock on a side file: held by an open descriptor, freed with it however a process ends.

A descriptor that a forked child inherits would keep the lock held for as long as the child lives, so a child closes
what its parent had open before it does anything else. All calls go through ``os.<name>`` and ``fcntl.<name>``, as in
``persona_store.files``.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Final

from persona_store import files

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

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
_BEYOND: Final = 2**30
"""Where Windows locks a byte: behind the note, which others may read meanwhile."""

_held: Final[set[int]] = set()
_forking: Final = threading.RLock()


def _forget() -> None:
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):
    # No fork comes between opening a file and remembering it.
    os.register_at_fork(before=_forking.acquire, after_in_parent=_forking.release, after_in_child=_forget)


def open_file(path: Path) -> int:
    """Open a lock file, private to its owner, making it when it is missing; never through a link or waiting."""
    with _forking:
        descriptor = os.open(path, _OPEN, files.FILE_MODE)
        _held.add(descriptor)
    return descriptor


def take(descriptor: int) -> bool:
    """Take the lock of an open file if nobody holds it; return whether it is held now. Never waits.

    Raises:
        OSError: The file system offers no locks, or refused.
    """
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the second is how Windows, and some network file systems, say so
        return False
    return True


def give_up(descriptor: int) -> None:
    """Free the lock, if it is held, and close the file.

    Raises:
        OSError: The kernel would not unlock it. It is closed, which frees it as well where no other process has it.
    """
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            with contextlib.suppress(PermissionError):  # it was not held
                msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        # Forgotten first: once it is closed, its number may mean another file.
        _held.discard(descriptor)
        files.close(descriptor)
