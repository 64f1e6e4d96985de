"""The session log's file: created whole, appended to under its lock, forced to disk before it counts.

The lock is taken on the log itself, which is never replaced, for the milliseconds of one append. ``os`` is called by
attribute, so that tests inject faults into this very code.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
import time
from typing import IO, TYPE_CHECKING

from persona_hooks.errors import (
    UNCHANGED,
    BusyError,
    CapacityError,
    ConflictError,
    CorruptError,
    NotFoundError,
    PersonaError,
    StorageError,
    UncertainError,
)
from persona_hooks.logformat import MAX_LOG
from persona_hooks.speech import phrase, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import portalocker

LOCK_SECONDS = 10.0
LEFTOVER_SECONDS = 600.0
"""Age from which on what a creation left can belong to none that is under way: one takes milliseconds."""
_LEFTOVER = re.compile(r"\..+\.jsonl\.[0-9a-f]{16}\.tmp", re.DOTALL)
_POLL = 0.005
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def read(path: Path, offset: int = 0) -> tuple[bytes, os.stat_result]:
    """Return the log's bytes from ``offset``, and which file they came from.

    Raises:
        NotFoundError: There is no such file.
        CorruptError: It is a link, or no regular file.
        CapacityError: It is larger than ``MAX_LOG``.
        StorageError: It cannot be read.
    """
    with _opened(path) as file, _refusals(path):
        status = os.fstat(file.fileno())
        _check_size(path, status.st_size)
        file.seek(offset)
        return file.read(MAX_LOG + 1 - offset), status


def status(path: Path) -> os.stat_result | None:
    """Return what stands at ``path``, be it a dangling link; None where nothing does.

    Raises:
        StorageError: The file system would not say.
    """
    with _refusals(path):
        try:
            return os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for fault injection
        except FileNotFoundError:
            return None


def sweep(folder: Path) -> None:
    """Remove what creations of logs that were killed left in a folder; it holds what a person said."""
    before = time.time() - LEFTOVER_SECONDS
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for item in found:
            if _LEFTOVER.fullmatch(item.name) and item.is_file(follow_symlinks=False):
                # Another process may be sweeping, too; what cannot be removed is tried again the next time.
                with contextlib.suppress(OSError):
                    if item.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(item.path)  # noqa: PTH108 - by attribute, as in `create`


def create(path: Path, content: bytes) -> None:
    """Create the log with ``content``, whole or not at all; directories are made as needed, private.

    Raises:
        FileExistsError: Somebody created it first.
        StorageError: The file system refused; nothing was created.
        UncertainError: It was created, but perhaps not on the disk.
    """
    _check_size(path, len(content))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        _make_directory(path.parent)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY, 0o600)
        try:
            try:
                _write(descriptor, content)
                _sync(descriptor)
            finally:
                os.close(descriptor)
            _publish(temporary, path)
        finally:
            # Once the log has its name, a leftover must not deny it; before, another error is told already.
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108 - by attribute, for fault injection
    except FileExistsError:
        raise
    except OSError as error:
        raise _storage(path, error) from error
    _sync_directory(path)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[IO[bytes]]:
    """Hold the log's lock and its open file, positioned anywhere.

    Raises:
        BusyError: Another process held the lock for ``LOCK_SECONDS``.
        ConflictError: The file was removed.
        CorruptError: It is a link, or no regular file.
        StorageError: It cannot be opened or locked.
    """
    import portalocker  # noqa: PLC0415 - 65 to 140 ms, which a process that only reads does not pay

    def opener(name: str, flags: int) -> int:
        return os.open(name, (flags & ~os.O_CREAT) | _NOFOLLOW | _NONBLOCK | _CLOEXEC, 0o600)

    lock = portalocker.Lock(
        str(path), "r+b", timeout=LOCK_SECONDS, check_interval=_POLL, buffering=0, opener=opener,
        raise_on_release_error=True,
    )  # fmt: skip
    try:
        file = lock.acquire()
    except portalocker.AlreadyLocked as error:
        raise BusyError(
            phrase("{path} is in use by another process; {unchanged}.", path=path, unchanged=UNCHANGED), path=str(path)
        ) from error
    except FileNotFoundError as error:
        raise ConflictError(
            phrase("{path} was removed while it was in use; nothing was written. Start a new session.", path=path),
            reason="log_removed",
            path=str(path),
        ) from error
    except (portalocker.LockException, OSError) as error:
        raise _storage(path, error) from error
    try:
        with _refusals(path):
            status = os.fstat(file.fileno())
        _check_regular(path, status)
        yield file
    finally:
        _release(path, lock)


def _release(path: Path, lock: portalocker.Lock[IO[bytes]]) -> None:
    from portalocker import LockException  # noqa: PLC0415 - as in `locked`, which has imported it

    try:
        lock.release()
    except (LockException, OSError) as error:
        raise UncertainError(
            phrase("{path} could not be unlocked; what was written stands.", path=path), path=str(path)
        ) from error


def append(file: IO[bytes], path: Path, content: bytes) -> None:
    """Write ``content`` at the end of a ``locked`` file and force it to disk.

    Raises:
        CapacityError: The log would be larger than ``MAX_LOG``.
        StorageError: It could not be written; what was written of it was taken back.
        UncertainError: It was written, but perhaps not to the disk.
    """
    descriptor = file.fileno()
    with _refusals(path):
        end = os.fstat(descriptor).st_size
        _check_size(path, end + len(content))
        os.lseek(descriptor, end, os.SEEK_SET)
    try:
        _write(descriptor, content)
    except OSError as error:
        # If even this fails, a torn line stays, which the next append isolates.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, end)
        raise _storage(path, error) from error
    try:
        _sync(descriptor)
    except OSError as error:
        # Never tried again on this descriptor: the kernel may have dropped the pages and would then report success.
        raise UncertainError(
            phrase("{path}: the last entry was written, but the disk did not confirm it.", path=path), path=str(path)
        ) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        # Without O_NONBLOCK a FIFO at this path would hang the open for ever.
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY)
    except FileNotFoundError as error:
        raise NotFoundError(phrase("{path} does not exist.", path=path), path=str(path)) from error
    except OSError as error:
        raise _storage(path, error) from error
    try:
        with _refusals(path):
            status = os.fstat(descriptor)
        _check_regular(path, status)
    except PersonaError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        yield file


@contextlib.contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Let what the file system refuses be an error of ours; nothing has been changed here."""
    try:
        yield
    except OSError as error:
        raise _storage(path, error) from error


