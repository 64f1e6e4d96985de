"""The wire: one JSON object a line over two private file descriptors.

Lines end at LF bytes and nothing else: a JSON text may hold U+2028, at which a text reader would split. Everything sent
is ASCII, and no line is longer than ``MAX_LINE``, so that a fault on one side cannot fill the other's memory.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import CapacityError
from persona_host.adapters.streams import Outlet, read_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LINE = 8 * 1024 * 1024
"""The longest line, in bytes, that either side sends or accepts."""

_CHUNK = 64 * 1024


class Wire:
    """Both directions of the connection. Sending is safe from any thread; one thread reads."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader = reader
        self._ended = False
        self._outlet = Outlet(writer, reader, lambda: self._ended)
        self._lock = threading.Lock()

    @property
    def failure(self) -> str:
        """Why nothing can be sent any more, in words; empty where the other side has just gone, or listens."""
        return self._outlet.failure

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message. Once the other side has gone, messages are dropped: nobody is left to tell.

        Raises:
            CapacityError: The line would be longer than ``MAX_LINE``; nothing was sent.
        """
        line = json.dumps(message, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
        if len(line) > MAX_LINE:
            raise CapacityError(f"A message of {len(line)} bytes is too long to send.", limit="line", maximum=MAX_LINE)
        with self._lock:
            self._outlet.write(line)

    def lines(self) -> Iterator[bytes]:
        """Yield each line without its end, until the other side closes.

        Raises:
            CapacityError: A line is longer than ``MAX_LINE``; what follows cannot be told apart any more.
        """
        pending = bytearray()
        while not self.failure and (chunk := read_some(self._reader, _CHUNK)):
            start = len(pending)
            pending += chunk
            while (end := pending.find(b"\n", start)) >= 0:
                yield bytes(pending[:end])
                del pending[: end + 1]
                start = 0
            if len(pending) > MAX_LINE:
                raise CapacityError("A line is too long.", limit="line", maximum=MAX_LINE)
        self._ended = True
