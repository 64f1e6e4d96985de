"""A document: one file of rows, read without locks and without creating anything.

Rows are bytes first. A row that this release understands also has a value; one it does not understand is kept as
it is. A snapshot never changes, and the next one shares every row that stayed the same.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from persona_hooks.errors import (
    UNCHANGED,
    CapacityError,
    CorruptError,
    InvalidError,
    PersonaError,
    RefusedError,
    UnsupportedVersionError,
)
from persona_hooks.speech import phrase
from persona_store import files, jsontext
from persona_store.jsontext import MAX_BYTES, MAX_ENTRIES, DamageError
from persona_store.layout import PREVIOUS, family_of
from persona_store.oserrors import storage_errors
from persona_store.pages import Rows
from persona_store.rows import Codec, Damage, ModelCodec, Row, Snapshot, pieces

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Codec", "Damage", "Document", "ModelCodec", "Row", "Rows", "Snapshot"]

T = TypeVar("T")

_START: Final = "1970-01-01T00:00:00.000Z"


class _Cached(NamedTuple, Generic[T]):
    stamp: files.Stamp
    settled: bool
    snapshot: Snapshot[T]
    own: bool = False


class Document(Generic[T]):
    """One file of rows below a profile's root. Get one from `Profile.document`; making it touches no disk.

    Reading is lock-free: writers replace the file in one step, so a reader sees one version or the next.
    """

    def __init__(self, root: Path, relative: str, codec: Codec[T]) -> None:
        *self.parts, self.name = check_relative(relative)
        self.root = root
        self.relative = relative
        self.path = root.joinpath(relative)
        """Where the file lies, for messages."""
        self.codec = codec
        self.family = family_of(relative)
        """Which locks it belongs to; its place decides."""
        self._cached: _Cached[T] | None = None
        self._forgotten = 0

    def forget(self) -> None:
        """Let go of the version kept in memory, and of one that is just being read."""
        self._forgotten += 1
        self._cached = None

    @property
    def backup_name(self) -> str:
        """The name of the previous version, beside the file."""
        return f"{self.name}{PREVIOUS}"

    def row(self, value: T) -> Row[T]:
        """Make a new row of a value."""
        return self._checked(jsontext.encode_row(self.codec.fields(value)))

    def revise(self, row: Row[T], value: T) -> Row[T]:
        """Give a row another value, keeping its unknown fields; an equal value gives back the same row."""
        if row.value == value:
            return row
        old = jsontext.decode_row(row.raw)
        new = self.codec.fields(value)
        known = self.codec.known()
        if isinstance(old, dict):
            kept = {key: new.get(key, held) for key, held in old.items() if key in new or key not in known}
            new = kept | {key: held for key, held in new.items() if key not in kept}
        return self._checked(jsontext.encode_row(new))

    def _checked(self, raw: bytes) -> Row[T]:
        value = self.codec.decode(raw)
        if value is None:
            raise InvalidError(
                phrase("a new row of {path} would not be readable again", path=self.path),
                field="row",
                path=str(self.path),
            )
        return Row(raw, value)

    def read(self) -> Snapshot[T]:
        """Return the current version, from memory when the file did not change. Creates and locks nothing.

        A missing file gives an empty snapshot. An unusable one is served from the previous version, with
        ``damage`` set; the next update puts it right.

        Raises:
            UnsupportedVersionError: A newer release wrote it; it is left untouched.
            CorruptError: Neither the file nor the previous version is usable; nothing was moved or removed.
            RefusedError: A link or something else than a file lies in its place.
            StorageError: The file system refused to read it.
        """
        with storage_errors(self.path):
            directory = self.open()
            if directory is None:
                return self.read_in(None)
            with directory:
                return self.read_in(directory)

    def open(self) -> files.Directory | None:
        """Open the directory of the file, or return None where there is none yet."""
        try:
            return files.open_directory(self.root, self.parts)
        except FileNotFoundError:
            return None

    def read_in(self, directory: files.Directory | None) -> Snapshot[T]:
        """Read through an open directory; otherwise as `read`."""
        if directory is None:
            return Snapshot(Rows(), 0, _START, exists=False)
        stamp = directory.stamp(self.name)
        if stamp is None:
            return self._previous(directory, "missing")
        forgotten, cached = self._forgotten, self._cached
        if cached is not None and cached.settled and cached.stamp == stamp:
            return cached.snapshot
        try:
            data, stamp = directory.read(self.name, MAX_BYTES)
            snapshot = self.parse(data, cached.snapshot if cached else None)
        except FileNotFoundError:
            reason = "missing"
        except files.OversizeError:
            reason = "too_large"
        except DamageError as damage:
            reason = damage.reason
        else:
            if forgotten == self._forgotten:
                self._cached = _Cached(stamp, not stamp.is_young(), snapshot)
            return snapshot
        return self._previous(directory, reason)

    def parse(self, data: bytes, known: Snapshot[T] | None = None) -> Snapshot[T]:
        """Make a snapshot of a file's bytes, sharing the rows of an earlier one.

        Raises:
            DamageError: The bytes are no document.
            UnsupportedVersionError: A newer release wrote them.
        """
        if known is not None and known.data == data:
            return known
        rows = {row.raw: row for row in known.rows if row.value is not None} if known else {}
        try:
            envelope = jsontext.split(data, rows)
        except UnsupportedVersionError as error:
            raise UnsupportedVersionError(
                phrase("{field}: {what}", field=self.path, what=error.message),
                reason=error.reason,
                path=str(self.path),
                found=error.details.get("found"),
            ) from None
        decode = self.codec.decode
        return Snapshot(
            Rows.of([rows.get(raw) or Row(raw, decode(raw)) for raw in envelope.rows], known.rows if known else None),
            envelope.sequence,
            envelope.updated_at,
            source=data,
        )

    def _previous(self, directory: files.Directory, reason: str) -> Snapshot[T]:
        try:
            data, _ = directory.read(self.backup_name, MAX_BYTES)
            previous = self.parse(data)
        except FileNotFoundError:
            if reason == "missing":
                return self.read_in(None)
            raise self.corrupt(reason) from None
        except (files.OversizeError, DamageError):
            raise self.corrupt(reason) from None
        damage = Damage(reason)
        return Snapshot(previous.rows, previous.sequence, previous.updated_at, exists=False, damage=damage)

    def corrupt(self, reason: str) -> CorruptError:
        """Return the error that says this document cannot be trusted."""
        return CorruptError(
            phrase(
                "{path} cannot be read, and neither can its previous version; {unchanged}, run 'persona doctor'",
                path=self.path,
                unchanged=UNCHANGED,
            ),
            reason=reason,
            path=str(self.path),
        )

    def is_current(self, directory: files.Directory, snapshot: Snapshot[T]) -> bool:
        """Whether the file is still, byte for byte, the version a snapshot was read from."""
        cached = self._cached
        if cached is not None and cached.snapshot is snapshot and cached.settled:
            return directory.stamp(self.name) == cached.stamp
        try:
            data, _ = directory.read(self.name, MAX_BYTES)
        except FileNotFoundError:
            return not snapshot.exists and (snapshot.damage is None or snapshot.damage.reason == "missing")
        except files.OversizeError:
            return snapshot.damage is not None
        return data == snapshot.data if snapshot.damage is None else self._is_damaged(data)

    def _is_damaged(self, data: bytes) -> bool:
        try:
            self.parse(data)
        except DamageError:
            return True
        return False

    def is_own(self, snapshot: Snapshot[T]) -> bool:
        """Whether this process wrote the version, and therefore knows what its previous one is."""
        return self._cached is not None and self._cached.own and self._cached.snapshot is snapshot

    def adopt(self, stamp: files.Stamp | None, snapshot: Snapshot[T]) -> None:
        """Remember the version this process has just written."""
        # The stamp carries a mark of our own, so it tells later edits apart at once.
        self._cached = _Cached(stamp, settled=True, snapshot=snapshot, own=True) if stamp else None

    def encode(self, rows: Rows[T], sequence: int, updated_at: str) -> list[bytes]:
        """Return the pieces of the next version's bytes; pages of rows that stayed the same are not made again.

        Raises:
            CapacityError: It would exceed 4 MiB or 10,000 entries.
        """
        if len(rows) > MAX_ENTRIES:
            raise self._full(phrase("{number} entries", number=MAX_ENTRIES), len(rows))
        encoded = pieces(rows, sequence, updated_at)
        size = sum(map(len, encoded))
        if size > MAX_BYTES:
            raise self._full(phrase("{number} bytes", number=MAX_BYTES), size)
        return encoded

    def _full(self, limit: str, size: int) -> CapacityError:
        return CapacityError(
            phrase("{path} would exceed {limit}; forget something first", path=self.path, limit=limit),
            path=str(self.path),
            limit=limit,
            size=size,
        )


def is_unusable(error: PersonaError) -> bool:
    """Whether an error says no more than that nothing here can read or change one document, or that it is none of ours.

    It is no reason to stop where all others are gone through. An owner's refusal is another matter.
    """
    if isinstance(error, RefusedError):
        return error.reason in {"not_regular", "foreign_account", "invalid"}
    return isinstance(error, CorruptError | UnsupportedVersionError)


def check_relative(relative: str) -> list[str]:
    """Return the names of a path below a root.

    Raises:
        InvalidError: It is absolute, climbs, or holds a name that no document may have.
    """
    parts = relative.split("/")
    if any(
        not part or part[0] == "." or "\0" in part or "\\" in part or len(os.fsencode(part)) > 180 for part in parts
    ):
        raise InvalidError(phrase("a document's path must stay below its profile"), field="relative")
    return parts
