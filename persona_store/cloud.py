"""Profiles in folders that a service synchronises, and the conflict copies such services leave.

Two machines that write one synced profile do not see each other's locks. The service keeps both versions by giving
one another name; its rows are taken in by semantic key, so that nothing is lost, doubled or brought back.
"""

from __future__ import annotations

import itertools
import os
import re
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from persona_hooks.errors import RefusedError, StorageError, UnsupportedVersionError
from persona_store import files, jsontext, syncfiles
from persona_store.document import Document
from persona_store.layout import KEY, PREVIOUS, TOMBSTONES, documents_below, quarantined_from
from persona_store.locks import DEFAULT_TIMEOUT
from persona_store.oserrors import partly, storage_errors
from persona_store.rows import RawCodec
from persona_store.tombstones import KEY_BYTES, Tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Row, Snapshot
    from persona_store.transaction import Profile

    Fields = dict[str, JsonValue]
    KeyOf = Callable[[Fields], str | None]
    Settle = Callable[[str, Row[Fields], Row[Fields]], Row[Fields] | None]
    Terms = tuple[Callable[[], None] | None, float]

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
    r")(?P<ending>\.json|\.key)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ConflictCopy:
    """A second version of a document, left by a service."""

    relative: str
    document: str


@dataclass(frozen=True)
class Merged:
    """What taking a copy in came to.

    Attributes:
        added: How many rows came in.
        withheld: How many stayed out since they were erased, and live ones that a copy's tombstones took away.
        renewed: How many rows that stand gave way to what both versions come to.
        kept: The file, below the profile's root, with the rows that no rule settles; None where there are none.
    """

    added: int
    withheld: int
    renewed: int = 0
    kept: str | None = None


class Gate(Protocol):
    """Judges a live row by tombstones that come with a copy, whether or not they stand yet."""

    def among(self, row: Fields, ids: Collection[str]) -> frozenset[str]:
        """Return which of these tombstones refuse a row."""
        ...

    def said_after(self, row: Fields, moment: str) -> bool:
        """Whether its person said it again after a moment, as far as that can be told."""
        ...


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


def conflict_copies(root: Path, *, left: bool = False) -> Iterator[ConflictCopy]:
    """Yield the conflict copies in a profile.

    Args:
        root: The profile's.
        left: Also those of which only a previous version is left: an erasure cleaned them, and somebody removed them.

    Raises:
        StorageError: A directory could not be looked into.
    """
    with storage_errors(root):
        standing = set(documents_below(root))
        names = [name for name in sorted(standing) if left or os.path.lexists(root / name)]
    for relative in names:
        document, device = _copied_from(relative)
        # A persona may be called it-DESKTOP-SUPPORT: such a file is a copy only beside what it is a copy of.
        if document is not None and (not device or document in standing):
            yield ConflictCopy(relative, document)


def _copied_from(relative: str) -> tuple[str | None, bool]:
    """Return the file that the name of another one says it is a copy of, and whether a persona may be called so."""
    directory, _, name = relative.rpartition("/")
    match = _COPY.fullmatch(name)
    if match is None:
        return None, False
    return f"{directory}/{match['stem']}{match['ending']}".removeprefix("/"), match["device"] is not None


def kept_of(relative: str, document: str) -> bool:
    """Whether a file holds rows of a conflict copy of a document that a merge kept aside."""
    copy = quarantined_from(relative)
    return copy is not None and _copied_from(copy)[0] == document


def foreign_keys(root: Path) -> list[str]:
    """Return the conflict copies of the profile's key that hold another key, or none that can be read.

    Two machines that erased for the first time before they met have made a key each. Then nobody can tell which of
    them a tombstone was made by, and so what was erased.

    Raises:
        StorageError: The directory could not be looked into.
    """
    # A profile that is not there, or goes meanwhile, has none.
    with storage_errors(root), suppress(FileNotFoundError), files.open_directory(root, []) as directory:
        own = _key_in(directory, KEY)
        names = [name for name in directory.names() if _copied_from(name)[0] == KEY]
        return [name for name in names if own is None or _key_in(directory, name) != own]
    return []


def _key_in(directory: files.Directory, name: str) -> bytes | None:
    try:
        key, _ = directory.read(name, KEY_BYTES)
    except (FileNotFoundError, files.OversizeError, RefusedError):
        return None
    return key if len(key) == KEY_BYTES else None


