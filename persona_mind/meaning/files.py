"""The vectors of a profile on disk: a cache, bounded, that can be thrown away and made again.

A folder for each model, so that vectors of two models never meet; in it, one for facts and one for turns, with segments
that are written once. What backups and archives hold does not need it, and neither keeps it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_mind.meaning.segments import Record, decode, encode, said_of
from persona_store import files, syncfiles
from persona_store.locks import LockName, Rank
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from persona_mind.recall.pool import Kind
    from persona_store.transaction import Profile

FOLDER: Final = "vectors"
LIMITS: Final[dict[Kind, int]] = {"facts": 32_768, "turns": 98_304}
"""Vectors that are kept of each kind; the oldest make room."""
FULL: Final = 4_096
"""Vectors from which a segment is left as it is; smaller ones are taken into the next."""
_SUFFIX: Final = ".vec"
_MAX_BYTES: Final = 64 * 1024 * 1024
_LOCK: Final = LockName(Rank.STORE, FOLDER, FOLDER)


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """The vectors of one profile. Making this, and reading, create nothing on disk."""

    profile: Profile

    def load(self, model: str, kind: Kind) -> list[Record]:
        """Return what is kept of one kind for a model, the oldest first."""
        return [record for _, records in self._segments([FOLDER, _folder(model), kind]) for record in records]

    def add(self, model: str, kind: Kind, records: Callable[[], list[Record]]) -> None:
        """Keep vectors of a model, and drop those of any other.

        Args:
            model: The model's name.
            kind: What they are of.
            records: Called under the lock; returns what may still be kept.

        Raises:
            PersonaError: They could not be written; nothing is lost but the work.
        """
        root = self.profile.root
        parts = [FOLDER, _folder(model), kind]
        with self.profile.locks.hold(_LOCK), storage_errors(root / FOLDER):
            new = records()
            if not new:
                return
            with files.open_directory(root, parts, create=True) as directory:
                self._add(directory, list(self._segments(parts)), new, LIMITS[kind])
            for other in self._models():
                if other != parts[1]:
                    self._clear([FOLDER, other])

    def drop(self, texts: Iterable[str]) -> list[str]:
        """Remove the vectors of erased texts, of every model; return the files that changed, below the root.

        Those of turns go all together: a turn may hold the words among others, and a hash does not tell. They are made
        again from the transcripts that still stand.

        Raises:
            PersonaError: It could not be done; an erasure that failed here is finished later.
        """
        root = self.profile.root
        with storage_errors(root / FOLDER):
            if not (root / FOLDER).is_dir():
                return []
        gone = frozenset(map(said_of, texts))
        with self.profile.locks.hold(_LOCK), storage_errors(root / FOLDER):
            changed: list[str] = []
            for model in self._models():
                changed += self._clear([FOLDER, model, "turns"])
                changed += self._take_out([FOLDER, model, "facts"], gone)
            return changed

    def others(self, model: str) -> bool:
        """Return whether there are vectors of another model."""
        return any(name != _folder(model) for name in self._models())

    def _add(
        self, directory: files.Directory, held: list[tuple[str, list[Record]]], new: list[Record], limit: int
    ) -> None:
        _sweep(directory)
        number = 1 + max((_number(name) for name, _ in held), default=0)
        taken: list[str] = []
        while held and len(held[-1][1]) < FULL and len(held[-1][1]) <= 2 * len(new):
            name, records = held.pop()
            new = [*records, *new]
            taken.append(name)
        # Of two vectors of one text the later counts, and one is enough.
        new = list({record.key: record for record in new}.values())[-limit:]
        syncfiles.put(directory, f"{number:08d}{_SUFFIX}", encode(new))
        kept = len(new)
        for name, records in reversed(held):
            kept += len(records)
            if kept > limit or not records:
                taken.append(name)
        for name in taken:
            directory.unlink(name)
        directory.sync()

    def _take_out(self, parts: list[str], gone: frozenset[bytes]) -> list[str]:
        changed = []
        with self._open(parts) as directory:
            if directory is None:
                return []
            _sweep(directory)
            for name, records in list(self._segments(parts)):
                kept = [record for record in records if record.said not in gone]
                if len(kept) == len(records) != 0:
                    continue
                if kept:
                    syncfiles.put(directory, name, encode(kept))
                else:
                    directory.unlink(name)
                    directory.sync()
                changed.append("/".join([*parts, name]))
        return changed

    def _clear(self, parts: list[str]) -> list[str]:
        """Remove every segment in a folder and in those below it; empty folders stay."""
        changed = []
        with self._open(parts) as directory:
            if directory is None:
                return []
            for name in directory.names():
                if _SUFFIX in name:
                    directory.unlink(name)
                    changed.append("/".join([*parts, name]))
                elif len(parts) == len((FOLDER, "model")):
                    changed += self._clear([*parts, name])
            if changed:
                directory.sync()
        return changed

    def _segments(self, parts: list[str]) -> Iterator[tuple[str, list[Record]]]:
        with self._open(parts) as directory:
            if directory is None:
                return
            for name in directory.names():
                if not name.endswith(_SUFFIX) or name.startswith("."):
                    continue
                try:
                    yield name, list(decode(directory.read(name, _MAX_BYTES)[0]))
                except (FileNotFoundError, files.OversizeError, RefusedError):
                    continue  # another process took it into a later one, or it is none of ours

    def _models(self) -> list[str]:
        with self._open([FOLDER]) as directory:
            return directory.names() if directory else []

    def _open(self, parts: list[str]) -> _Opened:
        return _Opened(self.profile.root, parts)


class _Opened:
    """A folder of segments while it is looked into; None where it is not there."""

    def __init__(self, root: Path, parts: list[str]) -> None:
        self._root, self._parts = root, parts
        self._directory: files.Directory | None = None

    def __enter__(self) -> files.Directory | None:
        try:
            self._directory = files.open_directory(self._root, self._parts)
        except (FileNotFoundError, RefusedError):
            self._directory = None
        return self._directory

    def __exit__(self, *_: object) -> None:
        if self._directory is not None:
            self._directory.close()


def _sweep(directory: files.Directory) -> None:
    """Remove what interrupted writes left. Call under the lock."""
    for name in directory.names():
        if name.startswith(".") and _SUFFIX in name:
            directory.unlink(name)


def _folder(model: str) -> str:
    return hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _number(name: str) -> int:
    digits = name.removesuffix(_SUFFIX)
    return int(digits) if digits.isdigit() else 0
