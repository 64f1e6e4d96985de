"""Running a piece of work to its end although the person presses Ctrl-C."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class _Work(Generic[T]):
    def __init__(self, action: Callable[[], T]) -> None:
        self._action = action
        self._outcome: list[T] = []
        self._error: list[BaseException] = []
        self.finished = threading.Event()
        self.thread = threading.Thread(target=self._run, name="persona-verb", daemon=True)

    def _run(self) -> None:
        try:
            self._outcome.append(self._action())
        except BaseException as error:  # noqa: BLE001 - it crosses the thread and is raised again there
            self._error.append(error)
        finally:
            self.finished.set()

    def begun(self) -> bool:
        # A thread is listed before it runs; Ctrl-C may come in between.
        return self.finished.is_set() or self.thread in threading.enumerate()

    def result(self) -> T:
        if self._error:
            raise self._error[0]
        return self._outcome[0]


def undisturbed(action: Callable[[], T]) -> tuple[T, bool]:
    """Return what ``action`` returns, and whether Ctrl-C was pressed meanwhile.

    A verb that is about to commit is not torn in the middle: the first Ctrl-C is noted and the work ends; a second one
    leaves it behind on its daemon thread and is raised.
    """
    work = _Work(action)
    try:
        work.thread.start()
        work.finished.wait()
    except KeyboardInterrupt:
        if not work.begun():
            raise
        work.finished.wait()
        return work.result(), True
    return work.result(), False
