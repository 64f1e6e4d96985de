"""Backups: whole copies of a profile's documents that know what was erased.

A backup is a directory of plain files with a manifest of their hashes. It appears under its name only when it is
complete and on the disk. The seven newest daily ones are kept inside the profile, where erasing sweeps them; one
taken elsewhere is filtered by the tombstones when it comes back.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persona_hooks.errors import CorruptError, RefusedError, UncertainError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import files, jsontext, syncfiles
from persona_store.document import Document
from persona_store.layout import BACKUPS, KEY, documents_below
from persona_store.locks import DEFAULT_TIMEOUT
from persona_store.oserrors import partly, storage_errors
from persona_store.rows import RawCodec, Row
from persona_store.tombstones import Tombstones
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Snapshot
    from persona_store.transaction import Profile

KEPT: Final = 7
MANIFEST: Final = "manifest.json"
_DAILY: Final = re.compile(r"daily-\d{4}-\d\d-\d\d")
_REPLACED: Final = re.compile(r"before-restore-\d{8}T\d{9}Z")
_KEPT_REPLACED: Final = 3
_MAX_MANIFEST: Final = 4 * 1024 * 1024


class Part(Protocol):
    """Something beside documents that belongs into a backup, such as a database."""

    name: str

    def save(self, target: Path) -> None:
        """Write a consistent copy to a file that does not exist yet."""
        ...

    def load(self, source: Path) -> None:
        """Take a copy back, durably, leaving out what was erased since."""
        ...


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    version: int = Field(ge=1, le=1)
    made: str
    files: dict[str, str]


@dataclass(frozen=True)
class Restored:
    """What came back: documents changed, rows that stayed out since they were erased, documents left as they were."""

    documents: tuple[str, ...]
    withheld: int
    untouched: tuple[str, ...]


def backup(
    profile: Profile,
    target: Path,
    *,
    parts: Iterable[Part] = (),
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Path:
    """Copy a profile as it stands at one moment.

    Args:
        profile: What is copied, under its memory transaction.
        target: The directory to make; must not exist.
        parts: Databases and the like, saved below ``parts/``.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for the transaction.

    Returns:
        ``target``, complete and durable.

    Raises:
        RefusedError: Something of that name exists.
        StorageError: It could not be written; nothing of that name was left.
    """
    if os.path.lexists(target):
        raise RefusedError(
            phrase("{target} exists already; name another directory: `persona backup DIR`", target=target),
            reason="exists",
            path=os.fspath(target),
        )
    draft = target.with_name(f".{target.name}.tmp-{secrets.token_hex(16)}")
    with profile.transaction(check, timeout), storage_errors(target):
        _sweep_drafts(target)
        try:
            hashes = _copy_documents(profile.root, draft)
            for part in parts:
                _directory(draft / "parts")
                part.save(draft / "parts" / part.name)
                hashes[f"parts/{part.name}"] = _hash(draft / "parts" / part.name)
            manifest = _Manifest(version=1, made=instant(profile.now()), files=hashes)
            _write(draft / MANIFEST, f"{manifest.model_dump_json(indent=2)}\n".encode())
            syncfiles.sync_tree(draft)
            os.rename(draft, target)  # noqa: PTH104 - by attribute, for the fault shim
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        _confirm(target)
    return target


def _confirm(target: Path) -> None:
    try:
        syncfiles.sync_path(target.parent)
    except OSError as error:
        raise UncertainError(
            phrase("{target} was made, but the disk did not confirm it ({error})", target=target, error=error.strerror),
            path=os.fspath(target),
        ) from error


def _sweep_drafts(target: Path) -> None:
    """Remove what an interrupted backup to the same place left; under the transaction nobody else makes one."""
    shape = re.compile(rf"\.({re.escape(target.name)}|{_DAILY.pattern}|{_REPLACED.pattern})\.tmp-[0-9a-f]{{32}}")
    for name in os.listdir(target.parent):  # noqa: PTH208 - names
        if shape.fullmatch(name):
            shutil.rmtree(target.parent / name, ignore_errors=True)


def _copy_documents(root: Path, draft: Path) -> dict[str, str]:
    _directory(draft)
    hashes = {}
    for relative in [*documents_below(root), KEY]:
        *parts, name = relative.split("/")
        try:
            with files.open_directory(root, parts) as directory:
                data, _ = directory.read(name, jsontext.MAX_BYTES)
        except FileNotFoundError:
            continue
        _directory((draft / "documents").joinpath(*parts))
        _write(draft / "documents" / relative, data)
        hashes[f"documents/{relative}"] = hashlib.sha256(data).hexdigest()
    return hashes


def daily(profile: Profile, *, parts: Iterable[Part] = (), timeout: float = DEFAULT_TIMEOUT) -> Path | None:
    """Take today's backup unless there is one, and keep the seven newest.

    Args:
        profile: What is backed up.
        parts: As ``backup``.
        timeout: Seconds to wait for the transaction.

    Returns:
        The new backup, or None when today has one or there is nothing to keep yet.
    """
    name = f"daily-{profile.now().date().isoformat()}"
    shelf = profile.root / BACKUPS
    with storage_errors(shelf):
        return _daily(profile, shelf, name, parts, timeout)


def _daily(profile: Profile, shelf: Path, name: str, parts: Iterable[Part], timeout: float) -> Path | None:
    if os.path.lexists(shelf / name) or next(documents_below(profile.root), None) is None:
        return None
    files.open_directory(profile.root, [BACKUPS], create=True).close()
    made = backup(profile, shelf / name, parts=parts, timeout=timeout)
    for old in _older(profile.root):
        # The new one is safe by now; what cannot go today goes tomorrow.
        shutil.rmtree(shelf / old, ignore_errors=True)
    return made


def _older(root: Path) -> list[str]:
    try:
        return dailies(root)[:-KEPT]
    except OSError:
        return []


def replaced(profile: Profile, *, parts: Iterable[Part] = (), check: Callable[[], None] | None = None) -> Path | None:
    """Keep what a restoration is about to replace, in the profile; the three newest of these are kept.

    Returns:
        The backup, or None when there is nothing yet.

    Raises:
        StorageError, BusyError: As `backup`; then nothing should be restored.
    """
    shelf = profile.root / BACKUPS
    moment = re.sub(r"[-:.]", "", instant(profile.now()))
    with storage_errors(shelf):
        if next(documents_below(profile.root), None) is None:
            return None
        files.open_directory(profile.root, [BACKUPS], create=True).close()
        made = backup(profile, shelf / f"before-restore-{moment}", parts=parts, check=check)
        for old in [name for name in shelved(profile.root) if _REPLACED.fullmatch(name)][:-_KEPT_REPLACED]:
            shutil.rmtree(shelf / old, ignore_errors=True)
    return made


def shelved(root: Path) -> list[str]:
    """Return the names of all complete backups inside a profile, in order: what restorations replaced, then dailies."""
    try:
        names = sorted(os.listdir(root / BACKUPS))  # noqa: PTH208 - names
    except FileNotFoundError:
        return []
    return [name for name in names if _DAILY.fullmatch(name) or _REPLACED.fullmatch(name)]


def made(source: Path) -> str:
    """Return when a backup was made, as documents write moments.

    Raises:
        CorruptError: There is no backup there that can be read.
    """
    with storage_errors(source):
        return _manifest(source).made


def newer(profile: Profile, source: Path) -> list[str]:
    """Return the documents that changed after a backup that holds them was made: restoring would take that back."""
    moment, found = made(source), []
    for name in verify(source):
        relative = name.removeprefix("documents/")
        if not name.startswith("documents/") or relative in {KEY, Tombstones(profile).document.relative}:
            continue
        try:
            present = Document(profile.root, relative, RawCodec()).read()
        except (CorruptError, UnsupportedVersionError):
            continue
        if present.sequence and present.updated_at > moment:
            found.append(relative)
    return found


def differing(profile: Profile, source: Path, key_of: Callable[[dict[str, JsonValue]], str | None]) -> list[str]:
    """Return the documents that restoring a backup would change, as they are now. Reads only; arguments as `restore`.

    Raises:
        CorruptError: The backup is damaged, or what it would be compared with cannot be read.
    """
    tombstones, found = Tombstones(profile), []
    for name in sorted(verify(source)):
        relative = name.removeprefix("documents/")
        if not name.startswith("documents/") or relative == KEY:
            continue
        document, rows = _rows(profile, source, relative)
        if rows is None:
            continue
        own = relative == tombstones.document.relative
        put = _Put(rows, None if own else lambda rows: _allowed(rows, key_of, tombstones))
        try:
            present = document.read()
        except (CorruptError, UnsupportedVersionError):
            found.append(relative)
            continue
        if present.damage is not None or [row.raw for row in put(present)] != [row.raw for row in present.rows]:
            found.append(relative)
    return found


def dailies(root: Path) -> list[str]:
    """Return the names of the daily backups, oldest first."""
    try:
        return sorted(name for name in os.listdir(root / BACKUPS) if _DAILY.fullmatch(name))  # noqa: PTH208 - names
    except FileNotFoundError:
        return []


def verify(source: Path) -> Mapping[str, str]:
    """Check a backup against its manifest.

    Returns:
        The files it holds and their hashes.

    Raises:
        CorruptError: The manifest or a file is missing, damaged or not where a backup keeps it.
        NotFoundError: There is no backup there.
    """
    with storage_errors(source):
        manifest = _manifest(source)
        for relative, expected in manifest.files.items():
            parts = relative.split("/")
            if parts[0] not in {"documents", "parts"} or any(part in {"", ".", ".."} for part in parts):
                raise _damaged(source, MANIFEST)
            if not os.path.isfile(source / relative) or _hash(source / relative) != expected:  # noqa: PTH113 - as above
                raise _damaged(source, relative)
    return manifest.files


def _manifest(source: Path) -> _Manifest:
    try:
        with files.open_directory(source, []) as directory:
            data, _ = directory.read(MANIFEST, _MAX_MANIFEST)
        return _Manifest.model_validate_json(data)
    except (FileNotFoundError, NotADirectoryError, files.OversizeError, ValidationError):
        raise _damaged(source, MANIFEST) from None


def restore(
    profile: Profile,
    source: Path,
    key_of: Callable[[dict[str, JsonValue]], str | None],
    *,
    parts: Sequence[Part] = (),
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Restored:
    """Bring documents back as a backup holds them, without what was erased since.

    Every document goes back by a change of its own, so that its previous version stays beside it and its sequence
    goes on. Documents that the backup does not know are left as they are. Restoring again finishes an interrupted
    one.

    Args:
        profile: Where to.
        source: A directory made by `backup`.
        key_of: Returns the semantic key of a row, or None for rows that have none.
        parts: What to do with databases and the like.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for each lock.

    Raises:
        CorruptError: The backup is damaged; nothing was changed.
    """
    held = verify(source)
    changed, withheld = [], 0
    names = sorted(name.removeprefix("documents/") for name in held if name.startswith("documents/"))
    with partly(), storage_errors(profile.root):
        _bring_key(profile, source, names)
        tombstones = Tombstones(profile)
        coming = {name: _rows(profile, source, name) for name in names if name != KEY}
        for relative, (document, rows) in coming.items():
            if rows is None:
                continue
            own = relative == tombstones.document.relative
            put = _Put(rows, None if own else lambda rows: _allowed(rows, key_of, tombstones))
            if _change(profile, document, put, check, timeout):
                changed.append(relative)
            withheld += put.withheld
        for part in parts:
            if f"parts/{part.name}" in held:
                part.load(source / "parts" / part.name)
        back = {name for name, (_, rows) in coming.items() if rows is not None}
        untouched = [name for name in documents_below(profile.root) if name not in back]
    return Restored(tuple(changed), withheld, tuple(untouched))


def _bring_key(profile: Profile, source: Path, names: Sequence[str]) -> None:
    """Without the key the backup's own tombstones could not be read; a profile that has one keeps it."""
    if KEY in names and not os.path.lexists(profile.root / KEY):
        data = (source / "documents" / KEY).read_bytes()
        with storage_errors(profile.root / KEY), files.open_directory(profile.root, [], create=True) as directory:
            syncfiles.put(directory, KEY, data)


