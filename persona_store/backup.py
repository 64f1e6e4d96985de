"""Backups: whole copies of a profile's documents, made and kept.

A backup is a directory of plain files as they lie in the profile, with a manifest of their hashes. It appears under its
name only when it is complete and on the disk. The seven newest daily ones are kept inside the profile, where erasing
sweeps them; one taken elsewhere is filtered by the tombstones when it comes back.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import (
    RefusedError,
    StorageError,
    UncertainError,
    UnsupportedVersionError,
)
from persona_hooks.speech import phrase
from persona_store import files, jsontext, recovery, syncfiles
from persona_store.backup_contents import DOCUMENTS, VERSION
from persona_store.cloud import conflict_copies
from persona_store.copies import MANIFEST, MAX_SEARCHED
from persona_store.layout import BACKUPS, KEY, PREVIOUS, documents_below
from persona_store.locks import DEFAULT_TIMEOUT
from persona_store.oserrors import storage_errors
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from persona_store.transaction import Profile

_DAILIES: Final = 7
_ELSEWHERE: Final = timedelta(days=2)
"""So far may a day be ahead that has come already for who was in another time zone."""
_DAILY: Final = re.compile(r"daily-\d{4}-\d\d-\d\d")
_BEFORE: Final = "before-restore-"
_REPLACED: Final = re.compile(rf"{_BEFORE}\d{{8}}T\d{{9}}Z")
_KEPT_REPLACED: Final = 3
_PASSING: Final = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""What the moment is to blame for, not the file: a backup fails by it, and the next one has it all."""


def backup(
    profile: Profile, target: Path, *, check: Callable[[], None] | None = None, timeout: float = DEFAULT_TIMEOUT
) -> Path:
    """Copy a profile. Memory is as it stands at one moment, every other document as it stands at one of its own.

    A damaged document is copied as it lies, and its previous version with it; see `Contents.faults`.

    Args:
        profile: What is copied, under its memory transaction.
        target: The directory to make; must not exist.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for the transaction.

    Returns:
        ``target``, complete and durable.

    Raises:
        RefusedError: Something of that name exists, or it lies where documents do.
        StorageError: It could not be written; nothing of that name was left.
    """
    if _is_within(target, profile.root) and not _is_within(target, profile.root / BACKUPS):
        raise RefusedError(
            phrase(
                "{target} lies among the memories themselves; name another directory: `persona backup DIR`",
                target=target,
            ),
            reason="inside",
            path=os.fspath(target),
        )
    with profile.transaction(check, timeout):
        if os.path.lexists(target):
            raise RefusedError(
                phrase("{target} exists already; name another directory: `persona backup DIR`", target=target),
                reason="exists",
                path=os.fspath(target),
            )
        return _make(profile, target)


def _is_within(path: Path, directory: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))


def _make(profile: Profile, target: Path) -> Path:
    """Make a backup, under the transaction."""
    draft = target.with_name(f".{target.name}.tmp-{secrets.token_hex(16)}")
    # Taken before the first copy: what is acknowledged while others are copied came after the backup.
    moment = instant(profile.now())
    with storage_errors(target):
        _sweep_drafts(target)
        try:
            manifest = {"version": VERSION, "made": moment, "files": _copy(profile.root, draft)}
            _write(draft, MANIFEST, f"{json.dumps(manifest, indent=2)}\n".encode())
            syncfiles.sync_tree(draft)
            os.rename(draft, target)  # noqa: PTH104 - by attribute, for the fault shim
        except BaseException:
            _discard(draft)
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


def _discard(directory: Path) -> None:
    """Remove a directory as far as the disk lets it go; what stays is swept another time."""
    # Closing a folder may fail in spite of the argument.
    with suppress(OSError):
        shutil.rmtree(directory, ignore_errors=True)


def _sweep_drafts(target: Path) -> None:
    """Remove what an interrupted backup to the same place left; under the transaction nobody of this profile does."""
    shape = re.compile(rf"\.({re.escape(target.name)}|{_DAILY.pattern}|{_REPLACED.pattern})\.tmp-[0-9a-f]{{32}}")
    for name in os.listdir(target.parent):  # noqa: PTH208 - names
        if shape.fullmatch(name):
            _discard(target.parent / name)


def _copy(root: Path, draft: Path) -> dict[str, str]:
    """Copy documents and key into a draft, and return the hashes of all that stands in it."""
    hashes = {}
    for relative, data in _copied(root):
        _write(draft, f"{DOCUMENTS}/{relative}", data)
        hashes[f"{DOCUMENTS}/{relative}"] = hashlib.sha256(data).hexdigest()
    return hashes


