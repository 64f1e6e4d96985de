"""Taking standard input and output for a protocol, so that nothing else can get between its messages."""

from __future__ import annotations

import os


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
