"""How far a session log's file has been read, and what of it could not be."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

from persona_hooks import logfile
from persona_hooks.logformat import Damage, Header, UnreadableError, parse_entry, parse_header

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.logtree import LogTree

Change = Literal["none", "grown", "replaced"]


class LogCursor:
    """A place in a file: everything before it is in a tree.

    Args:
        path: The file. Its header is read at once.

    Attributes:
        header: The file's header.

    Raises:
        CorruptError: There is no valid header.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None
        self._size = 0
        self._offset = 0
        self._newlines = 0
        self._damage: list[Damage] = []
        self._torn = b""
        data = self._bytes()
        first, newline, _ = data.partition(b"\n")
        self.header: Header = parse_header(first if newline else b"", str(path))
        self._pass(first + newline)

    def change(self) -> Change:
        """Return what became of the file since it was last read. A file that is gone counts as unchanged."""
        status = logfile.status(self._path)
        if status is None:
            return "none"
        if (status.st_dev, status.st_ino) != self._file or status.st_size < self._size:
            return "replaced"
        return "grown" if status.st_size > self._size else "none"

    def read(self, tree: LogTree) -> None:
        """Take what stands after this place into ``tree``."""
        *lines, tail = self._bytes().split(b"\n")
        for line in lines:
            self._take(line, tree)
            self._pass(line + b"\n")
        # A line without its end is torn, or another process is writing it just now. Whole JSON needs no end.
        if tail and self._parses(tail):
            self._take(tail, tree)
            self._pass(tail)
            tail = b""
        self._torn = tail

    def append(self, file: IO[bytes], lines: bytes) -> None:
        """Append to the file, which is locked and has been read to its end.

        A torn line is ended first, so that it stands alone and what follows is not read as a part of it.
        """
        ended = self._torn or not self._at_line_start(file)
        logfile.append(file, self._path, b"\n" + lines if ended else lines)
        if self._torn:
            self._damage.append(Damage(self._newlines + 1, "torn"))
            self._pass(self._torn)
            self._torn = b""
        self._pass(b"\n" + lines if ended else lines)
        self._size = self._offset

    def damage(self) -> list[Damage]:
        """Return the lines that were isolated so far."""
        return [*self._damage, *([Damage(self._newlines + 1, "torn")] if self._torn else [])]

    def skip(self, lines: bytes) -> None:
        """Go past ``lines``: the caller has just written them and knows what they hold."""
        self._pass(lines)
        self._size = self._offset

    def _bytes(self) -> bytes:
        data, status = logfile.read(self._path, self._offset)
        self._file, self._size = (status.st_dev, status.st_ino), self._offset + len(data)
        return data

    def _pass(self, data: bytes) -> None:
        self._offset += len(data)
        self._newlines += data.count(b"\n")

    def _take(self, line: bytes, tree: LogTree) -> None:
        if not line:
            return
        try:
            problem = tree.follow(parse_entry(line))
        except UnreadableError as error:
            problem = error.reason
        if problem is not None:
            self._damage.append(Damage(self._newlines + 1, problem))

    @staticmethod
    def _parses(line: bytes) -> bool:
        try:
            parse_entry(line)
        except UnreadableError:
            return False
        return True

    def _at_line_start(self, file: IO[bytes]) -> bool:
        file.seek(self._offset - 1)
        return file.read(1) == b"\n"