def _copied(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a backup: where a document's own is of no use or older, its previous version as well."""
    # A conflict copy may bring back what was erased here: merging sifts it, and until then it stays where it lies.
    copies = {copy.relative for copy in conflict_copies(root, left=True)}
    for relative in (name for name in documents_below(root) if name not in copies):
        live = _bytes(root, relative)
        if live is not None:
            yield relative, live
        if live is None or not _is_whole(live) or _is_older(root, relative, live):
            previous = _bytes(root, f"{relative}{PREVIOUS}")
            if previous is not None:
                yield f"{relative}{PREVIOUS}", previous
    key = _bytes(root, KEY)
    if key is not None:
        yield KEY, key


def _bytes(root: Path, relative: str) -> bytes | None:
    """Return a file's bytes, or None where there is none.

    One that is too large even to be searched, not ours to read or refused by the disk must not keep all others from
    being copied: it counts as an empty one, which tells at restoring that there was something.
    """
    *parts, name = relative.split("/")
    with storage_errors(root / relative):
        try:
            with files.open_directory(root, parts) as directory:
                return directory.read(name, MAX_SEARCHED)[0]
        except FileNotFoundError:
            return None
        except (files.OversizeError, RefusedError):
            return b""
        except OSError as error:
            if error.errno in _PASSING:
                raise
            return b""


def _is_older(root: Path, relative: str, live: bytes) -> bool:
    """Whether a document's file comes before its previous version: what that one alone holds is to be kept, too."""
    *parts, name = relative.split("/")
    # What cannot be read tells nothing.
    with suppress(OSError), files.open_directory(root, parts) as directory:
        previous = recovery.sequence_in(directory, f"{name}{PREVIOUS}")
        return previous is not None and previous > (jsontext.peek_sequence(live) or 0)
    return False


def _is_whole(data: bytes) -> bool:
    try:
        jsontext.split(data)
    except jsontext.DamageError:
        return False
    except UnsupportedVersionError:
        return True
    return len(data) <= jsontext.MAX_BYTES


def _write(draft: Path, relative: str, data: bytes) -> None:
    *parts, name = relative.split("/")
    with files.open_directory(draft, parts, create=True) as directory:
        temporary, descriptor = directory.create_temporary(name)
        try:
            files.write_all(descriptor, data)
            files.sync_descriptor(descriptor)
        finally:
            files.close(descriptor)
        # The names are made durable all at once: nobody looks into a draft.
        directory.rename(temporary, name)


def daily(profile: Profile, *, timeout: float = DEFAULT_TIMEOUT) -> Path | None:
    """Take today's backup unless there is one, and keep the seven newest.

    One of a day that is far from having come was made before the clock was set back, and counts as older than all.

    Args:
        profile: What is backed up.
        timeout: Seconds to wait for the transaction.

    Returns:
        The new backup, or None when today has one or there is nothing to keep yet.
    """
    today = profile.now().date()
    target = profile.root / BACKUPS / f"daily-{today}"
    with storage_errors(target.parent):
        if os.path.lexists(target) or next(documents_below(profile.root), None) is None:
            return None
        files.open_directory(profile.root, [BACKUPS], create=True).close()
        with profile.transaction(timeout=timeout):
            if os.path.lexists(target):
                return None
            _make(profile, target)
            # Under the transaction: an erasure sweeps these meanwhile otherwise.
            _forget_older(profile.root, _DAILY, _DAILIES, f"daily-{today + _ELSEWHERE}")
    return target


def replaced(profile: Profile) -> Path | None:
    """Keep what a restoration is about to replace, in the profile, under the transaction that the caller holds.

    Returns:
        The backup, or None when there is nothing yet.

    Raises:
        StorageError: It could not be written; then nothing should be restored.
    """
    shelf = profile.root / BACKUPS
    with storage_errors(shelf):
        if next(documents_below(profile.root), None) is None:
            return None
        files.open_directory(profile.root, [BACKUPS], create=True).close()
        return _make(profile, _free(shelf, profile.now()))


def _free(shelf: Path, moment: datetime) -> Path:
    """Return a name for what is replaced at this moment, past those of all earlier ones: a clock may be set back."""
    earlier = [_following(name) for name in os.listdir(shelf) if _REPLACED.fullmatch(name)]  # noqa: PTH208 - as above
    moment = max([moment, *(one for one in earlier if one is not None)])
    while os.path.lexists(path := shelf / f"{_BEFORE}{re.sub(r'[-:.]', '', instant(moment))}"):
        moment += timedelta(milliseconds=1)
    return path


def _following(name: str) -> datetime | None:
    """Return the moment after the one that a name tells; None where that is none."""
    told = name.removeprefix(_BEFORE)
    seconds, parts = told[: len("20260302T093000")], told[len("20260302T093000") :]
    try:
        return datetime.fromisoformat(f"{seconds}.{parts}") + timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None  # somebody else named it


def forget_replaced(root: Path, newest: str, spared: str) -> None:
    """Remove all but the three newest backups of what restorations replaced.

    Call under the transaction, like whatever changes backups in the profile.

    Args:
        root: The profile's.
        newest: The name of the one just made.
        spared: The name of one that stays in any case.
    """
    _forget_older(root, _REPLACED, _KEPT_REPLACED, newest, {spared})


def drop_replaced(made: Path) -> bool:
    """Remove a backup of what a restoration did not replace, under the transaction; return whether it is gone."""
    _discard(made)
    return not os.path.lexists(made)


def _forget_older(root: Path, shape: re.Pattern[str], kept: int, newest: str, spared: Collection[str] = ()) -> None:
    try:
        names = [name for name in shelved(root) if shape.fullmatch(name)]
    except StorageError:
        return  # the new one is safe by now; what cannot go today goes another day
    # A name past the newest that there may be is of a clock that was set back since.
    for name in sorted(names, key=lambda name: (name <= newest, name))[:-kept]:
        if name not in spared:
            _discard(root / BACKUPS / name)


def shelved(root: Path) -> list[str]:
    """Return the names of all complete backups inside a profile, in order: what restorations replaced, then dailies.

    Raises:
        StorageError: The folder could not be looked into.
    """
    with storage_errors(root / BACKUPS):
        try:
            names = sorted(os.listdir(root / BACKUPS))  # noqa: PTH208 - by attribute, for the fault shim
        except FileNotFoundError:
            return []
    return [name for name in names if _DAILY.fullmatch(name) or _REPLACED.fullmatch(name)]


def dailies(root: Path) -> list[str]:
    """Return the names of the daily backups, oldest first."""
    return [name for name in shelved(root) if _DAILY.fullmatch(name)]
