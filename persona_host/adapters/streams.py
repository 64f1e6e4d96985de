"""Taking standard input and output for a protocol, so that nothing else can get between its messages."""

from __future__ import annotations

import errno
import os
import select
from typing import TYPE_CHECKING, Final

from persona_host.adapters.ending import DRAIN

if TYPE_CHECKING:
    from collections.abc import Callable

_GONE: Final = frozenset({errno.EPIPE, errno.ECONNRESET})
_PIECE: Final = 512
"""Bytes that a pipe takes at once, on any platform, where it takes something at all."""
_PIECES: Final = getattr(select, "PIPE_BUF", _PIECE)


def take_standard_streams() -> tuple[int, int]:
    """Return private descriptors of what standard input and output were; nobody else can reach those afterwards.

    ``print`` and child processes write to standard error from now on, to the very end of the process, and read nothing:
    a stray line among the messages would be taken for one.
    """
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reader, writer


def read_some(reader: int, size: int) -> bytes:
    """Return what there is to read, at most ``size`` bytes; nothing once no more comes, however that came about."""
    try:
        while True:
            try:
                return os.read(reader, size)
            except BlockingIOError:  # whoever shares the stream wants it not to wait: we do
                select.select([reader], [], [])
    except OSError:  # the other side has gone with something unread, or its terminal has
        return b""


class Outlet:
    """Where messages are written. Once that fails, the rest is dropped: nobody is left to tell.

    Args:
        writer: The descriptor.
        reader: The other direction's: who has closed that and takes nothing for a while will take nothing any more,
            and must not keep the process, nor whoever waits for the lock that its writer holds.
        over: Whether the process is to end anyway.
    """

    def __init__(self, writer: int, reader: int, over: Callable[[], bool]) -> None:
        self._writer = writer
        self._reader = reader
        self._over = over
        self.open = True
        self.failure = ""

    def write(self, content: bytes) -> None:
        """Write all of it. Not from two threads at once."""
        rest = memoryview(content)
        try:
            while rest and self.open:
                rest = rest[os.write(self._writer, rest[: self._room(len(rest))]) :]
        except OSError as error:
            self.open = False
            if error.errno not in _GONE:
                self.failure = f"standard output failed ({error.strerror})."

    def _room(self, wanted: int) -> int:
        """Wait until something can be written without a wait; return how many bytes."""
        if not hasattr(select, "poll"):
            return wanted  # no such thing there: the process is ended when its time is up
        waiting = select.poll()
        waiting.register(self._writer, select.POLLOUT)
        while not waiting.poll(DRAIN / 2 * 1000):
            if self._over() or _hung_up(self._reader):
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        return min(wanted, _PIECES)


def _hung_up(reader: int) -> bool:
    looking = select.poll()
    looking.register(reader, getattr(select, "POLLRDHUP", 0))
    return bool(looking.poll(0))
