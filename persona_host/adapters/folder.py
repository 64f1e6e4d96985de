"""Putting a folder of our files beside a host's own, and taking it away again without a trace.

The folder holds a receipt: which files are ours, by hash, and which directories had to be made, those within the folder
included. What is not ours, or what somebody has changed since, is never overwritten and never removed; nor is anything
that is no plain file, or lies behind a link within the folder, ever opened.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import ConflictError, PersonaError, StorageError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECEIPT: Final = "installed.json"
STRANGE: Final = ""
"""The mark of what is no file that we could have written."""
_MOST: Final = 1024 * 1024
"""Bytes of the largest file that is looked into; ours are far smaller."""
_HASH: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class _StrangeError(Exception):
    """What has a file's name is no file that we could have written."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to a folder.

    Attributes:
        changed: Whether anything was written or removed.
        left: Files that were changed since, and were therefore left alone. The receipt stays with them.
    """

    changed: bool
    left: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Receipt:
    """What is ours.

    Attributes:
        files: The hash of each file.
        made: The directories that had to be made.
        before: The hashes of what is just being replaced: a run that is cut short can be undone or repeated.
    """

    files: dict[str, str] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)

    def marks(self, name: str) -> set[str]:
        """Return what a file may hold as ours."""
        return {known[name] for known in (self.files, self.before) if name in known}


def put(folder: Path, files: Mapping[str, str]) -> Done:
    """Write ``files``, by their paths within it, into ``folder``; make what is missing. Our older files are replaced.

    Raises:
        ConflictError: Something of one of these names is not ours, or was changed since (``foreign_file``), or
            something else than a directory is on the way. Nothing was written.
        StorageError: The file system refused; a first installation is then taken back.
    """
    missing = _way(folder, files)
    receipt = _read(folder)
    _require_ours(folder, files, receipt)
    hashes = {name: _hash(text.encode()) for name, text in files.items()}
    stale = receipt.files.keys() - files.keys()
    kept = {name: receipt.files[name] for name in stale if mark(folder, name) not in {None, *receipt.marks(name)}}
    current = all(mark(folder, name) == known for name, known in hashes.items())
    if current and receipt.files == hashes | kept:
        return Done(changed=False)
    # A repeated run forgets nothing that an earlier one made.
    made = [*receipt.made, *(str(path) for path in missing if str(path) not in receipt.made)]
    try:
        with _told(folder, begun=bool(receipt.files)):
            folder.mkdir(parents=True, exist_ok=True)
            # The receipt first, and naming old and new alike.
            _write(folder / RECEIPT, _text(_Receipt(receipt.files | hashes, made, _present(folder, receipt))))
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                _write(folder / name, text)
            for name in stale:
                _remove(folder, name, receipt.marks(name))
            _write(folder / RECEIPT, _text(_Receipt(hashes | kept, made)))
    except PersonaError:
        if not receipt.files:
            with suppress(PersonaError):
                take_away(folder)
            _unmake([str(path) for path in missing])
        raise
    return Done(changed=True)


def installed(folder: Path) -> dict[str, str]:
    """Return what ``put`` wrote into ``folder``, each file's mark by its path within it; nothing where it wrote none.

    Raises:
        ConflictError: What has the receipt's name is no receipt.
        StorageError: The file system refused.
    """
    return dict(_read(folder).files)


def take_away(folder: Path) -> Done:
    """Remove what ``put`` wrote and the directories that it made, as far as they are empty then.

    Raises:
        ConflictError: What has the receipt's name is no receipt.
        StorageError: The file system refused. It can be repeated.
    """
    receipt = _read(folder)
    if not receipt.files:
        return Done(changed=False)
    with _told(folder, begun=True):
        left = {name: known for name, known in receipt.files.items() if not _remove(folder, name, receipt.marks(name))}
        if left and left == receipt.files:
            return Done(changed=False, left=tuple(folder / name for name in left))
        if left:
            # So that what is left is known, and a later run, once it is gone, takes away the rest.
            _write(folder / RECEIPT, _text(_Receipt(left, receipt.made)))
        else:
            (folder / RECEIPT).unlink()
    _unmake(receipt.made)
    return Done(changed=True, left=tuple(folder / name for name in left))


def mark(folder: Path, name: str) -> str | None:
    """Return the hash of a file in the folder; None where nothing is, ``STRANGE`` for what we cannot have written.

    Raises:
        StorageError: The file system refused.
    """
    with _told(folder / name):
        if any(path.is_symlink() for path in _between(folder, name)):
            return STRANGE
        try:
            content = _content(folder / name)
        except _StrangeError:
            return STRANGE
    return None if content is None else _hash(content)


@contextmanager
def _told(path: Path, *, begun: bool = False) -> Iterator[None]:
    """Raise what the file system refuses as StorageError."""
    try:
        yield
    except OSError as error:
        if isinstance(error, PersonaError):
            raise
        raise StorageError(
            phrase(
                "{path}: the file system refused ({error}).", path=path, error=error.strerror or type(error).__name__
            ),
            changed="unknown" if begun else "no",
            path=str(path),
            errno=error.errno,
        ) from error


def _between(folder: Path, name: str) -> list[Path]:
    """Return the directories within the folder that lead to a file, outermost first."""
    return [folder / each for each in list(PurePosixPath(name).parents)[-2::-1]]


def _way(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Return the directories that are missing, outermost first.

    Raises:
        ConflictError: Something else has the name of one. Only up to the folder itself may links lead to directories.
    """
    outer = [*reversed(folder.parents), folder]
    inner = dict.fromkeys(path for name in files for path in _between(folder, name))
    with _told(folder):
        return [path for path in (*outer, *inner) if not _is_there(path, links=path not in inner)]


