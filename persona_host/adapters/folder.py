"""Putting a folder of our files beside a host's own, and taking it away again without a trace.

The folder holds a receipt: which files are ours, by hash, and which directories had to be made, those within the folder
included. A file that is not ours, or that somebody has changed since, is never overwritten and never removed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import ConflictError, CorruptError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

RECEIPT = "installed.json"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to a folder.

    Attributes:
        changed: Whether anything was written or removed.
        left: Files that are somebody else's, or were changed since, and were therefore left alone.
    """

    changed: bool
    left: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Receipt:
    files: dict[str, str] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)


def put(folder: Path, files: Mapping[str, str]) -> Done:
    """Write ``files``, by their paths within it, into ``folder``; make what is missing. Our older files are replaced.

    Raises:
        ConflictError: A file of one of these names is not ours, or was changed since. Nothing was written.
        CorruptError: The receipt in the folder cannot be read.
    """
    receipt = _read(folder)
    foreign = [folder / name for name, text in files.items() if not _ours(folder / name, receipt.files.get(name), text)]
    if foreign:
        raise ConflictError(
            phrase(
                "{path} is not as it was installed. Move it away, or remove it, and install again.", path=foreign[0]
            ),
            reason="foreign_file",
            paths=[str(path) for path in foreign],
        )
    hashes = {name: _hash(text.encode()) for name, text in files.items()}
    current = all(_content(folder / name) == text.encode() for name, text in files.items())
    if current and receipt.files == hashes:
        return Done(changed=False)
    # A repeated run forgets nothing that an earlier one made.
    folders = [folder, *((folder / name).parent for name in files)]
    missing = dict.fromkeys(path for each in folders for path in _missing(each))
    made = [*receipt.made, *(str(path) for path in missing if str(path) not in receipt.made)]
    folder.mkdir(parents=True, exist_ok=True)
    # The receipt first, and naming old and new alike: a run that is cut short can still be undone or repeated.
    _write(folder / RECEIPT, _text(_Receipt(receipt.files | hashes, made)))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, text)
    for name in receipt.files.keys() - files.keys():
        _remove(folder / name, receipt.files[name])
    _write(folder / RECEIPT, _text(_Receipt(hashes, made)))
    return Done(changed=True)


def installed(folder: Path) -> dict[str, str]:
    """Return what ``put`` wrote into ``folder``, each file's hash by its path within it; nothing where it wrote none.

    Raises:
        CorruptError: The receipt in the folder cannot be read.
    """
    return dict(_read(folder).files)


def take_away(folder: Path) -> Done:
    """Remove what ``put`` wrote and the directories that it made, as far as they are empty then.

    Raises:
        CorruptError: The receipt in the folder cannot be read.
    """
    receipt = _read(folder)
    if not receipt.files:
        return Done(changed=False)
    left = tuple(folder / name for name, mark in receipt.files.items() if not _remove(folder / name, mark))
    (folder / RECEIPT).unlink()
    # The innermost first. One that is not empty is kept, by whoever put something there, and all around it.
    for made in sorted(receipt.made, key=lambda path: len(Path(path).parts), reverse=True):
        with suppress(OSError):
            Path(made).rmdir()
    return Done(changed=True, left=left)


def _read(folder: Path) -> _Receipt:
    path = folder / RECEIPT
    data = _content(path)
    if data is None:
        return _Receipt()
    try:
        value: Any = json.loads(data)
        files, made = value["files"], value["made"]
    except (ValueError, TypeError, LookupError):
        raise CorruptError(
            phrase("{path} cannot be read. Remove {folder} by hand.", path=path, folder=folder), path=str(path)
        ) from None
    if not (isinstance(files, dict) and isinstance(made, list)):
        raise CorruptError(
            phrase("{path} cannot be read. Remove {folder} by hand.", path=path, folder=folder), path=str(path)
        )
    # A receipt that somebody has edited must not point outside of its folder.
    names = {str(name): str(mark) for name, mark in files.items() if _within(str(name))}
    return _Receipt(names, [str(item) for item in made if _on_the_way(folder, Path(str(item)))])


def _within(name: str) -> bool:
    """Return whether a name is a path below its folder: no ``..``, no root, no drive."""
    return bool(name) and "\\" not in name and not {"", ".", ".."} & set(name.split("/")) and ":" not in name


def _on_the_way(folder: Path, made: Path) -> bool:
    """Return whether a directory leads to the folder or lies in it."""
    return ".." not in made.parts and (folder.is_relative_to(made) or made.is_relative_to(folder))


def _text(receipt: _Receipt) -> str:
    return json.dumps({"files": receipt.files, "made": receipt.made}, indent=2, sort_keys=True) + "\n"


def _ours(path: Path, mark: str | None, text: str) -> bool:
    content = _content(path)
    return content is None or content == text.encode() or _hash(content) == mark


def _remove(path: Path, mark: str) -> bool:
    content = _content(path)
    if content is not None and _hash(content) != mark:
        return False
    path.unlink(missing_ok=True)
    return True


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _missing(folder: Path) -> list[Path]:
    """Return the directories on the way to ``folder`` that do not exist, outermost first."""
    return [path for path in reversed([folder, *folder.parents]) if not path.exists()]


def _write(path: Path, text: str) -> None:
    """Write beside and rename: a host that starts just now reads the old file or the new one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
