"""Which old files have come in, so that an unchanged one is not read again and what was forgotten since stays so."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from persona_mind.migration.layouts import FOLDERS
from persona_store import files
from persona_store.jsonfile import JsonFile
from persona_store.jsontext import MAX_BYTES, MAX_ENTRIES
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from persona_mind.migration.layouts import Source
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile

FILE: Final = ".legacy-import-v1.json"
"""Its name and form are the original's, which may go on with it; the hash is ours, and it passes over that."""

Stamp = dict[str, str]
Place = tuple[str, ...]
"""Which file went into which document, told from the roots on: the agent directory may have been moved since."""

_CONTENTS: Final = "sha256"
_STATUS: Final = ("size", "mtimeNs", "ctimeNs", "dev", "ino")


class Manifest:
    """The manifest of one profile. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._file = JsonFile(profile.root / FILE, profile.root)

    def known(self) -> dict[Place, list[Stamp]]:
        """Return the stamps of what has come in, by their places; the original may have noted one under each root."""
        entries = self._file.read().values.get("entries")
        found: dict[Place, list[Stamp]] = {}
        for row in entries if isinstance(entries, list) else []:
            place = place_of(row)
            if place:
                found.setdefault(place, []).append(row)  # type: ignore[arg-type]
        return found

    def note(self, stamps: Iterable[Stamp]) -> None:
        """Write down what has come in; that is so whatever became of the session meanwhile, so nobody is asked."""
        new = list(stamps)
        renewed = set(filter(None, map(place_of, new)))

        def mutate(values: dict[str, Any]) -> dict[str, Any]:
            entries = values.get("entries")
            rows = entries if isinstance(entries, list) else []
            kept = [row for row in rows if place_of(row) not in renewed]
            listed = sorted([*kept, *new], key=_order)[-MAX_ENTRIES:]
            sequence = values.get("sequence")
            return {
                "version": 1,
                "updatedAt": instant(self._profile.now()),
                "sequence": (sequence if isinstance(sequence, int) else 0) + 1,
                "entries": listed,
            }

        if new:
            self._file.update(mutate)


def stamp_of(source: Source, destination: str) -> Stamp | None:
    """Return what the disk tells of one version of a file; None where no regular file is there.

    Raises:
        OSError: The disk would not say what is there.
    """
    try:
        status = os.stat(source.path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    path, place = os.path.abspath(source.path), os.path.abspath(destination)  # noqa: PTH100 - as the original does
    data = f"{path}\0{place}".encode("utf-8", "surrogateescape")
    return {
        "id": hashlib.sha256(data).hexdigest()[:24],
        "source": path,
        "destination": place,
        "kind": source.kind,
        "size": str(status.st_size),
        "mtimeNs": str(status.st_mtime_ns),
        "ctimeNs": str(status.st_ctime_ns),
        "dev": str(status.st_dev),
        "ino": str(status.st_ino),
    }


def with_contents(source: Source, stamp: Stamp) -> Stamp:
    """Return a stamp with the hash of what the file holds; as it is, where that is more than a document may hold.

    Raises:
        OSError, RefusedError: It cannot be read.
    """
    *parts, name = source.relative.split("/")
    try:
        with files.open_directory(source.root, parts) as directory:
            data, _ = directory.read(name, MAX_BYTES)
    except files.OversizeError:
        return stamp
    return {**stamp, _CONTENTS: hashlib.sha256(data).hexdigest()}


def came_in(source: Source, stamp: Stamp, noted: Iterable[Stamp]) -> bool:
    """Return whether this version of a file has come in, which only its bytes tell once anything else differs.

    A further name of it, a move or a copy of the whole directory changes when and where it lies, and no word. The
    original notes no hash; one of its stamps counts as long as size and time agree.

    Raises:
        OSError, RefusedError: It cannot be read.
    """
    contents: str | None = None
    for row in noted:
        if all(row.get(name) == stamp[name] for name in _STATUS):
            return True
        if row.get("size") != stamp["size"]:
            continue
        if _CONTENTS not in row:
            if row.get("mtimeNs") == stamp["mtimeNs"]:
                return True
            continue
        contents = contents or with_contents(source, stamp).get(_CONTENTS, "")
        if row[_CONTENTS] == contents:
            return True
    return False


def place_of(row: JsonValue | Mapping[str, str]) -> Place:
    """Return the place that a stamp is of; an empty one for what is no stamp."""
    if not isinstance(row, dict):
        return ()
    kind, source, destination = (row.get(name) for name in ("kind", "source", "destination"))
    if kind not in FOLDERS or not isinstance(source, str) or not isinstance(destination, str):
        return ()
    depth = FOLDERS[kind].count("/") + 2
    return *PurePath(source).parts[-depth - 1 :], *PurePath(destination).parts[-depth:]


def _order(row: JsonValue) -> str:
    return str(row.get("source", "")) if isinstance(row, dict) else ""
