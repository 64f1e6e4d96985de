"""Looking a profile over: what is wrong, in words that hold no memory's text, and the few things to do about it."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from persona_hooks.errors import CorruptError, PersonaError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import cloud, diagnostics, files, foreign_lock, holders, native_lock, recovery
from persona_store.document import Document
from persona_store.layout import documents_below, files_below, quarantine_below, shown, stray_previous_below
from persona_store.locks import LOCKS
from persona_store.oserrors import storage_errors
from persona_store.rows import RawCodec
from persona_store.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Snapshot
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
    parts = (
        _modes(root),
        _documents(profile),
        _leftovers(root),
        _holders(root),
        _cloud(root),
        _erasures(profile),
        _history(root),
    )
    # Several parts come upon the same folder that does not open.
    findings = dict.fromkeys(found for part in parts for found in _through(root, part))
    return [replace(found, path=shown(found.path), advice=_printable(found.advice)) for found in findings]


def _through(root: Path, part: Iterator[Finding], relative: str = "") -> Iterator[Finding]:
    """Yield what one part of the examination finds, and at last what ended it, so that it ends no other part."""
    try:
        with storage_errors(root / relative):
            yield from part
    except PersonaError as error:
        yield _refused(root, error)


def _refused(root: Path, error: PersonaError) -> Finding:
    return Finding(error.reason, "error", _short(root, root / str(error.details.get("path", ""))), error.message)


def _printable(advice: str) -> str:
    try:
        advice.encode()
    except UnicodeEncodeError:
        return shown(advice)  # it names a file whose name is no text
    return advice


def _modes(root: Path) -> Iterator[Finding]:
    yield from _through(root, _mode(root, root))
    for directory, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = root / directory / name
            yield from _through(root, _mode(root, path), _short(root, path))


def _mode(root: Path, path: Path) -> Iterator[Finding]:
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - by attribute
    except FileNotFoundError:
        return  # a writer renamed it since it was listed
    if stat.S_ISLNK(status.st_mode):
        advice = phrase("a link is never followed here; put the file itself")
        yield Finding("link", "error", _short(root, path), advice)
        return
    if not stat.S_ISDIR(status.st_mode):
        files.require_regular(path, status)
    if stat.S_IMODE(status.st_mode) & 0o077:
        yield Finding("readable_by_others", "warning", _short(root, path), f"chmod go= {shlex.quote(str(path))}")


def _documents(profile: Profile) -> Iterator[Finding]:
    copies = {copy.relative for copy in cloud.conflict_copies(profile.root)}
    for relative in (found for found in documents_below(profile.root) if found not in copies):
        try:
            with storage_errors(profile.root / relative):
                yield from _document(Document(profile.root, relative, RawCodec()))
        except UnsupportedVersionError:
            yield Finding(
                "newer_version", "warning", relative, phrase("a newer release wrote it; upgrade to change it")
            )
        except CorruptError:
            advice = phrase(
                "neither it nor its .bak can be read; bring a backup back (`persona restore`), or move both files away "
                "to begin anew"
            )
            yield Finding("corrupt", "error", relative, advice)
        except PersonaError as error:
            yield Finding(error.reason, "error", relative, error.message)


def _document(document: Document[dict[str, JsonValue]]) -> Iterator[Finding]:
    snapshot = document.read()
    yield from _older(document, snapshot)
    yield from _readable(document, snapshot)


def _older(document: Document[dict[str, JsonValue]], snapshot: Snapshot[dict[str, JsonValue]]) -> list[Finding]:
    directory = document.open()
    with directory or contextlib.nullcontext():
        if directory is None or not recovery.is_older_than_previous(document, directory, snapshot):
            return []
        if not document.is_current(directory, snapshot):
            return []  # both were replaced meanwhile
    advice = phrase(
        "older than its own .bak, and so it is read but not changed; move {name} away to go on from the newer one, or "
        "{backup} to keep this one",
        name=document.name,
        backup=document.backup_name,
    )
    return [Finding("backup_newer", "error", document.relative, advice)]


def _readable(document: Document[dict[str, JsonValue]], snapshot: Snapshot[dict[str, JsonValue]]) -> Iterator[Finding]:
    relative = document.relative
    if snapshot.damage is not None:
        advice = phrase("served from its .bak; the next change repairs it, the last change may be lost")
        yield Finding("damaged", "error", relative, advice)
    if snapshot.invalid:
        advice = phrase("{number} rows are kept, not used", number=snapshot.invalid)
        yield Finding("unreadable_rows", "warning", relative, advice)
    holder = foreign_lock.holder_of(document.path)
    if holder is not None:
        advice = phrase("held by {holder}; use one release at a time", holder=holder)
        yield Finding("original_release", "warning", relative, advice)


def _leftovers(root: Path) -> Iterator[Finding]:
    for relative in quarantine_below(root):
        yield Finding(
            "quarantined",
            "note",
            relative,
            phrase("kept aside: damaged, or not to be settled by a merge; remove it when nothing is missed"),
        )
    for relative, document in stray_previous_below(root):
        advice = phrase(
            "a copy of the previous version of {document}, which nothing reads; remove it when nothing is missed",
            document=document,
        )
        yield Finding("stray_previous", "note", relative, advice)
    for relative in files_below(root):
        if ".malformed." in relative and relative.startswith(f"{LOCKS}/"):
            yield Finding("malformed_lock", "note", relative, phrase("left by a power loss; remove it"))


def _holders(root: Path) -> Iterator[Finding]:
    me = holders.this_process()
    for relative in files_below(root):
        if relative.startswith(f"{LOCKS}/") and ".malformed." not in relative:
            yield from _through(root, _holder(root, relative, me), relative)


def _holder(root: Path, relative: str, me: holders.Holder) -> Iterator[Finding]:
    try:
        status = os.stat(root / relative, follow_symlinks=False)  # noqa: PTH116 - by attribute
    except FileNotFoundError:
        return  # it went since it was listed
    refusal = native_lock.unsafe(root / relative, status)
    if refusal is not None:
        yield Finding(refusal.reason, "error", relative, refusal.message)
        return
    verdict, holder = holders.judge(_head(root, relative), me, held_here=False)
    if verdict == "foreign":
        advice = phrase(
            "held by {holder}; delete {path} once nobody uses the profile", holder=holder, path=root / relative
        )
        yield Finding("foreign_lock", "error", relative, advice)


def _head(root: Path, relative: str) -> bytes:
    *parts, name = relative.split("/")
    try:
        with files.open_directory(root, parts) as directory:
            return directory.read_head(name, holders.MAX_READ)
    except FileNotFoundError:
        return b""  # it went since it was listed


def _cloud(root: Path) -> Iterator[Finding]:
    service = cloud.service_of(root)
    if service is not None:
        advice = phrase(
            "{service} seems to synchronise this; two machines at once make conflict copies", service=service
        )
        yield Finding("cloud_folder", "warning", str(root), advice)
    for copy in cloud.conflict_copies(root):
        word, advice = "conflict_copy", phrase("merge it into {document}", document=copy.document)
        if not cloud.is_readable(root, copy):
            word = "unreadable_copy"
            advice = phrase(
                "a conflict copy that cannot be read, and so not merged; look at it, then move or delete it"
            )
        yield Finding(word, "warning", copy.relative, advice)
    for name in cloud.foreign_keys(root):
        advice = phrase(
            "a second key, so nobody can tell what was erased, and nothing is merged; move it out of the profile"
        )
        yield Finding("second_key", "error", name, advice)


def _erasures(profile: Profile) -> Iterator[Finding]:
    tombstones = Tombstones(profile)
    try:
        if tombstones.unswept():
            yield Finding(
                "erase_unfinished",
                "error",
                "",
                phrase("an erasure stopped early; it is finished at the next quiet moment, or by erasing again"),
            )
        if untold := tombstones.untold():
            advice = phrase(
                "{number} rows that tell what was erased cannot be read, so it may come in again; bring a backup back "
                "(`persona restore`)",
                number=untold,
            )
            yield Finding("tombstones_unreadable", "error", tombstones.document.relative, advice)
        tombstones.stands("")
    except PersonaError as error:
        yield Finding(error.reason, "error", tombstones.document.relative, error.message)


def _history(root: Path) -> Iterator[Finding]:
    notes: list[diagnostics.Note] = []
    for name in (diagnostics.OLDER, diagnostics.NAME):
        try:
            with storage_errors(root / name):
                notes += diagnostics.history(root, (name,))
        except PersonaError as error:
            yield _refused(root, error)
    for note in notes[-20:]:
        yield Finding(f"history_{note.word}", "note", note.path, _told(note))


def _told(note: diagnostics.Note) -> str:
    """Say what a note is about: only some of them are of something that was put right."""
    match note.word.partition("_"):
        case ("recovered", _, _):
            return phrase("carried on from its .bak at {at}; the change before may be lost", at=note.at)
        case ("corrupt", _, _):
            return phrase("neither it nor its .bak could be read at {at}; nothing was changed", at=note.at)
        case ("backup", _, "newer"):
            return phrase("older than its own .bak at {at}; nothing was changed", at=note.at)
        case ("lock", _, "recovered" | "malformed"):
            return phrase("left by a process that ended; taken over at {at}", at=note.at)
        case ("lock", _, "release"):
            return phrase("not unlocked at {at}; closing it freed it", at=note.at)
        case _:
            return phrase("noted at {at}", at=note.at)


def _short(root: Path, path: Path) -> str:
    return os.path.relpath(path, root)
