"""What happens to a file that cannot be trusted: it is kept aside under a new name, never overwritten."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, TypeVar

from persona_hooks.errors import UNCHANGED, CorruptError
from persona_hooks.speech import phrase
from persona_store import files, jsontext

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.document import Document, Snapshot

T = TypeVar("T")

_HEAD_BYTES: Final = 512
MAX_QUARANTINE: Final = 1000


def before_write(
    document: Document[T], directory: files.Directory, snapshot: Snapshot[T], report: Callable[[str, Path], None]
) -> None:
    """Put a damaged live file in quarantine, and refuse to write over one that is older than its own past.

    Call under the document's lock, before the next version takes the file's place.

    Raises:
        CorruptError: The previous version is newer than the live one; a person has to choose.
    """
    if snapshot.damage is not None:
        if snapshot.damage.reason != "missing":
            quarantine(directory, document.name)
        report(f"recovered_{snapshot.damage.reason}", document.path)
        return
    if not snapshot.exists or document.is_own(snapshot):
        return
    if is_older_than_previous(document, directory, snapshot):
        report("backup_newer", document.path)
        raise older(document)


def older(document: Document[T]) -> CorruptError:
    """Return the error that says that a document is older than its own past."""
    return CorruptError(
        phrase(
            "{path} is older than its own previous version; {unchanged}, run 'persona doctor'",
            path=document.path,
            unchanged=UNCHANGED,
        ),
        reason="backup_newer",
        path=str(document.path),
    )


def is_older_than_previous(document: Document[T], directory: files.Directory, snapshot: Snapshot[T]) -> bool:
    """Whether the live version comes before the one kept as its previous, as when somebody put an old file back."""
    kept = sequence_in(directory, document.backup_name)
    return snapshot.exists and kept is not None and kept > snapshot.sequence


def sequence_in(directory: files.Directory, name: str) -> int | None:
    """Return the sequence that the head of a file names, whatever became of the rest; None when it names none."""
    try:
        found = jsontext.peek_sequence(directory.read_head(name, _HEAD_BYTES))
    except FileNotFoundError:
        return None
    return found if found is None or found < jsontext.MAX_SEQUENCE else None


def quarantine(directory: files.Directory, name: str, *, stays: bool = False) -> str | None:
    """Keep a file's bytes under ``<name>.corrupt-N`` as well, once; the file itself stays where it is.

    Args:
        directory: The open directory of the file.
        name: The file's name in it.
        stays: Whether nothing takes the file's place afterwards, so that somebody may write into it.

    Returns:
        The name they are kept under, or None when there is nothing of that name.
    """
    live = directory.stamp(name)
    if live is None:
        return None
    for number in range(MAX_QUARANTINE):
        target = f"{name}.corrupt-{number}"
        held = directory.stamp(target)
        if held is None:
            _keep_aside(directory, name, target, copied=stays and live.size <= jsontext.MAX_BYTES)
            return target
        if held.same_file(live) or (held.size == live.size and directory.is_copy(name, target)):
            return target
    raise CorruptError(
        phrase(
            "{path} has {number} damaged copies already; run 'persona doctor'",
            path=directory.path / name,
            number=MAX_QUARANTINE,
        ),
        reason="quarantine_full",
        path=str(directory.path / name),
    )


def _keep_aside(directory: files.Directory, name: str, target: str, *, copied: bool) -> None:
    if copied:
        # Where the disk has no room for a copy, a second name is better than none.
        with contextlib.suppress(OSError):
            directory.copy(name, target)
            directory.sync()
            return
    if directory.link(name, target):
        # What came from elsewhere may be readable by others, and the kept name stays.
        directory.make_private(target)
    else:
        directory.copy(name, target)
    directory.sync()


def quarantine_both(document: Document[T], error: CorruptError, report: Callable[[str, Path], None]) -> CorruptError:
    """Keep copies of an unusable file and its unusable previous version; return the error to raise.

    Both stay in place, so that every later read and write is refused until a person has chosen.
    """
    with files.open_directory(document.root, document.parts) as directory:
        kept = [quarantine(directory, name, stays=True) for name in (document.name, document.backup_name)]
    report(f"corrupt_{error.reason}", document.path)
    return CorruptError(
        error.message, reason=error.reason, path=str(document.path), quarantined=[name for name in kept if name]
    )
