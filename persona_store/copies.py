"""The backups inside a profile, swept of a text so that each is still a sound one: its manifest follows.

The manifest is written first. What an interruption leaves is finished by the same sweep, since a file that is cleaned
again comes out the same.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from persona_hooks.errors import RefusedError, UnsupportedVersionError
from persona_store import files, jsontext, syncfiles
from persona_store.layout import BACKUPS, files_below, unfinished
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST: Final = "manifest.json"
"""The file of a backup that names all others and their hashes."""
MAX_SEARCHED: Final = 256 * 1024 * 1024
"""Bytes of a file that are searched."""


class Holding(Protocol):
    """Tells what is to go."""

    def in_bytes(self, data: bytes) -> bool:
        """Whether a file holds it."""
        ...

    def in_row(self, raw: bytes) -> bool:
        """Whether a row of a document holds it."""
        ...


def sweep_backups(root: Path, holding: Holding) -> list[str]:
    """Take rows and files out of every backup in a profile; durable when this returns.

    Returns:
        The files that changed or went, below the root.
    """
    backups: dict[str, list[str]] = {}
    for relative in files_below(root):
        parts = relative.split("/")
        if parts[0] == BACKUPS and len(parts) > 2:
            backups.setdefault(parts[1], []).append("/".join(parts[2:]))
    return [
        f"{BACKUPS}/{name}/{relative}"
        for name, relatives in backups.items()
        for relative in _sweep_one(root / BACKUPS / name, relatives, holding)
    ]


def _sweep_one(backup: Path, relatives: list[str], holding: Holding) -> list[str]:
    changes: dict[str, bytes | None] = {}
    for relative in relatives:
        if relative == MANIFEST:
            # Names and hashes: without it there is no backup. The names of what goes are taken out of it below.
            continue
        data = _read(backup, relative)
        if data is None:
            continue
        kept = kept_of(data, holding)
        if kept != data:
            changes[relative] = kept
    _note(backup, changes)
    for relative, kept in changes.items():
        *parts, name = relative.split("/")
        with storage_errors(backup / relative), files.open_directory(backup, parts) as directory:
            if kept is None:
                directory.unlink(name)
                directory.sync()
            else:
                # What was left behind is gone, and to look for it again takes the longer the more files there are.
                syncfiles.replace(directory, name, kept)
    return list(changes)


def kept_of(data: bytes, holding: Holding) -> bytes | None:
    """Return what may stay of a file: all of it, a document without some rows, or nothing."""
    try:
        envelope = jsontext.split(data)
    except (jsontext.DamageError, UnsupportedVersionError):
        return None if holding.in_bytes(data) else data
    rows = [raw for raw in envelope.rows if not holding.in_row(raw)]
    return data if len(rows) == len(envelope.rows) else jsontext.join(envelope.updated_at, envelope.sequence, rows)


def _note(backup: Path, changes: dict[str, bytes | None]) -> None:
    """Let the manifest say what the files will be; a directory without one is no backup, and needs none."""
    if not changes:
        return
    with storage_errors(backup / MANIFEST), files.open_directory(backup, []) as directory:
        try:
            manifest = json.loads(directory.read_head(MANIFEST, MAX_SEARCHED))
            listed = manifest["files"]
            for relative in changes.keys() & listed.keys():
                kept = changes[relative]
                if kept is None:
                    del listed[relative]
                else:
                    listed[relative] = hashlib.sha256(kept).hexdigest()
        except (FileNotFoundError, RefusedError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        syncfiles.put(directory, MANIFEST, f"{json.dumps(manifest, indent=2)}\n".encode())


def _read(backup: Path, relative: str) -> bytes | None:
    """Return a file's bytes, or None where it is what an interrupted sweep left, which goes here.

    None as well where it went by itself, since somebody may remove a backup meanwhile, and where it is not ours.
    """
    *parts, name = relative.split("/")
    with (
        storage_errors(backup / relative),
        suppress(FileNotFoundError, RefusedError),
        files.open_directory(backup, parts) as directory,
    ):
        if unfinished(name) is None:
            return directory.read_head(name, MAX_SEARCHED)
        directory.unlink(name)
    return None
