"""The end of a process that serves a host: it comes in time, whatever a plugin is doing."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DRAIN = 2.0
"""Seconds that are left for the end of the session once the host has closed its end: it waits, or has gone already."""


@contextmanager
def ending() -> Iterator[None]:
    """End the process with 1 unless what is inside is done within ``DRAIN`` seconds."""
    watchdog = _watchdog()
    try:
        yield
    finally:
        watchdog.cancel()


def must_end() -> None:
    """Give the process ``DRAIN`` seconds to be gone, with all of its threads; then it ends with 1."""
    _watchdog()


class Signals:
    """The signals that ask a process to end, SIGTERM and SIGHUP: taken down here, and passed on to who can do it.

    An exception is no way to ask: it may be dropped, or come where nothing may be left half done.
    """

    def __init__(self) -> None:
        self._came = False
        self._pass_on: Callable[[], None] | None = None

    def listen(self) -> None:
        """Take them from now on; not SIGHUP where somebody asked for it to be ignored (nohup)."""
        for each in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):
            if each is not None and signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, self._take)

    def passed_on(self, to: Callable[[], None]) -> None:
        """Call ``to`` when one comes, and now if one has come; from a signal handler, so it may take no lock."""
        self._pass_on = to
        if self._came:
            to()

    def _take(self, *_: object) -> None:
        self._came = True
        if self._pass_on is not None:
            self._pass_on()


def _watchdog() -> threading.Timer:
    watchdog = threading.Timer(DRAIN, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    return watchdog
