"""Rows and snapshots: what a document holds, as values that never change."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from persona_store import jsontext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from persona_store.jsontext import JsonValue
    from persona_store.pages import Rows

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ModelT = TypeVar("ModelT", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Row(Generic[T_co]):
    """One entry: its exact bytes, and its value when this release can read it."""

    raw: bytes
    value: T_co | None = field(compare=False)


class Damage(NamedTuple):
    """Why a live file could not be used, so that the previous version was read: the newest change may be gone."""

    reason: str


def joined(rows: Sequence[Row[object]]) -> bytes:
    """Return rows as they stand in a document, as they are; what a page is asked for."""
    return jsontext.join_rows([row.raw for row in rows])


@dataclass(frozen=True)
class Snapshot(Generic[T_co]):
    """One version of a document.

    ``sequence`` grows with every change and never goes back; 0 means that nothing was ever written.
    ``exists`` is false when there is no usable live file. ``damage`` is then set if something was wrong with it, and
    the rows are what the previous version held.
    """

    rows: Rows[T_co]
    sequence: int
    updated_at: str
    exists: bool = True
    damage: Damage | None = None
    source: bytes | None = field(default=None, repr=False)

    @cached_property
    def data(self) -> bytes:
        """The exact bytes of the file; none when there is no usable one."""
        if self.source is not None or not self.exists:
            return self.source or b""
        return b"".join(pieces(self.rows, self.sequence, self.updated_at))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the exact bytes of the file, in hex; of no bytes when there is no file.

        A plan of consolidation names by it the version that it was made for.
        """
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def values(self) -> tuple[T_co, ...]:
        """The values of all rows that could be read, in file order."""
        return tuple(row.value for row in self.rows if row.value is not None)

    @property
    def invalid(self) -> int:
        """How many rows this release could not read; they are kept as they are."""
        return len(self.rows) - len(self.values)


def pieces(rows: Rows[T], sequence: int, updated_at: str) -> list[bytes]:
    """Return the bytes of a document, in order; those of a page are made once."""
    head, between, tail = jsontext.frame(updated_at, sequence, empty=not rows)
    found = [head]
    for page in rows.pages:
        found += (page.made(joined), between)
    found[-1 if rows else 1 :] = [tail]
    return found


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


class RawCodec:
    """Rows as plain objects, for work that concerns every document alike."""

    def decode(self, raw: bytes) -> dict[str, JsonValue] | None:
        """Return the object, or None when the row is something else."""
        try:
            value = jsontext.decode_row(raw)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def fields(self, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the object itself."""
        return value

    def known(self) -> frozenset[str]:
        """No field is known, so every one is kept."""
        return frozenset()
