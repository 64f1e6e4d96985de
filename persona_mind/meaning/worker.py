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
        failed: Told on the thread of whatever a job raised; the thread lives on.
    """

    def __init__(
        self, piece: Callable[[], bool], last: Callable[[], None], failed: Callable[[BaseException], None]
    ) -> None:
        self._piece = piece
        self._last = last
        self._failed = failed
        self._urgent: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._more = False
        self._ended = False
        self._until: float | None = None

    @property
    def ended(self) -> bool:
        """Whether it does nothing any more."""
        return self._ended

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

    def rest(self, seconds: float) -> None:
        """Put off what can wait, and end the thread after so many seconds unless it is resumed. Waits for nothing."""
        with self._changed:
            self._more = False
            self._until = time.monotonic() + seconds
            self._changed.notify()

    def resume(self) -> bool:
        """Stay, and return whether that was still possible."""
        with self._changed:
            self._until = None
            return not self._ended

    def close(self, seconds: float = 0.0) -> None:
        """End the thread after the piece that is being worked on, and wait so long for that.

        Whoever waits for something else is not answered.
        """
        with self._changed:
            self._ended = True
            self._changed.notify()
        if self._thread is not None and seconds:
            self._thread.join(seconds)

    def _begin(self) -> None:
        if self._thread is None and not self._ended:
            # What it tells a person is worded as its maker's words are.
            run = contextvars.copy_context().run
            self._thread = threading.Thread(target=run, args=(self._work,), name="persona-mind meaning", daemon=True)
            self._thread.start()
            atexit.register(self._join)

    def _join(self) -> None:
        self.close(ENDING)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._do(job)
        self._do(self._last)
        atexit.unregister(self._join)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - a package in Rust panics with what is no Exception
            # A thread that died of it would leave others waiting, and nobody would know why.
            self._failed(error)

    def _next(self) -> Callable[[], None] | None:
        """Return what is to be done next, once there is something; None when all is over."""
        with self._changed:
            while not (self._ended or self._urgent or self._more):
                left = None if self._until is None else self._until - time.monotonic()
                if left is not None and left <= 0:
                    self._ended = True
                else:
                    self._changed.wait(left)
            if self._ended:
                return None
            return self._urgent.popleft() if self._urgent else self._one_piece

    def _one_piece(self) -> None:
        with self._changed:
            self._more = False
        more = self._piece()
        with self._changed:
            # What rests reads on when it is resumed and woken.
            self._more = self._more or (more and self._until is None)
        if more:
            time.sleep(0)  # whoever waits for a lock of the pieces gets it in between
