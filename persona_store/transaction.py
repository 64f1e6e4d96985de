"""A profile and the transactions on it: the only door through which a document changes."""

from __future__ import annotations

import contextlib
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar, cast

from persona_hooks.errors import UNCHANGED, CapacityError, ConflictError, CorruptError, RefusedError
from persona_hooks.speech import phrase
from persona_store import commit, diagnostics, files, foreign_lock, jsontext, recovery
from persona_store.document import Document, ModelCodec, Rows, Snapshot
from persona_store.locks import DEFAULT_TIMEOUT, LockName, LockOrderError, Locks, Rank
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from persona_store.document import Codec, Damage, Row
    from persona_store.locks import Hold

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound="BaseModel")

_REPLAYS: Final = 5


class _Terms(NamedTuple):
    """Under which conditions a change may take place."""

    expect: str | None
    check: Callable[[], None] | None
    hold: Hold


class _MovedError(Exception):
    """The file is no longer the version that was read."""


class Committed(NamedTuple, Generic[T]):
    """What an update came to.

    ``changed`` is false when the rows were the same and nothing was written. ``repaired`` is set when the live
    file was unusable and this update stands on its previous version: the change before it may be lost.
    """

    snapshot: Snapshot[T]
    changed: bool
    repaired: Damage | None = None


class Transaction:
    """The profile-wide memory transaction while it is held; get one from `Profile.transaction`."""

    def __init__(self, profile: Profile, check: Callable[[], None] | None, timeout: float) -> None:
        self._profile = profile
        self._check = check
        self._timeout = timeout

    def update(
        self,
        document: Document[T],
        mutate: Callable[[Snapshot[T]], Sequence[Row[T]] | None],
        *,
        expect: str | None = None,
    ) -> Committed[T]:
        """Change one document durably; see `Profile.update`, which takes the same arguments."""
        return self._profile.commit(document, mutate, expect, self._check, self._timeout)

    @contextlib.contextmanager
    def history(self, document: Document[T]) -> Iterator[None]:
        """Hold the lock of a document's history of receipts, which comes before the document's own.

        It is there for consolidation, whose receipts are not written yet.
        """
        name = LockName(Rank.HISTORY, document.family, document.relative)
        with self._profile.locks.hold(name, self._timeout, self._check):
            yield


