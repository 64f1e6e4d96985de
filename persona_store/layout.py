"""Where things lie below a profile's root, and which lock family a document belongs to."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from persona_store.oserrors import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BACKUPS: Final = "backups"
TOMBSTONES: Final = "tombstones.json"
KEY: Final = "profile.key"
PREVIOUS: Final = ".bak"
"""What a document's previous version is called after its file."""

_OWN_LOCK: Final = frozenset({"backlog", "recorder"})
_QUARANTINED: Final = re.compile(r"(?P<document>.+)\.corrupt-\d+")


def family_of(relative: str) -> str:
    """Return the lock family of a document: the first directory's name if it has locks of its own, else memory."""
    first = relative.partition("/")[0]
    return first if first in _OWN_LOCK else "memory"


def files_below(root: Path) -> Iterator[str]:
    """Yield every regular file below a root as a path with forward slashes, sorted; links and all else are passed over.

    A missing root has none.

    Raises:
        StorageError: A directory or a name in it could not be looked at, so that files may be missing from the list.
    """

    def fail(error: OSError) -> None:
        # What has just gone holds nothing; what cannot be looked at may.
        if not isinstance(error, FileNotFoundError):
            raise storage_error(root / (error.filename or ""), error) from error

    for directory, names, found in os.walk(root, onerror=fail):
        names.sort()
        for name in sorted(found):
            path = os.path.join(directory, name)  # noqa: PTH118 - os.walk speaks strings
            try:
                status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute, for the fault shim
            except OSError as error:
                fail(error)
                continue
            if stat.S_ISREG(status.st_mode):
                yield os.path.relpath(path, root).replace(os.sep, "/")


def documents_below(root: Path) -> Iterator[str]:
    """Yield every live document of a profile once; backups and quarantine are not among them.

    One whose file is gone counts as long as its previous version is there, since it is read from that: what only lists
    files would miss what everybody is shown.
    """
    known: set[str] = set()
    for relative in files_below(root):
        document = relative.removesuffix(PREVIOUS)
        first = document.partition("/")[0]
        hidden = any(part.startswith(".") for part in document.split("/"))
        if document.endswith(".json") and first != BACKUPS and not hidden and document not in known:
            known.add(document)
            yield document


def quarantine_below(root: Path) -> Iterator[str]:
    """Yield the copies of damaged files that were put aside."""
    for relative in files_below(root):
        if _QUARANTINED.fullmatch(relative):
            yield relative


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as text that can always be printed; bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
