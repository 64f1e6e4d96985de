"""Who may write now: one native lock a name, taken in one order, on side files that stay.

The order within a family is memory transaction, then history, then store. A lock of another family (the backlog,
a settings file) is never held together with one of this. Taking them the other way round is a bug of the caller
and raises at once, so that no two processes can wait for each other.
"""

from __future__ import annotations

import contextlib
import enum
import os
import stat
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import BusyError, ConflictError, RefusedError, UncertainError
from persona_store import files, holders
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filelock import BaseFileLock

LOCKS: Final = ".locks"
POLL: Final = 0.005
DEFAULT_TIMEOUT: Final = 10.0


class Rank(enum.IntEnum):
    """The order in which locks of one family are taken."""

    TRANSACTION = 1
    HISTORY = 2
    STORE = 3


class LockOrderError(RuntimeError):
    """The caller takes locks in an order that could make two processes wait for each other; a bug, not a state."""


@dataclass(frozen=True, slots=True)
class LockName:
    """Which lock: its rank in its family, and the words that name its file."""

    rank: Rank
    family: str
    words: str

    @property
    def file(self) -> str:
        """The lock file's name; path separators become a character that no document's name may hold."""
        return f"{self.words.replace('/', '!')}.{self.rank.name.lower()}"


@dataclass(frozen=True, slots=True)
class Hold:
    """A lock while it is held.

    ``recovered`` names the earlier holder when that one died without letting go.
    """

    path: Path
    descriptor: int
    recovered: str | None

    def check(self) -> None:
        """Make sure that the held file is still the one others would lock.

        Raises:
            ConflictError: The lock file was removed or replaced, so somebody else may hold the lock too.
        """
        try:
            there = os.stat(self.path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
        except FileNotFoundError:
            there = None
        if there is None or not os.path.samestat(there, os.fstat(self.descriptor)):
            raise ConflictError(
                f"{self.path} was removed or replaced while it was held; nothing was changed",
                reason="lock_replaced",
                path=str(self.path),
            )


class _Held(threading.local):
    def __init__(self) -> None:
        self.names: list[tuple[Path, LockName]] = []


_held: Final = _Held()
_paths_held: Final[set[Path]] = set()
os.register_at_fork(after_in_child=_paths_held.clear) if hasattr(os, "register_at_fork") else None


class Locks:
    """The locks of one directory; ``report`` is told, in one word and with a path, what was found amiss."""

    def __init__(self, root: Path, report: Callable[[str, Path], None] | None = None) -> None:
        self.root = root
        self._report = report

    @contextlib.contextmanager
    def hold(
        self,
        name: LockName,
        timeout: float = DEFAULT_TIMEOUT,
        check: Callable[[], None] | None = None,
    ) -> Iterator[Hold]:
        """Hold a lock for the length of a ``with`` block.

        Args:
            name: Which lock.
            timeout: Seconds to wait; 0 asks once.
            check: Called before and while waiting; what it raises ends the wait and is raised here.

        Raises:
            BusyError: It stayed held; ``details["holder"]`` says by whom.
            LockOrderError: This thread holds a lock that comes after it, or one of another family.
            RefusedError: The lock file is no private regular file, or another machine holds it.
            StorageError: The file system offers no locks, or refused.
        """
        self._require_order(name)
        if check is not None:
            check()
        path = self.root / LOCKS / name.file
        with storage_errors(path):
            files.open_directory(self.root, [LOCKS], create=True).close()
            hold, release = self._acquire(path, timeout, check)
        entry = (self.root, name)
        _held.names.append(entry)
        _paths_held.add(path)
        try:
            yield hold
        finally:
            _paths_held.discard(path)
            _held.names.remove(entry)
            try:
                release()
            except OSError as error:
                raise UncertainError(
                    f"{path} could not be unlocked; what was done under it stands",
                    reason="lock_release",
                    path=str(path),
                ) from error

    def _require_order(self, name: LockName) -> None:
        for root, held in _held.names:
            if root == self.root and (held.family != name.family or held.rank >= name.rank):
                raise LockOrderError(f"{name.file} may not be locked while {held.file} is held")

    def _acquire(self, path: Path, timeout: float, check: Callable[[], None] | None) -> tuple[Hold, Callable[[], None]]:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - reading needs no locks, and this import is slow

        notes: list[tuple[int, str | None]] = []
        stopped: list[BaseException] = []
        lock = FileLock(
            path,
            mode=files.FILE_MODE,
            poll_interval=POLL,
            fallback_to_soft=False,
            preserve_lock_file=True,
            on_acquired=lambda descriptor: notes.append((descriptor, self._sign(path, descriptor))),
        )
        try:
            lock.acquire(timeout=timeout, cancel_check=_canceller(check, stopped))
        except Timeout:
            if stopped:
                raise stopped[0] from None
            raise _busy(path) from None
        descriptor, recovered = notes[-1]
        return Hold(path, descriptor, recovered), lambda: self._release(lock, path, descriptor)

    def _release(self, lock: BaseFileLock, path: Path, descriptor: int) -> None:
        try:
            _write_record(descriptor, holders.FREE)
        except OSError:
            # The record is a note: the next holder finds this process dead, or itself, and goes on.
            self._note("lock_record", path)
        try:
            lock.release()
        except OSError:
            self._note("lock_release", path)
            lock.release(force=True)

    def _note(self, word: str, path: Path) -> None:
        if self._report is not None:
            self._report(word, path)

    def _sign(self, path: Path, descriptor: int) -> str | None:
        """Judge the record of the last holder and write our own; raising gives the lock back."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise RefusedError(
                f"{path} is no ordinary lock file; it was left untouched", reason="unsafe_lock", path=str(path)
            )
        me = holders.this_process()
        record = os.pread(descriptor, holders.MAX_READ, 0)
        verdict, holder = holders.judge(record, me, held_here=path in _paths_held)
        if verdict in {"foreign", "alive"}:
            raise _refused(path, verdict, holder)
        if verdict == "malformed":
            _keep_malformed(path, record)
        if verdict != "clean":
            self._note(f"lock_{verdict}", path)
        _write_record(descriptor, me.record())
        return str(holder or "an unknown process") if verdict != "clean" else None


def _canceller(check: Callable[[], None] | None, stopped: list[BaseException]) -> Callable[[], bool] | None:
    if check is None:
        return None

    def cancelled() -> bool:
        try:
            check()
        except BaseException as error:  # noqa: BLE001 - raised again by the waiter, once the lock machinery is left
            stopped.append(error)
            return True
        return False

    return cancelled


def _write_record(descriptor: int, record: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    files.write_all(descriptor, record)
    if len(record) == holders.RECORD_BYTES:
        os.ftruncate(descriptor, holders.RECORD_BYTES)


def _keep_malformed(path: Path, record: bytes) -> None:
    with files.open_directory(path.parent, []) as directory:
        for number in range(8):
            name = f"{path.name}.malformed.{number}"
            if directory.stamp(name) is None:
                temporary, descriptor = directory.create_temporary(path.name)
                try:
                    files.write_all(descriptor, record)
                finally:
                    os.close(descriptor)
                directory.rename(temporary, name)
                return


def _refused(path: Path, verdict: str, holder: holders.Holder | None) -> RefusedError:
    where = "another machine" if verdict == "foreign" else "a live process that the system does not keep out"
    return RefusedError(
        f"{path} is marked as held by {holder}, {where}; if it is gone, run 'persona doctor'",
        reason=f"lock_{verdict}",
        path=str(path),
        holder=str(holder),
    )


def _busy(path: Path) -> BusyError:
    holder = "somebody else"
    with contextlib.suppress(OSError, RefusedError), files.open_directory(path.parent, []) as directory:
        parsed = holders.parse(directory.read_head(path.name, holders.MAX_READ))
        if parsed is not None and parsed[0] == holders.HELD:
            holder = str(parsed[1])
    return BusyError(f"{path} is held by {holder}; try again later", path=str(path), holder=holder)
