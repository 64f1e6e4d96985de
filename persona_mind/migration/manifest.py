"""Which old files have come in, so that an unchanged one is not read again and what was forgotten since stays so."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, Any, Final

from persona_store.jsonfile import JsonFile
from persona_store.jsontext import MAX_ENTRIES
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.migration.layouts import Source
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile

FILE: Final = ".legacy-import-v1.json"
"""Its name and form are the original's, which may go on with it."""

Stamp = dict[str, str]


class Manifest:
    """The manifest of one profile. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._file = JsonFile(profile.root / FILE, profile.root)

    def known(self) -> dict[str, Stamp]:
        """Return the stamps of what has come in, by their ids."""
        entries = self._file.read().values.get("entries")
        rows = entries if isinstance(entries, list) else []
        return {str(row["id"]): row for row in rows if isinstance(row, dict) and "id" in row}  # type: ignore[misc]

    def note(self, stamps: Iterable[Stamp]) -> None:
        """Write down what has come in; that is so whatever became of the session meanwhile, so nobody is asked."""
        new = {stamp["id"]: stamp for stamp in stamps}

        def mutate(values: dict[str, Any]) -> dict[str, Any]:
            entries = values.get("entries")
            rows = entries if isinstance(entries, list) else []
            kept = [row for row in rows if not (isinstance(row, dict) and row.get("id") in new)]
            listed = sorted([*kept, *new.values()], key=_order)[-MAX_ENTRIES:]
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
    """Return what tells one version of a file from another; None where no regular file is there.

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


def _order(row: JsonValue) -> str:
    return str(row.get("source", "")) if isinstance(row, dict) else ""
