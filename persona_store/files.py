"""Most of the effects on the file system that safekeeping causes.

All of them, here and elsewhere, go through ``os.<name>`` by attribute, so that a test can put a fault, a kill or a
recorder in front of the very code that ships. Names below a profile's root are resolved one directory at a time
through descriptors, without following links; only the root itself may be reached through a link, since people do
place it elsewhere.
What one platform lacks is replaced here and nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_store.layout import PREVIOUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600
YOUNG_NS = 50_000_000
"""A stamp younger than this may hide a second change in the same tick of the file system's clock."""

_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)
_NONBLOCK: Final = getattr(os, "O_NONBLOCK", 0)
_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)
_READ: Final = os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY
_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
_HAS_DIR_FD: Final = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})
_NO_SYNC: Final = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.EROFS})
_TRIES: Final = 16
_VECTOR: Final = 512
_CHUNK: Final = 1024 * 1024
_OF_PREVIOUS: Final = f"{PREVIOUS.removeprefix('.')}."
_RENAME_PATIENCE: Final = 5.0


class OversizeError(Exception):
    """A file is larger than its cap; nothing was read."""

    def __init__(self, size: int, cap: int) -> None:
        super().__init__(f"{size} bytes, over the cap of {cap}")
        self.size = size
        self.cap = cap