def _check_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise CorruptError(phrase("{path} is not a regular file.", path=path), path=str(path))


def _check_size(path: Path, length: int) -> None:
    if length > MAX_LOG:
        raise CapacityError(
            phrase(
                "{path}: a session log may be {limit} bytes long. Fork it, or start a new session.",
                path=path,
                limit=thousands(MAX_LOG),
            ),
            limit="log",
            path=str(path),
        )


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _publish(temporary: Path, path: Path) -> None:
    """Give the finished file its name, without replacing another."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No hard links here (exFAT, some network mounts): the check leaves a gap, which the random name makes small.
        if status(path) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        os.rename(temporary, path)  # noqa: PTH104 - by attribute, for fault injection


def _make_directory(path: Path) -> None:
    if not path.is_dir():
        _make_directory(path.parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)  # noqa: PTH102 - by attribute; pathlib would give parents the default mode


def _sync(descriptor: int) -> None:
    """Force a file to the disk itself; on macOS fsync alone reaches only the drive's cache."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - not on every platform

        # Some file systems do not know it, and then fsync is all there is.
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _sync_directory(path: Path) -> None:
    if os.name == "nt":
        return  # no such thing there
    try:
        descriptor = os.open(path.parent, os.O_RDONLY | _CLOEXEC)
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        # Some network file systems do not know it; they order renames themselves.
        if error.errno not in {errno.EINVAL, errno.EOPNOTSUPP}:
            raise UncertainError(
                phrase("{path} was created, but the disk did not confirm it.", path=path), path=str(path)
            ) from error


def _storage(path: Path, error: Exception) -> StorageError | CorruptError:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return CorruptError(phrase("{path} is a link, which is not followed.", path=path), path=str(path))
    why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
    return StorageError(phrase("{path}: {why}; {unchanged}.", path=path, why=why, unchanged=UNCHANGED), path=str(path))