class Profile:
    """One directory of documents. Making one touches no disk.

    Args:
        root: ``<agentDir>/persona-mind``; need not exist.
        now: The clock, with a time zone.
    """

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self.root = root
        self.now = now
        self.locks = Locks(root, self._found)
        self._documents: dict[str, object] = {}
        self._notes: list[diagnostics.Note] = []

    def document(self, relative: str, model: type[ModelT]) -> Document[ModelT]:
        """Return the document at a path below the root, such as ``memory/ltm/elite.json``.

        Args:
            relative: The path, with forward slashes. Its first directory decides which locks the document belongs
                to (see `layout.family_of`): memory's, so that it is changed inside `transaction`, or its own.
            model: A frozen pydantic model of one entry.
        """
        return self.document_of(relative, ModelCodec(model))

    def document_of(self, relative: str, codec: Codec[T]) -> Document[T]:
        """Return the document at a path, with a codec of the caller's own."""
        known = self._documents.get(relative)
        if known is None:
            known = self._documents[relative] = Document(self.root, relative, codec)
        if not isinstance(known, Document) or known.codec != codec:
            raise ValueError(f"{relative} is already a document of another kind")
        return cast("Document[T]", known)

    def forget(self) -> None:
        """Let go of every version kept in memory, so that nothing of what was erased stays there."""
        for document in list(self._documents.values()):
            if isinstance(document, Document):
                document.forget()

    @contextlib.contextmanager
    def transaction(
        self, check: Callable[[], None] | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> Iterator[Transaction]:
        """Hold the profile-wide memory transaction: what is decided in it stays true until it ends.

        Each update inside is durable on its own; the transaction is exclusion, not rollback.

        Args:
            check: Called before every lock and just before every rename, never after; raises when the owner or
                the turn is no longer the one that asked.
            timeout: Seconds to wait for each lock.

        Raises:
            BusyError: Another process or thread kept it.
            LockOrderError: This thread already holds a lock that comes after it.
        """
        try:
            with self.locks.hold(LockName(Rank.TRANSACTION, "memory", "memory"), timeout, check):
                yield Transaction(self, check, timeout)
        finally:
            diagnostics.flush(self.root, self._notes)

    def update(
        self,
        document: Document[T],
        mutate: Callable[[Snapshot[T]], Sequence[Row[T]] | None],
        *,
        expect: str | None = None,
        check: Callable[[], None] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> Committed[T]:
        """Change one document that lies outside the memory transaction, durably.

        Args:
            document: One whose family is not ``"memory"``.
            mutate: Given the current version, returns all rows of the next one, or None to leave it. Must be pure:
                it runs again when another program replaced the file in between.
            expect: A fingerprint the file must have, or the update is refused; for plans of consolidation.
            check: As in `transaction`.
            timeout: Seconds to wait for the lock.

        Raises:
            BusyError: Another process, or the original release, holds the document.
            ConflictError: The file is not the one expected, or kept changing, or its lock was replaced.
            CapacityError: The next version would exceed 4 MiB or 10,000 entries.
            CorruptError: Neither the file nor its previous version is usable; copies were put in quarantine.
            UnsupportedVersionError: A newer release wrote it.
            StorageError: The file system refused; nothing was changed.
            UncertainError: The new version is in place, but the disk did not confirm it.
        """
        try:
            return self.commit(document, mutate, expect, check, timeout)
        finally:
            diagnostics.flush(self.root, self._notes)

    def commit(
        self,
        document: Document[T],
        mutate: Callable[[Snapshot[T]], Sequence[Row[T]] | None],
        expect: str | None,
        check: Callable[[], None] | None,
        timeout: float,
    ) -> Committed[T]:
        """Do one update under the document's lock; callers use `Transaction.update` or `update`."""
        if document.family == "memory" and not self.locks.holds(Rank.TRANSACTION, "memory"):
            raise LockOrderError(f"{document.relative} changes inside a memory transaction only")
        name = LockName(Rank.STORE, document.family, document.relative)
        with self.locks.hold(name, timeout, check) as hold, storage_errors(document.path):
            foreign_lock.wait(document.path, timeout, check)
            for _ in range(_REPLAYS):
                with contextlib.suppress(_MovedError):
                    return self._attempt(document, mutate, _Terms(expect, check, hold))
        raise ConflictError(
            phrase("{path} kept changing; {unchanged}", path=document.path, unchanged=UNCHANGED),
            path=str(document.path),
        )

    def _attempt(
        self,
        document: Document[T],
        mutate: Callable[[Snapshot[T]], Sequence[Row[T]] | None],
        terms: _Terms,
    ) -> Committed[T]:
        directory = document.open()
        with directory or contextlib.nullcontext():
            snapshot = self._read(document, directory)
            _require(document, snapshot, terms.expect)
            wanted = mutate(snapshot)
            rows = snapshot.rows if wanted is None else Rows.of(wanted, snapshot.rows)
            if wanted is None or (snapshot.damage is None and rows == snapshot.rows):
                return Committed(snapshot, changed=False)
            if directory is not None:
                return self._write(document, directory, snapshot, rows, terms)
        with files.open_directory(self.root, document.parts, create=True) as made:
            return self._write(document, made, snapshot, rows, terms)

    def _read(self, document: Document[T], directory: files.Directory | None) -> Snapshot[T]:
        try:
            return document.read_in(directory)
        except CorruptError as error:
            raise recovery.quarantine_both(document, error, self._found) from None

    def _write(
        self,
        document: Document[T],
        directory: files.Directory,
        snapshot: Snapshot[T],
        rows: Rows[T],
        terms: _Terms,
    ) -> Committed[T]:
        now = self.now()
        written = Snapshot(rows, _next_sequence(document, directory, snapshot, now), instant(now))
        pieces = document.encode(rows, written.sequence, written.updated_at)

        def settle() -> None:
            terms.hold.check()
            foreign_lock.refuse(document.path)
            if not document.is_current(directory, snapshot):
                raise _MovedError
            if terms.check is not None:
                terms.check()

        commit.sweep(directory, document.name)
        if not snapshot.exists:
            _refuse_twin(document, directory)
        recovery.before_write(document, directory, snapshot, self._found)
        stamp = commit.replace_file(
            directory,
            document.name,
            pieces,
            settle=settle,
            keep=document.backup_name if snapshot.exists else None,
            ancestors=None if snapshot.exists else (self.root, document.parts),
        )
        document.adopt(stamp, written)
        return Committed(written, changed=True, repaired=snapshot.damage)

    def _found(self, word: str, path: Path) -> None:
        self._notes.append(diagnostics.Note(instant(self.now()), word, str(path)))


def instant(moment: datetime) -> str:
    """Write a moment the way documents do: UTC, milliseconds, ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _require(document: Document[T], snapshot: Snapshot[T], expect: str | None) -> None:
    if expect is not None and expect != snapshot.fingerprint:
        raise ConflictError(
            phrase(
                "{path} is not the version this change was made for; {unchanged}",
                path=document.path,
                unchanged=UNCHANGED,
            ),
            reason="fingerprint",
            path=str(document.path),
        )


def _next_sequence(document: Document[T], directory: files.Directory, snapshot: Snapshot[T], now: datetime) -> int:
    sequence = snapshot.sequence + 1
    if snapshot.damage is not None:
        # The lost version may have had any later number; milliseconds since 1970 lie past all of them, and where the
        # clock went back its own head may still tell.
        torn = recovery.sequence_in(directory, document.name) or 0
        sequence = max(sequence, torn + 1, int(now.timestamp() * 1000))
    if sequence > jsontext.MAX_SEQUENCE:
        raise CapacityError(
            phrase("{path}: no sequence is left", path=document.path), path=str(document.path), limit="sequence"
        )
    return sequence


def _refuse_twin(document: Document[T], directory: files.Directory) -> None:
    """Refuse a new file whose name another one has but for case or accents' spelling: some disks take them for one."""
    wanted = _folded(document.name)
    for name in directory.names():
        if name != document.name and _folded(name) == wanted:
            raise RefusedError(
                phrase(
                    "{path} would share its name with {name} on some disks; choose another name",
                    path=document.path,
                    name=name,
                ),
                reason="name_collision",
                path=str(document.path),
            )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
