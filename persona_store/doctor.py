"""Looking a profile over: what is wrong, in words that hold no memory's text, and the few things to do about it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from persona_hooks.errors import CorruptError, PersonaError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import cloud, diagnostics, files, foreign_lock, holders, jsontext, recovery, syncfiles
from persona_store.document import Document
from persona_store.layout import documents_below, files_below, quarantine_below, shown
from persona_store.locks import LOCKS, LockName, Rank
from persona_store.oserrors import storage_errors
from persona_store.rows import RawCodec
from persona_store.tombstones import Tombstones
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_store.transaction import Profile

Weight = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing found.

    ``word`` is stable for programs; ``advice`` says what to do; ``path`` is relative to the root where it can be.
    """

    word: str
    weight: Weight
    path: str
    advice: str


def examine(profile: Profile) -> list[Finding]:
    """Look a profile over. Reads only; nothing is created, locked or repaired."""
    root = profile.root
    if not os.path.isdir(root):  # noqa: PTH112 - by attribute, like the engine's own effects
        return []
    with storage_errors(root):
        findings = [
            *_modes(root),
            *_documents(profile),
            *_leftovers(root),
            *_holders(root),
            *_cloud(root),
            *_erasures(profile),
            *_history(root),
        ]
    return [replace(found, path=shown(found.path), advice=_printable(found.advice)) for found in findings]


def _printable(advice: str) -> str:
    try:
        advice.encode()
    except UnicodeEncodeError:
        return shown(advice)  # it names a file whose name is no text
    return advice


def _modes(root: Path) -> Iterator[Finding]:
    for directory, _, names in os.walk(root):
        for path in (root / directory, *(root / directory / name for name in names)):
            status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute
            if stat.S_ISLNK(status.st_mode):
                yield Finding(
                    "link", "error", _short(root, path), phrase("a link is never followed here; put the file itself")
                )
            elif stat.S_IMODE(status.st_mode) & 0o077:
                yield Finding("readable_by_others", "warning", _short(root, path), f"chmod go= {path}")


def _documents(profile: Profile) -> Iterator[Finding]:
    for relative in documents_below(profile.root):
        document = Document(profile.root, relative, RawCodec())
        try:
            snapshot = document.read()
        except UnsupportedVersionError:
            yield Finding(
                "newer_version", "warning", relative, phrase("a newer release wrote it; upgrade to change it")
            )
        except CorruptError:
            yield Finding(
                "corrupt", "error", relative, phrase("neither it nor its .bak can be read; restore a backup, or reset")
            )
        except PersonaError as error:
            yield Finding(error.reason, "error", relative, error.message)
        else:
            if snapshot.damage is not None:
                advice = phrase("served from its .bak; the next change repairs it, the last change may be lost")
                yield Finding("damaged", "error", relative, advice)
            if snapshot.invalid:
                yield Finding(
                    "unreadable_rows",
                    "warning",
                    relative,
                    phrase("{number} rows are kept, not used", number=snapshot.invalid),
                )
            holder = foreign_lock.holder_of(document.path)
            if holder is not None:
                yield Finding(
                    "original_release",
                    "warning",
                    relative,
                    phrase("held by {holder}; use one release at a time", holder=holder),
                )


def _leftovers(root: Path) -> Iterator[Finding]:
    for relative in quarantine_below(root):
        yield Finding(
            "quarantined", "note", relative, phrase("a damaged version kept aside; remove it when nothing is missed")
        )
    for relative in files_below(root):
        if ".malformed." in relative and relative.startswith(LOCKS):
            yield Finding("malformed_lock", "note", relative, phrase("left by a power loss; remove it"))


def _holders(root: Path) -> Iterator[Finding]:
    me = holders.this_process()
    for relative in files_below(root):
        if not relative.startswith(f"{LOCKS}/") or ".malformed." in relative:
            continue
        verdict, holder = holders.judge(_head(root, relative), me, held_here=False)
        if verdict == "foreign":
            yield Finding(
                "foreign_lock",
                "error",
                relative,
                phrase("held by {holder}; if that is gone, free the lock", holder=holder),
            )


def _head(root: Path, relative: str) -> bytes:
    *parts, name = relative.split("/")
    with files.open_directory(root, parts) as directory:
        return directory.read_head(name, holders.MAX_READ)


def _cloud(root: Path) -> Iterator[Finding]:
    service = cloud.service_of(root)
    if service is not None:
        advice = phrase(
            "{service} seems to synchronise this; two machines at once make conflict copies", service=service
        )
        yield Finding("cloud_folder", "warning", str(root), advice)
    for copy in cloud.conflict_copies(root):
        yield Finding(
            "conflict_copy", "warning", copy.relative, phrase("merge it into {document}", document=copy.document)
        )


def _erasures(profile: Profile) -> Iterator[Finding]:
    tombstones = Tombstones(profile)
    try:
        if tombstones.unswept():
            yield Finding(
                "erase_unfinished",
                "error",
                "",
                phrase("{number} erasures stopped early; erase again", number=tombstones.unswept()),
            )
        tombstones.stands("")
    except PersonaError as error:
        yield Finding(error.reason, "error", tombstones.document.relative, error.message)


def _history(root: Path) -> Iterator[Finding]:
    for note in diagnostics.history(root)[-20:]:
        yield Finding(f"history_{note.word}", "note", note.path, phrase("put right at {at}", at=note.at))


def _short(root: Path, path: Path) -> str:
    return os.path.relpath(path, root)


def reset(profile: Profile, relative: str) -> list[str]:
    """Give up an unusable document: keep it and its previous version in quarantine, and let it begin empty.

    Returns:
        The names the two are kept under.

    Raises:
        CorruptError: Quarantine is full.
    """
    document = Document(profile.root, relative, RawCodec())
    rank = Rank.TRANSACTION if document.family == "memory" else Rank.STORE
    lock = LockName(rank, document.family, "memory" if rank is Rank.TRANSACTION else relative)
    now = profile.now()
    # Milliseconds lie past every sequence the lost versions may have had.
    empty = jsontext.join(instant(now), int(now.timestamp() * 1000), [])
    with (
        profile.locks.hold(lock),
        storage_errors(document.path),
        files.open_directory(profile.root, document.parts) as directory,
    ):
        kept = [recovery.quarantine(directory, name) for name in (document.name, document.backup_name)]
        directory.unlink(document.backup_name)
        syncfiles.put(directory, document.name, empty)
    return [name for name in kept if name is not None]
