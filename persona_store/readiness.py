"""Whether a document can be read and changed now: asked of its files, its folders and its lock, changing nothing.

A change writes a new file and renames it, under a lock, so that its folder and the lock decide; that the disk has room
is learned by a change only.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from persona_hooks.errors import CorruptError, PersonaError, StorageError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import files, holders, native_lock, recovery
from persona_store.layout import shown
from persona_store.locks import DYING, LOCKS, POLL, LockName, Rank
from persona_store.oserrors import storage_errors
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from persona_store.document import Document

PATIENCE: Final = 0.25
"""Seconds within which a lock that is let go is none that keeps anybody waiting."""


class Hindrance(NamedTuple):
    """What keeps a document from being read or changed.

    Attributes:
        what: What is wrong, with the path of it, as a phrase.
        advice: What to do, as a phrase.
    """

    what: str
    advice: str

    @property
    def told(self) -> str:
        """Both, as one phrase."""
        return phrase("{what} — {advice}", what=self.what, advice=self.advice)


class Held(NamedTuple):
    """A lock that another process or thread keeps.

    Attributes:
        path: The lock file.
        holder: Who, as a phrase.
        since: Since when, as documents write moments; empty where the holder does not say.
    """

    path: Path
    holder: str
    since: str


def hindrance(document: Document[Any]) -> Hindrance | None:
    """Return why a document cannot be read, or could not be changed; None where nothing is in the way.

    A lock that somebody holds is no hindrance, since it is let go: see `held`.
    """
    lock = document.root / LOCKS / lock_of(document).file
    closed = _closed(document.root, document.parts)
    # A lock file that is there already is only opened.
    closed = closed or _closed(document.root, [LOCKS], changes=not os.path.lexists(lock))
    if closed is not None:
        return closed
    try:
        with storage_errors(document.path):
            if _is_older(document):
                return _older(document)
        stranger = _asked(lock, DYING, lambda found: found.stranger is None).stranger
    except PersonaError as error:
        return _refused(document, error)
    if stranger is None:
        return None
    return Hindrance(
        phrase("{path} is marked as held by {holder}", path=lock, holder=stranger),
        phrase("delete the file once nobody uses the profile"),
    )


def held(document: Document[Any]) -> Held | None:
    """Return who keeps the lock under which a document is changed; None where it is free, or let go in a moment."""
    path = document.root / LOCKS / lock_of(document).file
    with contextlib.suppress(PersonaError):
        if not _asked(path, PATIENCE, lambda found: found.free).free:
            return _holder(path)
    return None


def lock_of(document: Document[Any]) -> LockName:
    """Return the first lock that a change of a document takes."""
    if document.family == "memory":
        return LockName(Rank.TRANSACTION, "memory", "memory")
    return LockName(Rank.STORE, document.family, document.relative)


def _is_older(document: Document[Any]) -> bool:
    """Read a document; return whether it comes before its previous version, so that it is not changed."""
    snapshot = document.read()
    directory = document.open()
    with directory or contextlib.nullcontext():
        if directory is None:
            return False
        # What was is kept under this name, and anything but a file in its place would stop that.
        directory.stamp(document.backup_name)
        older = recovery.is_older_than_previous(document, directory, snapshot)
        return older and document.is_current(directory, snapshot)


def _closed(root: Path, parts: Sequence[str], *, changes: bool = True) -> Hindrance | None:
    """Return why a folder, or the way to it, cannot be looked into or take changes; what is missing would be made."""
    for depth in range(len(parts) + 1):
        path = root.joinpath(*parts[:depth])
        try:
            status = os.stat(path, follow_symlinks=not depth)  # noqa: PTH116 - by attribute, like the engine's effects
        except FileNotFoundError:
            # It would be made.
            above = path.parent
            while depth == 0 and not os.path.lexists(above) and above != above.parent:
                above = above.parent
            return None if _allows(above, os.W_OK | os.X_OK) else _unwritable(above)
        except NotADirectoryError:
            return _misplaced(str(path.parent), "no_directory")
        except OSError as error:
            return Hindrance(_told(path, error), phrase("make the folders above it ones that this account may enter"))
        if not stat.S_ISDIR(status.st_mode):
            return _misplaced(str(path), "no_directory")
        if not _allows(path, os.R_OK | os.X_OK):
            return Hindrance(phrase("{path} cannot be looked into", path=path), _open_to_owner(path))
    path = root.joinpath(*parts)
    return None if not changes or _allows(path, os.W_OK) else _unwritable(path)


def _allows(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _unwritable(path: Path) -> Hindrance:
    return Hindrance(phrase("nothing can be written in {path}", path=path), _open_to_owner(path))


def _open_to_owner(path: Path | str) -> str:
    """Return what makes a file or a folder usable again: its modes where they are the cause, else the person's look."""
    mode = 0
    with contextlib.suppress(OSError):
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - as above
        folder = stat.S_ISDIR(status.st_mode)
        wanted, letters = (0o700, "rwx") if folder else (0o600, "rw")
        mode = status.st_mode & wanted
        if mode != wanted and getattr(os, "geteuid", lambda: status.st_uid)() == status.st_uid:
            return phrase("run `{command}`", command=f"chmod u+{letters} {shlex.quote(shown(path))}")
    return phrase("let this account write there, or put the profile on a disk that takes changes")


