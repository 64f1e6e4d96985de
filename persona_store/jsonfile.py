"""A JSON object in a file of its own, such as the companion's settings, changed as durably as a document."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, CapacityError, ConflictError, CorruptError, InvalidError
from persona_hooks.speech import phrase
from persona_store import commit, files
from persona_store.jsontext import refuse_constant
from persona_store.locks import DEFAULT_TIMEOUT, LockName, Locks, Rank
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.locks import Hold

MAX_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class JsonSnapshot:
    """One version of the object; ``data`` is empty when there is no file."""

    values: dict[str, JsonValue]
    data: bytes


class JsonFile:
    """One JSON object in one file; keys nobody here knows are kept, in their order. Making one touches no disk.

    Args:
        path: The file; its directory is made, private, on the first write.
        locks: The directory whose ``.locks`` holds the lock; a profile's root.
    """

    def __init__(self, path: Path, locks: Path) -> None:
        self.path = path
        self._locks = Locks(locks)
        token = hashlib.sha256(str(path).encode()).hexdigest()[:12]
        self._lock = LockName(Rank.STORE, f"file:{path}", f"{path.name}-{token}")

    def read(self) -> JsonSnapshot:
        """Return the present version; empty when there is no file. Creates and locks nothing.

        Raises:
            CorruptError: It is no JSON object; it was left as it is.
            RefusedError: A link or something else than a file lies in its place.
            StorageError: The file system refused to read it.
        """
        with storage_errors(self.path):
            try:
                with files.open_directory(self.path.parent, []) as directory:
                    data, _ = directory.read(self.path.name, MAX_BYTES)
            except FileNotFoundError:
                return JsonSnapshot({}, b"")
            except files.OversizeError:
                raise self._corrupt("too_large") from None
        return JsonSnapshot(self._parse(data), data)

    def _parse(self, data: bytes) -> dict[str, JsonValue]:
        try:
            values: JsonValue = json.loads(data.decode("utf-8"), parse_constant=refuse_constant)
        except json.JSONDecodeError as error:
            raise self._corrupt("not_json", line=error.lineno, column=error.colno) from None
        except (ValueError, RecursionError):
            raise self._corrupt("not_json") from None
        if not isinstance(values, dict):
            raise self._corrupt("not_an_object")
        return values

    def _corrupt(self, reason: str, **place: int) -> CorruptError:
        what = phrase("{path} is no JSON object", path=self.path)
        if place:
            what = phrase(
                "{path} is no JSON object (line {line}, column {column})",
                path=self.path,
                line=place["line"],
                column=place["column"],
            )
        return CorruptError(
            phrase("{what}; it was left as it is, correct it by hand or put it aside", what=what),
            reason=reason,
            path=str(self.path),
            line=place.get("line"),
            column=place.get("column"),
        )

    def update(
        self,
        mutate: Callable[[dict[str, JsonValue]], dict[str, JsonValue] | None],
        *,
        check: Callable[[], None] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> JsonSnapshot:
        """Change the object durably, keeping the previous version as ``.bak``.

        Args:
            mutate: Given a fresh copy of the object, returns the next one (the same one, changed, will do), or
                None to leave it. An equal object writes nothing.
            check: Called before the lock and just before the rename; what it raises ends the change.
            timeout: Seconds to wait for the lock.

        Raises:
            ConflictError: Another program replaced the file meanwhile; nothing was changed.
            InvalidError: The object holds something JSON cannot carry.
            CapacityError: It would exceed 1 MiB.
            BusyError, CorruptError, RefusedError, StorageError, UncertainError: As for documents.
        """
        with self._locks.hold(self._lock, timeout, check) as hold, storage_errors(self.path):
            before = self.read()
            values = mutate(self._parse(before.data) if before.data else {})
            if values is None or values == before.values:
                return before
            data = self._encode(values, before.data)
            self._write(data, before, hold, check)
            return JsonSnapshot(self._parse(data), data)

    def _write(self, data: bytes, before: JsonSnapshot, hold: Hold, check: Callable[[], None] | None) -> None:
        def settle() -> None:
            hold.check()
            if self.read().data != before.data:
                raise ConflictError(
                    phrase("{path} was changed by another program; {unchanged}", path=self.path, unchanged=UNCHANGED),
                    path=str(self.path),
                )
            if check is not None:
                check()

        with files.open_directory(self.path.parent, [], create=True) as directory:
            commit.sweep(directory, self.path.name)
            commit.replace_file(
                directory,
                self.path.name,
                [data],
                settle=settle,
                keep=f"{self.path.name}.bak" if before.data else None,
                ancestors=None if before.data else (self.path.parent, []),
            )

    def _encode(self, values: dict[str, JsonValue], before: bytes) -> bytes:
        indent = re.search(rb"\{\r?\n([ \t]+)\"", before)
        try:
            text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent[1].decode() if indent else 2)
            data = f"{text}\n".encode()
        except (ValueError, RecursionError):
            raise InvalidError(
                phrase("{path}: a value that JSON cannot carry", path=self.path), field="values"
            ) from None
        if len(data) > MAX_BYTES:
            raise CapacityError(
                phrase("{path} would exceed {limit} bytes", path=self.path, limit=MAX_BYTES),
                path=str(self.path),
                limit=f"{MAX_BYTES} bytes",
            )
        return data
