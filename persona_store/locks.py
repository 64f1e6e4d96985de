"""Who may write now: one native lock a name, taken in one order, on side files that stay.

The order within a family is memory transaction, then history, then store. A lock of another family (the backlog,
a settings file) is never held together with one of this. Taking them the other way round is a bug of the caller
and raises at once, so that no two processes can wait for each other.

Inside a memory transaction the later locks are kept in order but not asked of the kernel again: whoever writes
memory holds the transaction, so a second file would keep nobody out.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import stat
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import UNCHANGED, BusyError, ConflictError, RefusedError
from persona_hooks.speech import phrase
from persona_store import files, holders
from persona_store.native_lock import NativeLock
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOCKS: Final = ".locks"
POLL: Final = 0.005
DEFAULT_TIMEOUT: Final = 10.0
KEPT: Final = 0.25
"""Seconds for which a process may keep a lock in short turns before it leaves others a gap that they cannot miss."""
GAP: Final = 2 * POLL
DYING: Final = 2.0
"""Seconds after which a process that is named as holder, and alive, is taken at its word."""


class Rank(enum.IntEnum):
    """The order in which locks of one family are taken."""

    TRANSACTION = 1
    HISTORY = 2  # of receipts, which consolidation writes
    STORE = 3


class LockOrderError(RuntimeError):
    """The caller takes locks in an order that could make two processes wait for each other; a bug, not a state."""


class LockName(NamedTuple):
    """Which lock: its rank in its family, and the words that name its file."""

    rank: Rank
    family: str
    words: str

    @property
    def file(self) -> str:
        """The lock file's name; documents whose names differ in ``/`` and ``!`` alone share one, which does no harm."""
        return f"{self.words.replace('/', '!')}.{self.rank.name.lower()}"


@dataclass(frozen=True, slots=True)
class Hold:
    """A lock that a thread has taken."""

    lock: NativeLock

    @property
    def stands(self) -> bool:
        """Whether it is held still: by this process, and not given up."""
        return self.lock.descriptor is not None

    def check(self) -> None:
        """Make sure that the held file is still the one others would lock.

        Raises:
            ConflictError: The lock file was removed or replaced, so somebody else may hold the lock too.
        """
        path, descriptor = self.lock.path, self.lock.descriptor
        try:
            there = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
        except FileNotFoundError:
            there = None
        if there is None or descriptor is None or not os.path.samestat(there, os.fstat(descriptor)):
            raise ConflictError(
                phrase("{path} was removed or replaced while it was held; {unchanged}", path=path, unchanged=UNCHANGED),
                reason="lock_replaced",
                path=str(path),
            )


class _Turn:
    """How this process keeps one lock; waiters look every ``POLL``, and miss what is taken again at once."""

    __slots__ = ("_ended", "_kept")

    def __init__(self) -> None:
        self._kept = self._ended = 0.0

    def leave_room(self) -> None:
        """Pause where it was kept for long without a gap that a waiter would have met."""
        if time.monotonic() - self._ended > GAP:
            self._kept = 0.0
        elif self._kept > KEPT:
            time.sleep(GAP)
            self._kept = 0.0

    def end(self, began: float) -> None:
        """Take note that it was let go, and since when it was kept."""
        self._ended = time.monotonic()
        self._kept += self._ended - began


class _Held(threading.local):
    def __init__(self) -> None:
        self.locks: list[tuple[Path, LockName, Hold]] = []


def _forget() -> None:
    """Let a forked child start with nothing held: its parent's locks stay its parent's."""
    _held.locks.clear()


