"""The thread that a model works on: what somebody waits for comes first, and the rest piece by piece."""

from __future__ import annotations

import atexit
import contextvars
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ENDING: Final = 5.0
"""Seconds for which the end of a process waits for the piece that is being worked on."""


class Worker:
    """One thread, made when it is first woken.

    A thread that is inside a model while the interpreter goes down would take the process with it, so that the end of
    the process waits for it; pieces are small for that reason, too.

    Args:
        piece: Does one piece of what can wait, and returns whether there may be more.
        last: Called on the thread when it ends.
    """

    def __init__(self, piece: Callable[[], bool], last: Callable[[], None]) -> None:
        self._piece = piece
        self._last = last
        self._urgent: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._more = False
        self._ended = False

    def wake(self) -> None:
        """Say that there may be something to do."""
        with self._changed:
            self._more = True
            self._begin()
            self._changed.notify()

    def ask(self, job: Callable[[], object], seconds: float) -> bool:
        """Have something done before all else; return whether it was done in time. It is done in any case."""
        done = threading.Event()

        def run() -> None:
            try:
                job()
            finally:
                done.set()

        with self._changed:
            if self._ended:
                return False
            self._urgent.append(run)
            self._begin()
            self._changed.notify()
        return done.wait(seconds)

    def close(self) -> None:
        """End the thread after the piece that is being worked on. Whoever still waits is not answered."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        thread = self._thread
        if thread is not None:
            thread.join(ENDING)
            atexit.unregister(self.close)

    def _begin(self) -> None:
        if self._thread is None and not self._ended:
            # What it tells a person is worded as its maker's words are.
            run = contextvars.copy_context().run
            self._thread = threading.Thread(target=run, args=(self._work,), name="persona-mind meaning", daemon=True)
            self._thread.start()
            atexit.register(self.close)

    def _work(self) -> None:
        try:
            while (job := self._next()) is not None:
                job()
            self._last()
        finally:
            # A thread that dies of a defect must not leave others waiting for it.
            self._ended = True

    def _next(self) -> Callable[[], None] | None:
        """Return what is to be done next, once there is something; None when all is over."""
        with self._changed:
            while not (self._ended or self._urgent or self._more):
                self._changed.wait()
            if self._ended:
                return None
            return self._urgent.popleft() if self._urgent else self._one_piece

    def _one_piece(self) -> None:
        with self._changed:
            self._more = False
        more = self._piece()
        with self._changed:
            self._more = self._more or more
        if more:
            time.sleep(0)  # whoever waits for a lock of the pieces gets it in between
