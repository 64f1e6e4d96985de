"""A document: one file of rows, read without locks and without creating anything.

Rows are bytes first. A row that this release understands also has a value; one it does not understand is kept as
it is. A snapshot never changes, and the next one shares every row that stayed the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from persona_hooks.errors import CapacityError, CorruptError, InvalidError, UnsupportedVersionError
from persona_store import files, jsontext
from persona_store.jsontext import MAX_BYTES, MAX_ENTRIES, DamageError
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from persona_store.jsontext import JsonValue

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ModelT = TypeVar("ModelT", bound="BaseModel")

START: Final = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Row(Generic[T_co]):
    """One entry: its exact bytes, and its value when this release can read it."""

    raw: bytes
    value: T_co | None


@dataclass(frozen=True, slots=True)
class Damage:
    """Why a live file could not be used, and what a snapshot was read from instead.

    ``lost_last_change`` is true when the previous version had to be served, so that the newest change may be gone.
    """

    reason: str
    lost_last_change: bool


@dataclass(frozen=True)
class Snapshot(Generic[T_co]):
    """One version of a document.

    ``sequence`` grows with every change and never goes back; 0 means that nothing was ever written.
    ``damage`` is set when the live file was unusable and this is what the previous version held.
    """

    rows: Sequence[Row[T_co]]
    sequence: int
    updated_at: str
    data: bytes = field(repr=False)
    damage: Damage | None = None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the exact bytes of the file, in hex; of no bytes when there is no file."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def values(self) -> tuple[T_co, ...]:
        """The values of all rows that could be read, in file order."""
        return tuple(row.value for row in self.rows if row.value is not None)

    @property
    def invalid(self) -> int:
        """How many rows this release could not read; they are kept as they are."""
        return len(self.rows) - len(self.values)


EMPTY: Final[Snapshot[object]] = Snapshot((), 0, START, b"")


class Codec(Protocol[T]):
    """How values of one kind stand in a row."""

    def decode(self, raw: bytes) -> T | None:
        """Return the value of a row, or None when it is not valid; never raises for bad rows."""
        ...

    def fields(self, value: T) -> dict[str, JsonValue]:
        """Return the value as a JSON object, absent fields left out."""
        ...

    def known(self) -> frozenset[str]:
        """Return the names of all fields this release knows, present or absent."""
        ...


class ModelCodec(Generic[ModelT]):
    """A codec for a frozen pydantic model; fields stand under their aliases, and None means absent."""

    def __init__(self, model: type[ModelT]) -> None:
        if not model.model_config.get("frozen"):
            raise TypeError(f"{model.__name__} must be frozen: its values are shared between snapshots")
        self._model = model

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelCodec) and other._model is self._model

    def __hash__(self) -> int:
        return hash(self._model)

    def decode(self, raw: bytes) -> ModelT | None:
        """Return the validated value, or None."""
        try:
            return self._model.model_validate_json(raw)
        except ValueError:
            return None

    def fields(self, value: ModelT) -> dict[str, JsonValue]:
        """Dump by alias, without fields that are None."""
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)

    def known(self) -> frozenset[str]:
        """Return the aliases of all fields of the model."""
        fields = self._model.model_fields.items()
        return frozenset(spec.serialization_alias or spec.alias or name for name, spec in fields)


@dataclass(frozen=True, slots=True)
class _Cached(Generic[T]):
    stamp: files.Stamp
    settled: bool
    snapshot: Snapshot[T]


class Document(Generic[T]):
    """One file of rows below a profile's root. Get one from `Profile.document`; making it touches no disk.

    Reading is lock-free: writers replace the file in one step, so a reader sees one version or the next.
    """

    def __init__(self, root: Path, relative: str, codec: Codec[T], family: str = "memory") -> None:
        *self.parts, self.name = check_relative(relative)
        self.root = root
        self.relative = relative
        self.codec = codec
        self.family = family
        self._cached: _Cached[T] | None = None

    @property
    def path(self) -> Path:
        """Where the file lies, for messages."""
        return self.root.joinpath(*self.parts, self.name)

    @property
    def backup_name(self) -> str:
        """The name of the previous version, beside the file."""
        return f"{self.name}.bak"

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
                f"a new row of {self.path} would not be readable again", field="row", path=str(self.path)
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
            try:
                directory = files.open_directory(self.root, self.parts)
            except FileNotFoundError:
                return self._empty()
            with directory:
                return self.read_in(directory)

    def read_in(self, directory: files.Directory) -> Snapshot[T]:
        """Read through an open directory; otherwise as `read`."""
        stamp = directory.stamp(self.name)
        cached = self._cached
        if cached is not None and cached.settled and cached.stamp == stamp:
            return cached.snapshot
        try:
            data, stamp = directory.read(self.name, MAX_BYTES)
            snapshot = self.parse(data, cached.snapshot if cached else None)
        except FileNotFoundError:
            return self._previous(directory, "missing")
        except files.OversizeError:
            return self._previous(directory, "too_large")
        except DamageError as damage:
            return self._previous(directory, damage.reason)
        self._cached = _Cached(stamp, not stamp.is_young(), snapshot)
        return snapshot

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
                f"{self.path}: {error.message}",
                reason=error.reason,
                path=str(self.path),
                found=error.details.get("found"),
            ) from None
        decode = self.codec.decode
        return Snapshot(
            [rows.get(raw) or Row(raw, decode(raw)) for raw in envelope.rows],
            envelope.sequence,
            envelope.updated_at,
            data,
        )

    def _empty(self) -> Snapshot[T]:
        return Snapshot((), 0, START, b"")

    def _previous(self, directory: files.Directory, reason: str) -> Snapshot[T]:
        try:
            data, _ = directory.read(self.backup_name, MAX_BYTES)
            previous = self.parse(data)
        except FileNotFoundError:
            if reason == "missing":
                return self._empty()
            raise self.corrupt(reason) from None
        except (files.OversizeError, DamageError):
            raise self.corrupt(reason) from None
        damage = Damage(reason, lost_last_change=True)
        return Snapshot(previous.rows, previous.sequence, previous.updated_at, b"", damage)

    def corrupt(self, reason: str) -> CorruptError:
        """Return the error that says this document cannot be trusted."""
        return CorruptError(
            f"{self.path} cannot be read, and neither can its previous version; nothing was changed, "
            "run 'persona doctor'",
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
            return not snapshot.data and (snapshot.damage is None or snapshot.damage.reason == "missing")
        except files.OversizeError:
            return snapshot.damage is not None
        return data == snapshot.data if snapshot.damage is None else self._is_damaged(data)

    def _is_damaged(self, data: bytes) -> bool:
        try:
            self.parse(data)
        except DamageError:
            return True
        return False

    def adopt(self, stamp: files.Stamp, snapshot: Snapshot[T]) -> None:
        """Remember the version this process has just written."""
        self._cached = _Cached(stamp, not stamp.is_young(), snapshot)

    def encode(self, rows: Sequence[Row[T]], sequence: int, updated_at: str) -> bytes:
        """Return the bytes of the next version.

        Raises:
            CapacityError: It would exceed 4 MiB or 10,000 entries.
        """
        if len(rows) > MAX_ENTRIES:
            raise self._full(f"{MAX_ENTRIES} entries", len(rows))
        data = jsontext.join(updated_at, sequence, [row.raw for row in rows])
        if len(data) > MAX_BYTES:
            raise self._full(f"{MAX_BYTES} bytes", len(data))
        return data

    def _full(self, limit: str, size: int) -> CapacityError:
        return CapacityError(
            f"{self.path} would exceed {limit}; forget something first", path=str(self.path), limit=limit, size=size
        )


def check_relative(relative: str) -> list[str]:
    """Return the names of a path below a root.

    Raises:
        InvalidError: It is absolute, climbs, or holds a name that no document may have.
    """
    parts = relative.split("/")
    if any(not part or part[0] == "." or "\0" in part or "\\" in part or len(part.encode()) > 180 for part in parts):
        raise InvalidError("a document's path must stay below its profile", field="relative")
    return parts
