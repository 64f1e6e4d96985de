"""What a person names, as files that can be read: one file, a directory, or a ZIP. Nothing in it is ever changed.

Everything is bounded before it is read: how many files, how large each, how large all of them. Below a directory no
link is followed and nothing hidden is looked at.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import CapacityError, InvalidError, NotFoundError, StorageError
from persona_hooks.speech import phrase
from persona_store.layout import shown
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILES: Final = 5_000
MAX_FILE: Final = 16 * 1024 * 1024
MAX_TOTAL: Final = 256 * 1024 * 1024
READABLE: Final = frozenset({".md", ".markdown", ".txt", ".json", ".jsonl"})


@dataclass(slots=True)
class Tree:
    """The files below what was named.

    Attributes:
        single: One file was named, so that it is meant whatever it is called.
        files: The bytes of each, by its path below what was named, in order.
        unread: Files that could not be read, each with why.
        told: What was named, as an error may tell it.
    """

    single: bool
    told: str = "path"
    files: dict[str, bytes] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    _total: int = 0

    def put(self, name: str, data: bytes) -> None:
        """Add one file.

        Raises:
            CapacityError: It is too much in all.
        """
        self._total += len(data)
        if len(self.files) >= MAX_FILES or self._total > MAX_TOTAL:
            raise CapacityError(
                phrase(
                    "path: at most {number} files of {size} MiB in all are read at once.",
                    number=MAX_FILES,
                    size=MAX_TOTAL >> 20,
                ),
                field="path",
                limit=f"{MAX_FILES} files",
            )
        self.files[name] = data


def read_tree(path: Path) -> Tree:
    """Read what a person names.

    Raises:
        NotFoundError: Nothing of that name is there.
        InvalidError: It is neither a file nor a directory.
        CapacityError: It is too much.
        StorageError: The file system refused.
    """
    try:
        with storage_errors(path):
            status = os.stat(path)  # noqa: PTH116 - by attribute, for the fault shim
            tree = _directory(path) if stat.S_ISDIR(status.st_mode) else _file(path, status)
            tree.told = told(path)
            return tree
    except StorageError as error:
        if error.reason in {"enoent", "enotdir", "enametoolong"}:
            raise NotFoundError(
                phrase("{path}: there is no such file or directory.", path=told(path)), field="path"
            ) from None
        raise


def told(path: Path) -> str:
    """Return a path as it may stand in an error; one that could be a secret or an order is told by its field."""
    from persona_store.admission import Admitted, admit  # noqa: PLC0415 - the scanner takes a while to load

    name = shown(path)
    return name if isinstance(admit(name, "import"), Admitted) else "path"


def _file(path: Path, status: os.stat_result) -> Tree:
    if not stat.S_ISREG(status.st_mode):
        raise InvalidError(phrase("{path}: this is neither a file nor a directory.", path=told(path)), field="path")
    # The list of what is in a ZIP stands at its end: one that was cut short only begins like one.
    if zipfile.is_zipfile(path) or _begins_like_a_zip(path):
        return _zip(path)
    if status.st_size > MAX_FILE:
        raise CapacityError(
            phrase("{path}: the file is larger than {limit} MiB.", path=told(path), limit=MAX_FILE >> 20),
            field="path",
            limit=f"{MAX_FILE} bytes",
        )
    tree = Tree(single=True)
    tree.put(path.name, path.read_bytes())
    return tree


def _begins_like_a_zip(path: Path) -> bool:
    with open(path, "rb") as stream:  # noqa: PTH123 - by attribute, for the fault shim
        return stream.read(4) == b"PK\x03\x04"


def _directory(root: Path) -> Tree:
    tree = Tree(single=False)
    for folder, names, found in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(found):
            path = os.path.join(folder, name)  # noqa: PTH118 - os.walk speaks strings
            relative = os.path.relpath(path, root).replace(os.sep, "/")
            if name.startswith(".") or not _readable(name):
                continue
            _take(tree, relative, path)
    return tree


def _take(tree: Tree, relative: str, path: str) -> None:
    try:
        with _regular(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > MAX_FILE:
                tree.unread[relative] = phrase("it is larger than {limit} MiB", limit=MAX_FILE >> 20)
                return
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                data = stream.read(MAX_FILE + 1)
    except OSError as error:
        tree.unread[relative] = error.strerror or phrase("it cannot be read")
        return
    tree.put(relative, data)


@contextmanager
def _regular(path: str) -> Iterator[int]:
    # Not blocking, since opening a pipe would wait for its other end.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def _zip(path: Path) -> Tree:
    tree = Tree(single=False)
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and _readable(info.filename) and info.filename not in tree.files:
                    _unpack(tree, archive, info)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise InvalidError(
            phrase("{path}: the ZIP is damaged ({error}).", path=told(path), error=type(error).__name__), field="path"
        ) from None
    tree.files = dict(sorted(tree.files.items()))
    return tree


def _unpack(tree: Tree, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    try:
        with archive.open(info) as stream:
            # What a header claims about its size need not be so.
            data = stream.read(MAX_FILE + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, ValueError, zlib.error) as error:
        tree.unread[info.filename] = phrase("it cannot be unpacked ({error})", error=type(error).__name__)
        return
    if len(data) > MAX_FILE:
        tree.unread[info.filename] = phrase("it is larger than {limit} MiB", limit=MAX_FILE >> 20)
    else:
        tree.put(info.filename, data)


def _readable(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in READABLE  # noqa: PTH122 - a name, no path
