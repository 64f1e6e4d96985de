"""The lock file of the TypeScript original: respected while its holder may live, never created or removed."""

from __future__ import annotations

import os
import re
import socket
import stat
import time
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import BusyError
from persona_hooks.speech import phrase
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TOKEN: Final = re.compile(r"(?P<host>[^:\s]{1,255}):(?P<pid>[1-9]\d{0,9})-(?P<seq>\d{1,18})\s*", re.ASCII)
_WAKER: Final = re.compile(r"(?P<host>[^:\s]{1,255}):(?P<pid>[1-9]\d{0,9}):\S{1,255}\s*", re.ASCII)
_MAX_TOKEN: Final = 1024
_POLL: Final = 0.025


def holder_of(store: Path) -> str | None:
    """Name the original's live holder of a store, or None when nobody of it stands in the way.

    A holder is dead only when its note is whole, it ran on this machine, and no process has its number; everything
    else (another machine, a note that cannot be read) counts as alive, since the original counts so.
    """
    path = f"{store}.lock"
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
    except FileNotFoundError:
        return None
    token = _read(path) if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_TOKEN else None
    match = _TOKEN.fullmatch(token) if token is not None else None
    if match is None:
        return phrase("an unknown process of the TypeScript release")
    if match["host"] == socket.gethostname() and not _exists(int(match["pid"])):
        return None
    return phrase("process {pid} of the TypeScript release", pid=match["pid"])


def reminding(store: Path) -> tuple[str, bool] | None:
    """Name who of the original shows the reminders of a backlog, or return None when nobody of it does.

    Its note ``<store>.wakeowner`` is judged as `holder_of` judges a lock; it is never created, replaced or removed.

    Returns:
        The words for it, and whether it is certainly alive: what is merely unclear is worth a warning.

    Raises:
        StorageError: Its folder could not be looked into, so that there may be such a note or none.
    """
    path = store.with_name(f"{store.name}.wakeowner")
    with storage_errors(path):
        try:
            status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
        except FileNotFoundError:
            return None
        token = _read(path) if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_TOKEN else None
    match = _WAKER.fullmatch(token) if token is not None else None
    if match is None:
        return phrase("an unknown process of the TypeScript release (see {path})", path=path), False
    if match["host"] != socket.gethostname():
        host = re.sub(r"[^A-Za-z0-9._-]", "_", match["host"])[:64]
        return phrase("the TypeScript release on {host} (see {path})", host=host, path=path), False
    return (
        (phrase("process {pid} of the TypeScript release", pid=match["pid"]), True)
        if _exists(int(match["pid"]))
        else None
    )


def refuse(store: Path) -> None:
    """Raise when the original holds a store.

    Raises:
        BusyError: It does; both releases must not write one profile at once.
    """
    holder = holder_of(store)
    if holder is not None:
        raise BusyError(
            phrase(
                "{store} is held by {holder}; close it, both must not write one profile at once",
                store=store,
                holder=holder,
            ),
            reason="original_release",
            path=str(store),
            holder=holder,
        )


def wait(store: Path, timeout: float, check: Callable[[], None] | None) -> None:
    """Wait until the original lets go of a store, asking ``check`` meanwhile; then as `refuse`."""
    if holder_of(store) is None:
        return
    deadline = time.monotonic() + timeout
    while holder_of(store) is not None and time.monotonic() < deadline:
        if check is not None:
            check()
        time.sleep(_POLL)
    refuse(store)


def _read(path: str | Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        return os.read(descriptor, _MAX_TOKEN).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