def _rows(
    profile: Profile, source: Path, relative: str
) -> tuple[Document[dict[str, JsonValue]], Sequence[Row[dict[str, JsonValue]]] | None]:
    document = Document(profile.root, relative, RawCodec())
    try:
        return document, document.parse((source / "documents" / relative).read_bytes()).rows
    except (jsontext.DamageError, UnsupportedVersionError):
        # It was damaged when the backup was taken: there is nothing to bring back.
        return document, None


def _allowed(
    rows: Iterable[Row[dict[str, JsonValue]]],
    key_of: Callable[[dict[str, JsonValue]], str | None],
    tombstones: Tombstones,
) -> tuple[Row[dict[str, JsonValue]], ...]:
    def erased(row: Row[dict[str, JsonValue]]) -> bool:
        key = key_of(row.value) if row.value is not None else None
        return key is not None and tombstones.stands(key)

    return tuple(row for row in rows if not erased(row))


@dataclass
class _Put:
    """The change that puts a document back.

    Attributes:
        rows: As the backup holds it.
        allowed: Leaves out what was erased, asked under the lock since an erasure may begin at any time; None for the
            tombstones themselves, which join those that stand: what was erased since the backup stays erased.
        withheld: How many rows stayed out.
    """

    rows: Sequence[Row[dict[str, JsonValue]]]
    allowed: Callable[[Sequence[Row[dict[str, JsonValue]]]], Sequence[Row[dict[str, JsonValue]]]] | None
    withheld: int = 0

    def __call__(self, snapshot: Snapshot[dict[str, JsonValue]]) -> Sequence[Row[dict[str, JsonValue]]]:
        """Return the rows of the next version; may be called again on a newer one."""
        if self.allowed is None:
            present = {row.raw for row in snapshot.rows}
            return (*snapshot.rows, *(row for row in self.rows if row.raw not in present))
        kept = self.allowed(self.rows)
        self.withheld = len(self.rows) - len(kept)
        return kept


def _change(
    profile: Profile,
    document: Document[dict[str, JsonValue]],
    put: _Put,
    check: Callable[[], None] | None,
    timeout: float,
) -> bool:
    if document.family != "memory":
        return profile.update(document, put, check=check, timeout=timeout).changed
    with profile.transaction(check, timeout) as transaction:
        return transaction.update(document, put).changed


def _damaged(source: Path, name: str) -> CorruptError:
    return CorruptError(
        phrase("{source}: {name} is missing or damaged; nothing was restored", source=source, name=name),
        reason="backup",
        path=os.fspath(source / name),
    )


def _directory(path: Path) -> None:
    if not os.path.isdir(path):  # noqa: PTH112 - by attribute, for the fault shim
        _directory(path.parent)
        os.mkdir(path, files.DIRECTORY_MODE)  # noqa: PTH102 - by attribute, for the fault shim


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.FILE_MODE)
    try:
        files.write_all(descriptor, data)
        files.sync_descriptor(descriptor)
    finally:
        files.close(descriptor)


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