def merge(
    profile: Profile,
    copy: ConflictCopy,
    key_of: KeyOf,
    *,
    stone_of: KeyOf | None = None,
    settle: Settle | None = None,
    gate: Gate | None = None,
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Merged | None:
    """Take the rows of a conflict copy into its document, and remove the copy once they are safe.

    Where a row stands in another version here, both come to one by ``settle``. Rows of which that cannot tell are kept
    aside as ``<copy>.corrupt-N``: what was acknowledged on either machine is in the document or there.

    Args:
        profile: Whose copy it is.
        copy: One of `conflict_copies`; those of the tombstones come first, since they keep rows of others out.
        key_of: Returns the semantic key of a row; a row without one is told by its bytes.
        stone_of: Returns the key that a row's tombstone would have; ``key_of`` without it.
        settle: Given a document, the row that stands and the one that comes, returns the row that both come to, or
            None where no rule tells.
        gate: Judges live rows by the tombstones that a copy of them brings; without it they stay. See
            `joining.join`.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for each lock.

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
        coming, stamp = found
        if document.relative == TOMBSTONES:
            # Only who merges needs it, and everybody who looks for copies loads this.
            from persona_store import joining  # noqa: PLC0415

            merged = joining.join(profile, coming.rows, gate, check, timeout)
        else:
            taking = _Taking(document, coming.rows, key_of, stone_of or key_of, settle, Tombstones(profile))
            _take_in(profile, taking, (check, timeout))
            with partly() if taking.added or taking.renewed else nullcontext():
                kept = _keep(profile, taking, copy, coming, (check, timeout))
            merged = Merged(taking.added, taking.withheld, taking.renewed, kept)
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
    directory: files.Directory, name: str, document: Document[Fields]
) -> tuple[Snapshot[Fields], files.Stamp] | None:
    try:
        data, stamp = directory.read(name, jsontext.MAX_BYTES)
        return document.parse(data), stamp
    except (jsontext.DamageError, files.OversizeError, UnsupportedVersionError, PermissionError):
        return None  # the last one stands for a link and for another account's file, too


@dataclass
class _Taking:
    """The change that takes the rows of a copy in.

    Attributes:
        unsettled: Rows that stand here in another version, and no rule says what both come to.
    """

    document: Document[Fields]
    coming: Sequence[Row[Fields]]
    key_of: KeyOf
    stone_of: KeyOf
    settle: Settle | None
    tombstones: Tombstones
    added: int = 0
    withheld: int = 0
    renewed: int = 0
    unsettled: list[Row[Fields]] = field(default_factory=list)

    def __call__(self, snapshot: Snapshot[Fields]) -> Sequence[Row[Fields]]:
        """Return the rows of the next version; may be called again on a newer one."""
        self.added = self.withheld = self.renewed = 0
        self.unsettled = []
        rows, places = list(snapshot.rows), dict[str | bytes, int]()
        for place, row in enumerate(rows):
            places.setdefault(self._key(row), place)
        known = {row.raw for row in rows}
        for row in self.coming:
            key = self._key(row)
            at = places.get(key)
            if row.raw in known or (at is not None and row.value is not None and rows[at].value == row.value):
                continue
            if self.erased(row):
                self.withheld += 1
            elif at is None:
                places[key] = len(rows)
                rows.append(row)
                self.added += 1
            else:
                self._join(rows, at, row)
        return rows

    def _join(self, rows: list[Row[Fields]], at: int, new: Row[Fields]) -> None:
        one = self.settle(self.document.relative, rows[at], new) if self.settle is not None else None
        if one is None:
            self.unsettled.append(new)
        elif one.raw != rows[at].raw:
            rows[at] = one
            self.renewed += 1

    def _key(self, row: Row[Fields]) -> str | bytes:
        return (self.key_of(row.value) if row.value is not None else None) or row.raw

    def erased(self, row: Row[Fields]) -> bool:
        """Whether a tombstone refuses a row."""
        stone = self.stone_of(row.value) if row.value is not None else None
        return stone is not None and self.tombstones.stands(stone)


def _take_in(profile: Profile, taking: _Taking, terms: Terms) -> None:
    check, timeout = terms
    if taking.document.family != "memory":
        profile.update(taking.document, taking, check=check, timeout=timeout)
    else:
        with profile.transaction(check, timeout) as transaction:
            transaction.update(taking.document, taking)


def _keep(profile: Profile, taking: _Taking, copy: ConflictCopy, whole: Snapshot[Fields], terms: Terms) -> str | None:
    """Keep what no rule settles beside the document; return where.

    Under the transaction an erasure that has begun has its tombstones, and one that has not will find the file.
    """
    if not taking.unsettled:
        return None
    *parts, name = copy.relative.split("/")
    with profile.transaction(*terms), files.open_directory(profile.root, parts) as directory:
        rows = [row.raw for row in taking.unsettled if not taking.erased(row)]
        taking.withheld += len(taking.unsettled) - len(rows)
        if not rows:
            return None
        kept = _put_aside(directory, name, jsontext.join(whole.updated_at, whole.sequence, rows))
    return "/".join((*parts, kept))


def _put_aside(directory: files.Directory, name: str, data: bytes) -> str:
    """Keep bytes once, under the first name of quarantine that nothing else has."""
    names = (f"{name}.corrupt-{number}" for number in itertools.count())
    kept = next(one for one in names if directory.stamp(one) is None or directory.read_head(one, len(data) + 1) == data)
    if directory.stamp(kept) is None:
        syncfiles.put(directory, kept, data)
    return kept
