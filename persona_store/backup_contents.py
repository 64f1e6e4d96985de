"""What a backup holds, checked against its manifest as it is read."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from persona_hooks.errors import CorruptError, InvalidError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import files, jsontext
from persona_store.copies import MANIFEST, MAX_SEARCHED
from persona_store.document import Document
from persona_store.layout import KEY, PREVIOUS
from persona_store.oserrors import storage_errors
from persona_store.rows import RawCodec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Snapshot

VERSION: Final = 1
"""The version of a backup that this release makes and reads."""
DOCUMENTS: Final = "documents"
"""The folder of a backup that holds the profile's files as they lay there."""
_MAX_MANIFEST: Final = 4 * 1024 * 1024

Fault = Literal["previous", "unreadable", "newer"]
"""What is amiss with a document in a backup: only its previous version can be read, or nothing, or not by us."""


class Held(NamedTuple):
    """A document as a backup holds it.

    Attributes:
        version: What it brings back; None where nothing can be read.
        fault: What is amiss; None where it is whole.
    """

    version: Snapshot[dict[str, JsonValue]] | None
    fault: Fault | None


class Contents(NamedTuple):
    """What a backup holds, checked against its manifest.

    Attributes:
        made: When; whatever was acknowledged before is in it.
        key: The profile's key; None where there was none.
        documents: Every document by its path.
        files: How many files it is.
    """

    made: str
    key: bytes | None
    documents: Mapping[str, Held]
    files: int

    @property
    def faults(self) -> dict[str, Fault]:
        """What is amiss with documents of it."""
        return {relative: held.fault for relative, held in self.documents.items() if held.fault is not None}


def has_copy(source: Path, relative: str) -> bool:
    """Whether a backup holds any byte of a document's own file."""
    path = source / DOCUMENTS / relative
    with storage_errors(path):
        return os.path.lexists(path) and os.path.getsize(path) > 0  # noqa: PTH202 - by attribute, as above


def made(source: Path) -> str:
    """Return when a backup was made, as documents write moments.

    Raises:
        CorruptError: There is no backup there that can be read.
    """
    return _manifest(source)[0]


def verify(source: Path) -> Mapping[str, str]:
    """Check a backup against its manifest.

    Returns:
        The files it holds and their hashes.

    Raises:
        CorruptError: The manifest or a file is missing, damaged or not where a backup keeps it.
        RefusedError: A link or another account's file lies in the place of one.
    """
    _, hashes = _manifest(source)
    for _ in _checked(source, hashes):
        pass
    return hashes


def contents(source: Path) -> Contents:
    """Return what a backup holds, each file checked as it is read.

    Raises:
        CorruptError: As `verify`.
    """
    moment, hashes = _manifest(source)
    found = {relative.removeprefix(f"{DOCUMENTS}/"): data for relative, data in _checked(source, hashes)}
    key = found.pop(KEY, None)
    names = dict.fromkeys(relative.removesuffix(PREVIOUS) for relative in found)
    return Contents(moment, key, {relative: _held(source, relative, found) for relative in names}, len(hashes))


def _held(source: Path, relative: str, found: Mapping[str, bytes]) -> Held:
    try:
        document = Document(source, relative, RawCodec())
    except InvalidError:
        # It lay in the profile under a name that no document may have.
        return Held(None, "unreadable")
    versions: tuple[tuple[str, Fault | None], ...] = ((relative, None), (f"{relative}{PREVIOUS}", "previous"))
    for name, fault in versions:
        data = found.get(name, b"")
        try:
            if len(data) <= jsontext.MAX_BYTES:
                return Held(document.parse(data), fault)
        except UnsupportedVersionError:
            return Held(None, "newer")
        except jsontext.DamageError:
            continue
    return Held(None, "unreadable")


def _manifest(source: Path) -> tuple[str, dict[str, str]]:
    """Return when a backup was made, and the hashes of its files."""
    with storage_errors(source):
        try:
            with files.open_directory(source, []) as directory:
                data, _ = directory.read(MANIFEST, _MAX_MANIFEST)
            fields = json.loads(data)
        except (FileNotFoundError, NotADirectoryError, files.OversizeError, ValueError, RecursionError):
            raise _damaged(source, MANIFEST) from None
    if not isinstance(fields, dict) or fields.keys() != {"version", "made", "files"} or fields["version"] != VERSION:
        raise _damaged(source, MANIFEST)
    moment, hashes = fields["made"], fields["files"]
    if not isinstance(moment, str) or not jsontext.is_date(moment) or not isinstance(hashes, dict):
        raise _damaged(source, MANIFEST)
    return moment, hashes


def _checked(source: Path, hashes: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a backup with its bytes, which are those of the manifest."""
    for relative, expected in hashes.items():
        first, *parts = relative.split("/")
        if first != DOCUMENTS or not parts or any(part in {"", ".", ".."} for part in parts):
            raise _damaged(source, MANIFEST)
        with storage_errors(source / relative):
            data = _copy_of(source, [first, *parts])
        if data is None or hashlib.sha256(data).hexdigest() != expected:
            raise _damaged(source, relative)
        yield relative, data


def _copy_of(source: Path, way: list[str]) -> bytes | None:
    """Return the bytes of a file in a backup; None where nothing that a backup keeps lies there."""
    *folders, name = way
    try:
        with files.open_directory(source, folders) as directory:
            return directory.read(name, MAX_SEARCHED)[0]
    except (FileNotFoundError, files.OversizeError):
        return None


def _damaged(source: Path, name: str) -> CorruptError:
    return CorruptError(
        phrase("{source}: {name} is missing or damaged; nothing was restored", source=source, name=name),
        reason="backup",
        path=os.fspath(source / name),
    )