class Stamp(NamedTuple):
    """What the file system says about one version of a file: enough to notice that it was replaced or edited."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Take the stamp from a stat result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def is_young(self) -> bool:
        """Whether a later change could still carry the same stamp, so that only the bytes can tell."""
        return time.time_ns() - self.ctime_ns < YOUNG_NS

    def same_version(self, other: Stamp | None) -> bool:
        """Whether nothing was written between two looks; a further name of the file moves its ctime, and is nothing."""
        return other is not None and self[:4] == other[:4]

    def same_file(self, other: Stamp) -> bool:
        """Whether both are the same file, whatever its contents."""
        return (self.device, self.inode) == (other.device, other.inode)


class Directory:
    """An open directory below a profile's root; its methods take bare names, never paths.

    Use as a context manager; ``path`` is for messages.
    """

    def __init__(self, root: Path, parts: Sequence[str], descriptor: int | None) -> None:
        self._base = root
        self._parts = parts
        self._fd = descriptor

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._base.joinpath(*self._parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; a second call does nothing."""
        if self._fd is not None:
            descriptor, self._fd = self._fd, None
            close(descriptor)

    def _at(self, name: str) -> str:
        return name if self._fd is not None else os.fspath(self.path / name)

    def stamp(self, name: str) -> Stamp | None:
        """Return the stamp of a regular file, or None when nothing has that name.

        Raises:
            RefusedError: It is a link, or no regular file, or belongs to another account.
        """
        try:
            status = os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        self._require_regular(status, name)
        return Stamp.of(status)

    def read(self, name: str, cap: int) -> tuple[bytes, Stamp]:
        """Read a whole regular file without following a link.

        Returns:
            The bytes and the stamp of the version they were read from.

        Raises:
            FileNotFoundError: Nothing has that name.
            OversizeError: It holds more than ``cap`` bytes; nothing was read.
            RefusedError: It is a link, or no regular file, or belongs to another account.
            OSError: It could not be read, or kept changing while it was read.
        """
        for _ in range(_TRIES):
            descriptor = self._open_existing(name)
            try:
                before = os.fstat(descriptor)
                self._require_regular(before, name)
                if before.st_size > cap:
                    raise OversizeError(before.st_size, cap)
                data = _read_all(descriptor, before.st_size + 1)
                after = os.fstat(descriptor)
            finally:
                close(descriptor)
            if len(data) == before.st_size and Stamp.of(before) == Stamp.of(after):
                return data, Stamp.of(after)
        raise OSError(errno.EAGAIN, "the file kept changing while it was read", os.fspath(self.path / name))

    def read_head(self, name: str, length: int) -> bytes:
        """Return the first ``length`` bytes of a regular file; links and other kinds are refused."""
        descriptor = self._open_existing(name)
        try:
            self._require_regular(os.fstat(descriptor), name)
            return _read_all(descriptor, length)
        finally:
            close(descriptor)

    def is_copy(self, name: str, other: str) -> bool:
        """Whether two regular files hold the same bytes, however many."""
        with contextlib.ExitStack() as opened:
            descriptors = []
            for each in (name, other):
                descriptors.append(self._open_existing(each))
                opened.callback(close, descriptors[-1])
            while True:
                first, second = (_read_all(descriptor, _CHUNK) for descriptor in descriptors)
                if first != second or not first:
                    return first == second

    def _require_regular(self, status: os.stat_result, name: str) -> None:
        require_regular(self.path / name, status)

    def _open_existing(self, name: str) -> int:
        try:
            return os.open(self._at(name), _READ, dir_fd=self._fd)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO}:
                raise _unsafe(self.path / name, phrase("is a link or no regular file")) from None
            raise

    def create_temporary(self, base: str, label: str = "tmp") -> tuple[str, int]:
        """Create a file under a fresh random name, readable by its owner only; never opens an existing one."""
        for _ in range(_TRIES):
            name = temporary_name(base, label)
            with contextlib.suppress(FileExistsError):
                return name, os.open(self._at(name), _CREATE, FILE_MODE, dir_fd=self._fd)
        raise FileExistsError(errno.EEXIST, "no free temporary name", os.fspath(self.path))

    def append(self, name: str, data: bytes) -> None:
        """Add bytes to the end of a private file in one call, making it when it is missing; not synced."""
        descriptor = os.open(self._at(name), _APPEND, FILE_MODE, dir_fd=self._fd)
        try:
            self._require_regular(os.fstat(descriptor), name)
            write_all(descriptor, data)
        finally:
            close(descriptor)

    def link(self, source: str, target: str) -> bool:
        """Give a file a second name; False where the file system has no hard links."""
        try:
            os.link(
                self._at(source),
                self._at(target),
                src_dir_fd=self._fd,
                dst_dir_fd=self._fd,
                follow_symlinks=False,
            )
        except OSError as error:
            if error.errno in _NO_LINKS:
                return False
            raise
        return True

    def copy(self, source: str, target: str) -> None:
        """Give a copy of a file another name in one step; its bytes are durable, the name with the next `sync`."""
        data, _ = self.read(source, sys.maxsize)
        # Named after the source: under its lock the next writer finds what an interruption leaves.
        temporary, descriptor = self.create_temporary(source)
        try:
            write_all(descriptor, data)
            sync_descriptor(descriptor)
            self.rename(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                self.unlink(temporary)
            raise
        finally:
            close(descriptor)

    def rename(self, source: str, target: str) -> None:
        """Put ``source`` in the place of ``target`` in one step."""
        deadline = time.monotonic() + _RENAME_PATIENCE
        while True:
            try:
                os.rename(self._at(source), self._at(target), src_dir_fd=self._fd, dst_dir_fd=self._fd)
            except PermissionError:
                # On Windows a scanner or a reader may hold the target open for a moment.
                if sys.platform != "win32" or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def unlink(self, name: str) -> None:
        """Remove a name; a missing one is fine."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._fd)

    def names(self) -> list[str]:
        """Return the names in this directory, sorted."""
        with os.scandir(self._fd if self._fd is not None else self.path) as entries:
            return sorted(entry.name for entry in entries)

    def sync(self) -> None:
        """Make names given, replaced and removed in this directory durable."""
        if self._fd is not None:
            sync_descriptor(self._fd)


def require_regular(path: Path, status: os.stat_result) -> None:
    """Refuse what is no file of ours, going by what the file system says of it.

    Raises:
        RefusedError: It is a link, or no regular file, or belongs to another account.
    """
    if not stat.S_ISREG(status.st_mode):
        raise _unsafe(path, phrase("is a link or no regular file"))
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise _unsafe(path, phrase("belongs to another account"), reason="foreign_account")


def temporary_name(base: str, label: str = "tmp") -> str:
    """Return a name nobody can guess, of the shape that `loose_files` finds again."""
    return f".{base}.{label}-{secrets.token_hex(16)}"


def open_directory(root: Path, parts: Sequence[str], *, create: bool = False) -> Directory:
    """Open a directory below ``root``, following no link below it.

    Args:
        root: The profile's root; may itself be reached through a link.
        parts: Names of the directories below it, outermost first.
        create: Make missing directories, private to their owner.

    Raises:
        FileNotFoundError: A directory is missing and ``create`` is false.
        RefusedError: Something on the way is a link or no directory.
    """
    if create:
        _make_private(root)
    if not _HAS_DIR_FD:
        return _open_by_path(root, parts, create=create)
    descriptor = os.open(root, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
    try:
        for depth, part in enumerate(parts, 1):
            try:
                inner = _open_step(descriptor, part, create=create)
            except OSError as error:
                if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                    raise _unsafe(root.joinpath(*parts[:depth]), phrase("is a link or no directory")) from None
                raise
            descriptor, outer = inner, descriptor
            close(outer)
    except BaseException:
        close(descriptor)
        raise
    return Directory(root, parts, descriptor)


def _open_step(outer: int, part: str, *, create: bool) -> int:
    flags = os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC
    try:
        return os.open(part, flags, dir_fd=outer)
    except FileNotFoundError:
        if not create:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, DIRECTORY_MODE, dir_fd=outer)
        return os.open(part, flags, dir_fd=outer)


def _open_by_path(root: Path, parts: Sequence[str], *, create: bool) -> Directory:
    path = root
    for part in ("", *parts):
        path = path / part
        if create and not path.exists():
            path.mkdir(DIRECTORY_MODE, exist_ok=True)
        status = os.stat(path, follow_symlinks=not part)  # noqa: PTH116 - by attribute, for the fault shim
        if not stat.S_ISDIR(status.st_mode):
            raise _unsafe(path, phrase("is a link or no directory"))
    return Directory(root, parts, None)


def _make_private(root: Path) -> None:
    missing = []
    directory = root
    # A disk that says nothing says nothing of the top either.
    while directory != directory.parent and not os.path.isdir(directory):  # noqa: PTH112 - by attribute, for the fault shim
        missing.append(directory)
        directory = directory.parent
    for path in reversed(missing):
        if path == root:
            _sync_above(path)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)  # noqa: PTH102 - by attribute, for the fault shim


def _sync_above(root: Path) -> None:
    """Make every directory above a root durable that may have been made for it, by this process or by another one.

    Called before the root itself is made: where there is a root, the way to it is durable, so that no later change
    need ask. What belongs to another account was made by none of us.
    """
    for directory in root.parents:
        if not _HAS_DIR_FD or os.stat(directory).st_uid != os.geteuid():  # noqa: PTH116 - by attribute
            return
        _sync_at(directory.parent)


def sync_ancestors(root: Path, parts: Sequence[str]) -> None:
    """Make the directories that lead to a new file durable, from the innermost outwards, up to the root's own name.

    What lies above was made durable before the root was made.
    """
    chain = [root.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]
    for directory in (*chain[1:], root.parent):
        if _HAS_DIR_FD:
            _sync_at(directory)


def _sync_at(path: Path) -> None:
    """Make the names in a directory durable, unless it may not be opened, and so was not made by us."""
    with contextlib.suppress(PermissionError):
        descriptor = os.open(path, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
        try:
            sync_descriptor(descriptor)
        except OSError as error:
            # Read-only images and some network shares do not know it.
            if error.errno not in _NO_SYNC:
                raise
        finally:
            close(descriptor)


def close(descriptor: int) -> None:
    """Give a descriptor back.

    What mattered was synced before, and the system frees the descriptor even when it reports an error, so that an
    error here changes nothing about what the caller may be told.
    """
    try:  # noqa: SIM105 - seven times a change
        os.close(descriptor)
    except OSError:
        pass


def write_all(descriptor: int, *pieces: bytes) -> None:
    """Write every byte of some pieces in order, however few the system takes at a time."""
    left: list[bytes | memoryview] = [piece for piece in pieces if piece]
    while left:
        written = _write_some(descriptor, left)
        if written <= 0:
            raise OSError(errno.EIO, "the system accepted no bytes")
        while left and written >= len(left[0]):
            written -= len(left.pop(0))
        if written:
            left[0] = memoryview(left[0])[written:]


def _write_some(descriptor: int, pieces: list[bytes | memoryview]) -> int:
    if len(pieces) == 1 or not hasattr(os, "writev"):
        return os.write(descriptor, pieces[0])
    return os.writev(descriptor, pieces[:_VECTOR])


def pread(descriptor: int, length: int, offset: int) -> bytes:
    """Read up to ``length`` bytes from a place in a file.

    Where the system has no such call, the descriptor's own position moves; nobody else may be using it meanwhile.
    """
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, length)


def pwrite(descriptor: int, data: bytes, offset: int) -> int:
    """Write bytes at a place in a file and return how many the system took; moves the position as `pread` does."""
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, data, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


def mark(descriptor: int) -> None:
    """Give a fresh file a modification time that no later write will get by itself.

    The file system's clock ticks in milliseconds, so two versions may carry one time; the random nanoseconds make
    an edit of this very file visible in its stamp however soon it comes.
    """
    second, nanosecond = divmod(time.time_ns(), 1_000_000_000)
    modified = (second - 1) * 1_000_000_000 + secrets.randbelow(1_000_000_000)
    os.utime(descriptor, ns=(second * 1_000_000_000 + nanosecond, modified))


def sync_descriptor(descriptor: int) -> None:
    """Hand a file's bytes or a directory's names to the disk itself.

    After a failure the descriptor must not be synced again: the system may have dropped the dirty pages and would
    then report success.
    """
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - this platform only

        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _read_all(descriptor: int, length: int) -> bytes:
    chunks = []
    while length > 0 and (chunk := os.read(descriptor, length)):
        chunks.append(chunk)
        length -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _unsafe(path: Path, what: str, reason: str = "not_regular") -> RefusedError:
    return RefusedError(
        phrase("{path} {fault}; it was left untouched", path=path, fault=what), reason=reason, path=os.fspath(path)
    )


def loose_files(directory: Directory, base: str) -> Iterator[str]:
    """Yield temporary files that an interrupted write of ``base`` or of its previous version left behind.

    Call under the lock of ``base`` only: outside it a temporary may be another writer's.
    """
    prefix = f".{base}."
    for name in directory.names():
        if name.startswith(prefix):
            label, _, token = name[len(prefix) :].removeprefix(_OF_PREVIOUS).rpartition("-")
            if label in {"tmp", "bak"} and len(token) == 32 and set(token) <= set("0123456789abcdef"):
                yield name
