"""The end of a process that serves a host: it comes in time, whatever a plugin is doing."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAIN = 2.0
"""Seconds that are left for the end of the session once the host has closed its end: it waits, or has gone already."""


@contextmanager
def ending() -> Iterator[None]:
    """End the process with 1 unless what is inside is done within ``DRAIN`` seconds."""
    watchdog = threading.Timer(DRAIN, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    yield
    watchdog.cancel()
