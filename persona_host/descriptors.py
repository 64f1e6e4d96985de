"""The process's first three descriptors. A hook imports this before every prompt, so it needs nothing but ``os``."""

from __future__ import annotations

import os


def hold_standard_streams() -> set[int]:
    """Open what is closed of the three standard streams; return which were.

    The next file that is opened would get their number, and what is printed would land in it.
    """
    lacking = set()
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            lacking.add(number)
            os.open(os.devnull, os.O_RDWR)
    return lacking