def _older(document: Document[Any]) -> Hindrance:
    return Hindrance(
        phrase("{path} is older than its own previous version, and so it is not changed", path=document.path),
        phrase(
            "move {name} away to go on from the newer one, or {backup} to keep this one",
            name=document.name,
            backup=document.backup_name,
        ),
    )


def _refused(document: Document[Any], error: PersonaError) -> Hindrance:
    match error:
        case CorruptError():
            return Hindrance(
                phrase("{path} cannot be read, and neither can its previous version", path=document.path),
                phrase("bring a backup back (`persona restore`), or move both files away to begin anew"),
            )
        case UnsupportedVersionError():
            return Hindrance(phrase("{path} was written by a newer release", path=document.path), phrase("upgrade"))
        case StorageError():
            return _unopened(error)
        case _:
            return _misplaced(str(error.details.get("path", document.path)), error.reason)


def _misplaced(path: str, reason: str) -> Hindrance:
    if reason == "foreign_account":
        return Hindrance(phrase("{path} belongs to another account", path=path), phrase("give it to this one"))
    what = {
        "no_directory": phrase("{path} is a link or no directory", path=path),
        "unsafe_lock": phrase("{path} is no ordinary lock file", path=path),
    }.get(reason, phrase("{path} is a link or no regular file", path=path))
    return Hindrance(what, phrase("look at it, and move it away"))


def _unopened(error: StorageError) -> Hindrance:
    path, why = str(error.details.get("path", "")), error.__cause__
    what = _told(path, why) if isinstance(why, OSError) else error.message
    return Hindrance(what, _open_to_owner(path) if error.reason in {"eacces", "eperm"} else phrase("look at the disk"))


def _told(path: Path | str, error: OSError) -> str:
    return phrase("{path} cannot be opened ({error})", path=path, error=error.strerror or type(error).__name__)


class _Lock(NamedTuple):
    """What became of asking for a lock: whether the kernel gave it, and whom it does not keep out all the same."""

    free: bool
    stranger: holders.Holder | None = None


def _asked(path: Path, patience: float, enough: Callable[[_Lock], bool]) -> _Lock:
    """Ask for a lock until the answer is enough, for so many seconds."""
    deadline = time.monotonic() + patience
    while True:
        found = _ask(path)
        if enough(found) or time.monotonic() > deadline:
            return found
        time.sleep(POLL)


def _ask(path: Path) -> _Lock:
    """Ask the kernel for a lock whose file is there, and give it up at once. Shared, so that two who ask both get it.

    The library that takes locks would put modes right, and costs every report its import; who only looks needs neither.

    Raises:
        RefusedError: It is no ordinary file.
        StorageError: The file system offers no locks, or refused.
    """
    with storage_errors(path):
        try:
            status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - as above
            if (refusal := native_lock.unsafe(path, status)) is not None:
                raise refusal
            descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return _Lock(free=True)
        try:
            given = _is_given(descriptor)
            record = files.pread(descriptor, holders.MAX_READ, 0)
        finally:
            files.close(descriptor)
    verdict, holder = holders.judge(record, holders.this_process(), held_here=False)
    if given is None:
        return _Lock(free=verdict != "alive", stranger=holder if verdict == "foreign" else None)
    return _Lock(free=given, stranger=holder if given and verdict in {"foreign", "alive"} else None)


def _is_given(descriptor: int) -> bool | None:
    """Return whether the kernel gives the lock now; None where only the record can tell."""
    if sys.platform == "win32":
        return None
    import fcntl  # noqa: PLC0415 - not there on every platform

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # By name: a child that was forked meanwhile would hold it as long as it lives.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def _holder(path: Path) -> Held:
    parsed = None
    with contextlib.suppress(OSError, PersonaError), files.open_directory(path.parent, []) as directory:
        parsed = holders.parse(directory.read_head(path.name, holders.MAX_READ))
    if parsed is None or parsed[0] != holders.HELD:
        return Held(path, phrase("somebody else"), "")
    return Held(path, str(parsed[1]), instant(datetime.fromtimestamp(parsed[1].since, UTC)))
