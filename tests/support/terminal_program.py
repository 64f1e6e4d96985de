"""A program in a terminal of its own: what it draws can be waited for, and keys can be sent to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[?][0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")


class TerminalProgram:
    """One program on a pseudo-terminal of 120 columns and 40 lines."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._drawn = b""
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        os.close(self._own)

    @property
    def drawn(self) -> str:
        """Everything drawn so far, without escape sequences."""
        return _ESCAPES.sub(b"", self._drawn).decode(errors="replace")

    def type(self, text: str) -> None:
        """Send keys; ``\\r`` is Enter."""
        os.write(self._own, text.encode())

    def wait_for(self, text: str, seconds: float = 40.0) -> None:
        """Wait until ``text`` has been drawn."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.drawn, seconds), self.drawn[-3000:]

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._own, 65536)
            except OSError:  # on Linux, how a terminal says that its last program has gone
                return
            if not data:
                return
            self._drawn += data
            with self._changed:
                self._changed.notify_all()