_held: Final = _Held()
_turns: Final[dict[Path, _Turn]] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Locks:
    """The locks of one directory; ``report`` is told, in one word and with a path, what was found amiss."""

    def __init__(self, root: Path, report: Callable[[str, Path], None] | None = None) -> None:
        self.root = root
        self._directory = root / LOCKS
        self._report = report
        self._paths: dict[LockName, Path] = {}

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
            timeout: Seconds to wait; 0 asks once. What has kept it for long by short turns leaves others a moment.
            check: Called before and while waiting; what it raises ends the wait and is raised here.

        Raises:
            BusyError: It stayed held; ``details["holder"]`` says by whom.
            LockOrderError: This thread holds a lock that comes after it, or one of another family.
            RefusedError: The lock file is no ordinary file, or another machine holds it.
            StorageError: The file system offers no locks, or refused.
        """
        covering = self._covering(name)
        if check is not None:
            check()
        if covering is not None:
            with self._entered(name, covering):
                yield covering
            return
        lock = NativeLock(self._path(name))
        turn = _turns.setdefault(lock.path, _Turn())
        if timeout:
            turn.leave_room()
        began = None
        try:
            with storage_errors(lock.path):
                self._require_directory()
                hold = self._acquire(lock, timeout, check)
            began = time.monotonic()
            with self._entered(name, hold):
                yield hold
        finally:
            self._release(lock)
            if began is not None:
                turn.end(began)

    def _path(self, name: LockName) -> Path:
        path = self._paths.get(name)
        if path is None:
            path = self._paths[name] = self._directory / name.file
        return path

    def _require_directory(self) -> None:
        try:
            status = os.stat(self._directory, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
        except FileNotFoundError:
            status = None
        if status is None or not stat.S_ISDIR(status.st_mode):
            files.open_directory(self.root, [LOCKS], create=True).close()

    def holds(self, rank: Rank, family: str) -> bool:
        """Whether this thread holds a lock of a rank and family here."""
        return any((held.rank, held.family) == (rank, family) for held, _ in self._standing())

    def _standing(self) -> list[tuple[LockName, Hold]]:
        """Return what this thread holds here."""
        # An interruption may have left entries of locks that were let go.
        _held.locks = [entry for entry in _held.locks if entry[2].stands]
        return [(name, hold) for root, name, hold in _held.locks if root == self.root]

    @contextlib.contextmanager
    def _entered(self, name: LockName, hold: Hold) -> Iterator[None]:
        entry = (self.root, name, hold)
        try:
            _held.locks.append(entry)
            yield
        finally:
            if entry in _held.locks:
                _held.locks.remove(entry)

    def _covering(self, name: LockName) -> Hold | None:
        """Return the transaction that already excludes everybody from this lock, once the order is right."""
        covering = None
        for held, hold in self._standing():
            if held.family != name.family or held.rank >= name.rank:
                raise LockOrderError(f"{name.file} may not be locked while {held.file} is held")
            if held.rank is Rank.TRANSACTION:
                covering = hold
        return covering

    def _acquire(self, lock: NativeLock, timeout: float, check: Callable[[], None] | None) -> Hold:
        deadline = time.monotonic() + timeout
        while (descriptor := lock.take()) is None:
            left = deadline - time.monotonic()
            if not left > 0:
                raise _busy(lock.path)
            if check is not None:
                check()
            time.sleep(min(POLL, left))
        self._sign(lock, descriptor)
        return Hold(lock)

    def _sign(self, lock: NativeLock, descriptor: int) -> None:
        """Judge the record of the last holder and write our own."""
        me, path = holders.this_process(), lock.path
        record = files.pread(descriptor, holders.MAX_READ, 0)
        verdict, holder = _judge(record, me, held_here=lock.rivalled())
        if verdict in {"foreign", "alive"}:
            raise _refused(path, verdict, holder)
        if verdict == "malformed":
            _keep_malformed(path, record)
        if verdict != "clean":
            self._note(f"lock_{verdict}", path)
        # Until the record stands whole, nothing of it is to stay.
        lock.farewell = b""
        _write_record(descriptor, me.record(), len(record))
        lock.farewell = holders.FREE

    def _release(self, lock: NativeLock) -> None:
        try:
            lock.give_up()
        except OSError:
            # What was done under it stands, and nobody is kept out.
            self._note("lock_release", lock.path)

    def _note(self, word: str, path: Path) -> None:
        if self._report is not None:
            self._report(word, path)


def _judge(record: bytes, me: holders.Holder, *, held_here: bool) -> tuple[holders.Verdict, holders.Holder | None]:
    """Judge a record, giving a holder that is just being killed the time to be gone.

    The kernel frees the locks of a dying process a moment before it takes the process off its list.
    """
    deadline = time.monotonic() + DYING
    while True:
        verdict, holder = holders.judge(record, me, held_here=held_here)
        if verdict != "alive" or held_here or time.monotonic() > deadline:
            return verdict, holder
        time.sleep(POLL)


def _write_record(descriptor: int, record: bytes, size: int) -> None:
    written = files.pwrite(descriptor, record, 0)
    if written != len(record):
        raise OSError(errno.ENOSPC, "the holder record does not fit")
    if size > len(record):
        os.ftruncate(descriptor, len(record))


def _keep_malformed(path: Path, record: bytes) -> None:
    with files.open_directory(path.parent, []) as directory:
        for number in range(8):
            name = f"{path.name}.malformed.{number}"
            if directory.stamp(name) is None:
                temporary, descriptor = directory.create_temporary(path.name)
                try:
                    files.write_all(descriptor, record)
                finally:
                    files.close(descriptor)
                directory.rename(temporary, name)
                return


def _refused(path: Path, verdict: str, holder: holders.Holder | None) -> RefusedError:
    where = phrase("a live process that the system does not keep out")
    if verdict == "foreign":
        where = phrase("another machine")
    return RefusedError(
        phrase(
            "{path} is marked as held by {holder}, {where}; delete the file once nobody uses the profile",
            path=path,
            holder=holder,
            where=where,
        ),
        reason=f"lock_{verdict}",
        path=str(path),
        holder=str(holder),
    )


def _busy(path: Path) -> BusyError:
    holder: str = phrase("somebody else")
    with contextlib.suppress(OSError, RefusedError), files.open_directory(path.parent, []) as directory:
        parsed = holders.parse(directory.read_head(path.name, holders.MAX_READ))
        if parsed is not None and parsed[0] == holders.HELD:
            holder = str(parsed[1])
    return BusyError(
        phrase("{path} is held by {holder}; try again later", path=path, holder=holder), path=str(path), holder=holder
    )
