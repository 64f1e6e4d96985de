"""Sharing a long run among processes, with a bar that says how far it is."""

from __future__ import annotations

import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Unit = TypeVar("Unit")
Result = TypeVar("Result")
EVERY = 30.0
"""Seconds between two lines where there is no terminal to draw a bar on."""


def spread(
    work: Callable[[Unit], Result], units: Sequence[Unit], jobs: int, label: str
) -> Iterator[tuple[Unit, Result]]:
    """Do all units of work, the first ones first, and yield each with its result as it is done.

    Args:
        work: A function of a module; each process imports it anew, so that none inherits threads or locks.
        units: What it is given.
        jobs: How many processes.
        label: What the bar says.
    """
    # Whoever ends this process ends its workers too: they would go on with what is waiting.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        with bar(label, len(units)) as advance:
            waiting = {pool.submit(work, unit): unit for unit in units}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
                advance()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how much of something is done: drawn on a terminal, told now and then in a log."""
    console = Console(stderr=not sys.stdout.isatty())
    if not console.is_terminal:
        yield _Told(label, total).advance
        return
    with Progress(console=console, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


class _Told:
    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._done = label, total, 0
        self._next = time.monotonic() + EVERY

    def advance(self) -> None:
        """One more is done; say so when it is time."""
        self._done += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            print(f"{self._label}: {self._done} of {self._total}", file=sys.stderr, flush=True)