def _is_there(path: Path, *, links: bool) -> bool:
    try:
        if stat.S_ISDIR((path.stat() if links else path.lstat()).st_mode):
            return True
    except OSError as error:
        if error.errno == errno.ENOENT and not path.is_symlink():
            return False
        if error.errno not in {errno.ENOENT, errno.ELOOP}:
            raise
    raise ConflictError(
        phrase("{path} is in the way: it is no directory. Move it away, and try again.", path=path),
        reason="foreign_file",
        paths=[str(path)],
    )


def _present(folder: Path, receipt: _Receipt) -> dict[str, str]:
    """Return the hash of each file of ours as it is now."""
    found = {name: mark(folder, name) for name in receipt.files}
    return {name: known for name, known in found.items() if known is not None and known in receipt.marks(name)}


def _require_ours(folder: Path, files: Mapping[str, str], receipt: _Receipt) -> None:
    wanted = {name: {None, _hash(text.encode()), *receipt.marks(name)} for name, text in files.items()}
    foreign = [folder / name for name, marks in wanted.items() if mark(folder, name) not in marks]
    if foreign:
        raise ConflictError(
            phrase(
                "{path} is not as it was installed. Move it away, or remove it, and install again.", path=foreign[0]
            ),
            reason="foreign_file",
            paths=[str(path) for path in foreign],
        )


def _read(folder: Path) -> _Receipt:
    path = folder / RECEIPT
    try:
        with _told(path):
            data = _content(path)
        receipt = _Receipt() if data is None else _parsed(data)
    except _StrangeError:
        raise ConflictError(
            phrase("{path} is nothing that an installation wrote. Move it away, and install again.", path=path),
            reason="foreign_file",
            paths=[str(path)],
        ) from None
    # A receipt that somebody has edited must not point outside of its folder.
    names = {name: known for name, known in receipt.files.items() if _within(name)}
    return _Receipt(names, [item for item in receipt.made if _on_the_way(folder, Path(item))], receipt.before)


def _parsed(data: bytes) -> _Receipt:
    try:
        value: Any = json.loads(data)
        files, made, before = dict(value["files"]), [*value["made"]], dict(value.get("before", {}))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise _StrangeError from None
    texts = all(isinstance(text, str) for text in (*files, *files.values(), *before.values(), *made))
    if not texts or not all(_HASH.fullmatch(known) for known in (*files.values(), *before.values())):
        raise _StrangeError
    return _Receipt(files, made, before)


def _within(name: str) -> bool:
    """Return whether a name is a path below its folder: no ``..``, no root, no drive."""
    return bool(name) and "\\" not in name and not {"", ".", ".."} & set(name.split("/")) and ":" not in name


def _on_the_way(folder: Path, made: Path) -> bool:
    """Return whether a directory leads to the folder or lies in it."""
    return ".." not in made.parts and (folder.is_relative_to(made) or made.is_relative_to(folder))


def _text(receipt: _Receipt) -> str:
    value = {"files": receipt.files, "made": receipt.made, **({"before": receipt.before} if receipt.before else {})}
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def _remove(folder: Path, name: str, marks: set[str]) -> bool:
    found = mark(folder, name)
    if found in marks:
        (folder / name).unlink(missing_ok=True)
    return found is None or found in marks


def _unmake(made: list[str]) -> None:
    # The innermost first. One that is not empty is kept, by whoever put something there, and all around it.
    for path in sorted(made, key=lambda path: len(Path(path).parts), reverse=True):
        with suppress(OSError):
            Path(path).rmdir()


def _content(path: Path) -> bytes | None:
    """Return what a file holds, or None where nothing has its name. Nothing but a plain file is opened.

    Raises:
        _StrangeError: It is no plain file, or a larger one than ours.
    """
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST:
        raise _StrangeError
    # Whatever may have taken its name just now is neither followed nor waited for.
    with os.fdopen(os.open(path, _READ), "rb") as file:
        return file.read(_MOST)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write beside and rename: a host that starts just now reads the old file or the new one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
