"""The vectors of a profile on disk: a cache, bounded, that can be thrown away and made again.

A folder for each model, so that vectors of two models never meet; in it, one for facts and one for turns, with segments
that are written once. What backups and archives hold does not need it, and neither keeps it.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_mind.meaning.segments import Record, decode, encode, split
from persona_store import files, syncfiles
from persona_store.locks import LockName, Rank
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from persona_mind.recall.pool import Kind
    from persona_store.transaction import Profile

FOLDER: Final = "vectors"
LIMITS: Final[dict[Kind, int]] = {"facts": 32_768, "turns": 98_304}
"""Vectors that are kept of each kind; the oldest make room."""
FULL: Final = 4_096
"""Vectors from which a segment is left as it is; smaller ones are taken into the next."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a segment; more vectors take several."""
_SUFFIX: Final = ".vec"
_DIGITS: Final = 15
"""Digits of a segment's number, at most: a name with more is none of ours."""
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
                    for each in LIMITS:
                        self._clear([FOLDER, other, each])

    def drop(self, gone: Collection[bytes]) -> list[str]:
        """Remove the vectors of erased texts, of every model; return the files that changed, below the root.

        Args:
            gone: What ``said_of`` makes of each text.

        Those of turns go all together: a turn may hold the words among others, and a hash does not tell. They are made
        again from the transcripts that still stand.

        Raises:
            PersonaError: It could not be done; an erasure that failed here is finished later.
        """
        root = self.profile.root
        with storage_errors(root / FOLDER):
            if not (root / FOLDER).is_dir():
                return []
        with self.profile.locks.hold(_LOCK), storage_errors(root / FOLDER):
            changed: list[str] = []
            for model in self._models():
                changed += self._clear([FOLDER, model, "turns"])
                changed += self._take_out([FOLDER, model, "facts"], gone)
            return changed

    def others(self, model: str) -> bool:
        """Return whether there are vectors of another model."""
        others = [name for name in self._models() if name != _folder(model)]
        return any(self._holds([FOLDER, other, kind]) for other in others for kind in LIMITS)

    def _holds(self, parts: list[str]) -> bool:
        with self._open(parts) as directory:
            return directory is not None and any(_is_segment(directory, name) for name in directory.names())

    def _add(
        self, directory: files.Directory, held: list[tuple[str, list[Record]]], new: list[Record], limit: int
    ) -> None:
        _sweep(directory)
        number = 1 + max(map(_number, directory.names()), default=0)
        full = len(new) + sum(len(records) for _, records in held) > limit
        taken: list[str] = []
        while held and (full or (len(held[-1][1]) < FULL and len(held[-1][1]) <= 2 * len(new))):
            name, records = held.pop()
            new = [*records, *new]
            taken.append(name)
        taken += [name for name, records in held if not records]
        for at, part in enumerate(split(_latest(new, limit, full=full), MAX_BYTES)):
            syncfiles.put(directory, f"{number + at:08d}{_SUFFIX}", encode(part))
        for name in taken:
            directory.unlink(name)
        directory.sync()

    def _take_out(self, parts: list[str], gone: Collection[bytes]) -> list[str]:
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
        """Remove every segment in a folder, and what interrupted writes left; the folder stays."""
        with self._open(parts) as directory:
            if directory is None:
                return []
            changed = [name for name in directory.names() if _SUFFIX in name and _remove(directory, name)]
            if changed:
                directory.sync()
        return ["/".join([*parts, name]) for name in changed]

    def _segments(self, parts: list[str]) -> Iterator[tuple[str, list[Record]]]:
        with self._open(parts) as directory:
            if directory is None:
                return
            for name in directory.names():
                if not name.endswith(_SUFFIX) or name.startswith("."):
                    continue
                try:
                    data, _ = directory.read(name, MAX_BYTES)
                except files.OversizeError:
                    data = b""  # as one that is damaged: whatever it holds is made again, and it gives way
                except (FileNotFoundError, RefusedError):
                    continue  # another process took it into a later one, or it is none of ours
                yield name, list(decode(data))

    def _models(self) -> list[str]:
        with self._open([FOLDER]) as directory:
            return directory.names() if directory else []

    @contextmanager
    def _open(self, parts: list[str]) -> Iterator[files.Directory | None]:
        """Look into a folder of segments; None where it is not there, or no folder."""
        try:
            directory = files.open_directory(self.profile.root, parts)
        except (FileNotFoundError, RefusedError):
            yield None
            return
        with directory:
            yield directory


def _latest(records: list[Record], limit: int, *, full: bool) -> list[Record]:
    """Return the records that stay: one of each text, the later that was read, and where it is full the latest said."""
    width = len(records[-1].vector)
    kept = list({record.key: record for record in records if len(record.vector) == width}.values())
    if not full:
        return kept
    # Since everything is written anew for it, there is room for some more afterwards.
    return sorted(kept, key=lambda record: record.at)[-(limit - limit // 8) :]


def _sweep(directory: files.Directory) -> None:
    """Remove what interrupted writes left. Call under the lock."""
    for name in directory.names():
        if name.startswith(".") and _SUFFIX in name:
            _remove(directory, name)


def _remove(directory: files.Directory, name: str) -> bool:
    """Remove a file or a link; a folder that has a segment's name is none of ours, and holds no vectors."""
    path = directory.path / name
    if path.is_dir() and not path.is_symlink():
        return False
    directory.unlink(name)
    return True


def _is_segment(directory: files.Directory, name: str) -> bool:
    try:
        return name.endswith(_SUFFIX) and not name.startswith(".") and directory.stamp(name) is not None
    except RefusedError:
        return False  # a link or a folder


def _folder(model: str) -> str:
    return hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _number(name: str) -> int:
    digits = name.removesuffix(_SUFFIX)
    return int(digits) if len(digits) <= _DIGITS and digits.isascii() and digits.isdecimal() else 0
