"""A clock that moves only when a test says so; it is a whole ``ports.Scheduler``."""

from __future__ import annotations

import heapq
import itertools
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class Timer:
    """A pending call; see ``ports.Handle``."""

    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due = due
        self.action = action
        self.cancelled = False

    def cancel(self) -> None:
        """Do not fire."""
        self.cancelled = True


class ManualClock:
    """Wall clock, monotonic clock and timers, moved by ``advance``."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._monotonic = 1000.0
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        """Return the wall clock's time, aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return seconds."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass; due timers fire in order, each at its own time."""
        end = self._monotonic + seconds
        while self._timers and self._timers[0][0] <= end:
            due, _, timer = heapq.heappop(self._timers)
            self._step(max(due - self._monotonic, 0.0))
            if not timer.cancelled:
                timer.action()
        self._step(end - self._monotonic)

    def set(self, now: datetime) -> None:
        """Move the wall clock alone, as a person or a time server does; timers and the monotonic clock stay."""
        self._now = now

    def call_later(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Run ``action`` once ``advance`` has passed ``seconds``, in the caller's context as real timers do."""
        timer = Timer(self._monotonic + seconds, partial(copy_context().run, action))
        heapq.heappush(self._timers, (timer.due, next(self._order), timer))
        return timer

    def _step(self, seconds: float) -> None:
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)
