"""Work that Ctrl-C does not tear."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from persona_host.embedded.undisturbed import undisturbed

if TYPE_CHECKING:
    from types import FrameType


def test_the_result_comes_back() -> None:
    assert undisturbed(lambda: 7) == (7, False)


def test_an_error_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        undisturbed(lambda: 1 // 0)


def test_ctrl_c_waits_for_the_work_and_is_told() -> None:
    """The work itself presses Ctrl-C, and goes on only once the main thread has noticed."""
    noticed = threading.Event()

    def notice(_: int, __: FrameType | None) -> None:
        noticed.set()
        raise KeyboardInterrupt

    def work() -> str:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert noticed.wait(20)
        return "written"

    before = signal.signal(signal.SIGINT, notice)
    try:
        assert undisturbed(work) == ("written", True)
    finally:
        signal.signal(signal.SIGINT, before)
