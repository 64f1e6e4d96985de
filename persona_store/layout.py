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

RECORDER: Final = "recorder"
"""The lock family of what is noted about requests: no memory stands in it."""

_OWN_LOCK: Final = frozenset({"backlog", RECORDER})
_QUARANTINED: Final = re.compile(r"(?P<document>.+)\.corrupt-\d+")
_STRAY: Final = re.compile(r"(?P<document>.+?\.json).+(?<!\.json)\.bak")
_TEMPORARY: Final = re.compile(r"\.(?P<name>.+?)(\.bak)?\.(tmp|bak)-[0-9a-f]{32}")


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
    """Yield the copies of damaged files that were put aside, and what a merge kept of conflict copies."""
    for relative in files_below(root):
        if quarantined_from(relative) is not None:
            yield relative


def quarantined_from(relative: str) -> str | None:
    """Return the file that one in quarantine was put aside from, or None where it is none."""
    match = _QUARANTINED.fullmatch(relative)
    return None if match is None else match["document"]


def stray_previous_below(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the copies of previous versions, each with its document: a service that synchronises folders leaves them.

    Nothing reads them. Those in backups are not among them.
    """
    for relative in files_below(root):
        match = _STRAY.fullmatch(relative)
        if match is not None and not relative.startswith(f"{BACKUPS}/"):
            yield relative, match["document"]


def unfinished(name: str) -> str | None:
    """Return the name of the file that a temporary one was to be or to keep; None for every other name."""
    match = _TEMPORARY.fullmatch(name)
    return None if match is None else match["name"]


def links_below(root: Path) -> Iterator[str]:
    """Yield the links to something below a root, which nothing here follows; that of the backups wherever it leads."""
    for directory, folders, names in os.walk(root):
        for name in sorted((*folders, *names)):
            path = os.path.join(directory, name)  # noqa: PTH118 - os.walk speaks strings
            relative = os.path.relpath(path, root).replace(os.sep, "/")
            if os.path.islink(path) and (relative == BACKUPS or os.path.exists(path)):  # noqa: PTH110, PTH114
                yield relative


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as text that can always be printed; bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
