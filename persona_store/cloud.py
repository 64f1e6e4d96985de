"""Profiles in folders that a service synchronises, and the conflict copies such services leave.

Two machines that write one synced profile do not see each other's locks. The service keeps both versions by giving
one another name; its rows are taken in by semantic key, so that nothing is lost, doubled or brought back.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import StorageError, UnsupportedVersionError
from persona_store import files, jsontext
from persona_store.document import Document
from persona_store.layout import PREVIOUS, TOMBSTONES, documents_below
from persona_store.locks import DEFAULT_TIMEOUT
from persona_store.oserrors import partly, storage_errors
from persona_store.rows import RawCodec, Row
from persona_store.tombstones import Tombstones, as_swept, stone_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Snapshot
    from persona_store.transaction import Profile

_FOLDERS: Final = (
    ("Dropbox", re.compile(r"dropbox( \(.*\))?", re.IGNORECASE)),
    ("OneDrive", re.compile(r"onedrive( ?- ?.*)?", re.IGNORECASE)),
    ("iCloud Drive", re.compile(r"mobile documents|icloud ?drive|com~apple~clouddocs", re.IGNORECASE)),
    ("Google Drive", re.compile(r"google ?drive.*|my drive", re.IGNORECASE)),
    ("a cloud provider", re.compile(r"cloudstorage", re.IGNORECASE)),
    ("Nextcloud", re.compile(r"nextcloud|owncloud", re.IGNORECASE)),
    ("Syncthing", re.compile(r"syncthing", re.IGNORECASE)),
)
_MARKS: Final = ((".stfolder", "Syncthing"), (".dropbox", "Dropbox"), (".owncloudsync.log", "Nextcloud"))

_COPY: Final = re.compile(
    r"(?P<stem>.+?)("
    r" \([^()]*conflict(ed)?[^()]*\)"  # Dropbox, Nextcloud, Box
    r"|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}"  # Syncthing
    r"|(?P<device>(?-i:-(DESKTOP|LAPTOP)-[A-Z0-9]{7}(-\d+)?))"  # OneDrive
    r"| \(\d{1,3}\)"  # Google Drive
    r"| \d{1,3}"  # iCloud Drive
    r")\.json",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ConflictCopy:
    """A second version of a document, left by a service."""

    relative: str
    document: str


@dataclass(frozen=True)
class Merged:
    """What taking a copy in came to: rows added, rows that stayed out since they were erased."""

    added: int
    withheld: int


def service_of(root: Path) -> str | None:
    """Name the service whose folder a profile lies in, or None. A guess by names and marks; touches nothing."""
    resolved = root.resolve()
    for part in resolved.parts:
        for name, pattern in _FOLDERS:
            if pattern.fullmatch(part):
                return name
    for directory in (resolved, *resolved.parents):
        for mark, name in _MARKS:
            if os.path.lexists(directory / mark):
                return name
    return None


def conflict_copies(root: Path) -> Iterator[ConflictCopy]:
    """Yield the conflict copies in a profile.

    Raises:
        StorageError: A directory could not be looked into.
    """
    with storage_errors(root):
        # What was merged and left only a previous version is no copy any more.
        standing = set(documents_below(root))
        names = [name for name in sorted(standing) if os.path.lexists(root / name)]
    for relative in names:
        directory, _, name = relative.rpartition("/")
        match = _COPY.fullmatch(name)
        if match is not None:
            document = f"{directory}/{match['stem']}.json".removeprefix("/")
            # A persona may be called it-DESKTOP-SUPPORT: such a file is a copy only beside what it is a copy of.
            if match["device"] is None or document in standing:
                yield ConflictCopy(relative, document)


def merge(
    profile: Profile,
    copy: ConflictCopy,
    key_of: Callable[[dict[str, JsonValue]], str | None],
    *,
    stone_of: Callable[[dict[str, JsonValue]], str | None] | None = None,
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Merged | None:
    """Take the rows of a conflict copy into its document, and remove the copy once they are safe.

    Args:
        profile: Whose copy it is.
        copy: One of `conflict_copies`.
        key_of: Returns the semantic key of a row; a row without one is told by its bytes.
        stone_of: Returns the key that a row's tombstone would have; ``key_of`` without it.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for the lock.

    Returns:
        What came of it, or None when the copy is no document; it is then left where it is.
    """
    *parts, name = copy.relative.split("/")
    document = Document(profile.root, copy.document, RawCodec())
    with storage_errors(profile.root / copy.relative), files.open_directory(profile.root, parts) as directory:
        try:
            found = _read(directory, name, document)
        except FileNotFoundError:
            found = None
        if found is None:
            return None
        rows, stamp = found
        merged = _take_in(profile, document, rows, (key_of, stone_of or key_of), (check, timeout))
        with partly(), storage_errors(profile.root / copy.relative):
            if directory.stamp(name) == stamp:
                # An erasure that cleaned the copy left it one, which must not stand there for a document afterwards.
                for gone in (f"{name}{PREVIOUS}", name):
                    directory.unlink(gone)
                    directory.sync()
    return merged


def is_readable(root: Path, copy: ConflictCopy) -> bool:
    """Whether `merge` can read a copy; one that has gone leaves nothing unread.

    Raises:
        StorageError: The disk failed.
    """
    *parts, name = copy.relative.split("/")
    try:
        with storage_errors(root / copy.relative), files.open_directory(root, parts) as directory:
            return _read(directory, name, Document(root, copy.document, RawCodec())) is not None
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return True
        raise


def _read(
    directory: files.Directory, name: str, document: Document[dict[str, JsonValue]]
) -> tuple[Sequence[Row[dict[str, JsonValue]]], files.Stamp] | None:
    try:
        data, stamp = directory.read(name, jsontext.MAX_BYTES)
        return document.parse(data).rows, stamp
    except (jsontext.DamageError, files.OversizeError, UnsupportedVersionError, PermissionError):
        return None  # the last one stands for a link and for another account's file, too


def _take_in(
    profile: Profile,
    document: Document[dict[str, JsonValue]],
    rows: Sequence[Row[dict[str, JsonValue]]],
    keys: tuple[Callable[[dict[str, JsonValue]], str | None], Callable[[dict[str, JsonValue]], str | None]],
    terms: tuple[Callable[[], None] | None, float],
) -> Merged:
    tombstones = Tombstones(profile)
    key_of, stone_of = keys
    added = withheld = 0
    if document.relative == TOMBSTONES:
        # One that stands knows best whether all was swept, and one that came with the copy waits for nothing here.
        rows = tuple(map(as_swept, rows))

    def key(row: Row[dict[str, JsonValue]]) -> str | bytes:
        if document.relative == TOMBSTONES:
            return stone_id(row)
        return (key_of(row.value) if row.value is not None else None) or row.raw

    def erased(row: Row[dict[str, JsonValue]]) -> bool:
        stone = stone_of(row.value) if row.value is not None else None
        return stone is not None and tombstones.stands(stone)

    def mutate(snapshot: Snapshot[dict[str, JsonValue]]) -> list[Row[dict[str, JsonValue]]]:
        nonlocal added, withheld
        present = {key(row) for row in snapshot.rows}
        fresh = [row for row in rows if key(row) not in present]
        allowed = [row for row in fresh if not erased(row)]
        added, withheld = len(allowed), len(fresh) - len(allowed)
        return [*snapshot.rows, *allowed]

    check, timeout = terms
    if document.family != "memory":
        profile.update(document, mutate, check=check, timeout=timeout)
    else:
        with profile.transaction(check, timeout) as transaction:
            transaction.update(document, mutate)
    return Merged(added, withheld)
