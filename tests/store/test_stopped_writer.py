"""A writer that is stopped keeps others out, by name, and finishes when it goes on."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import BusyError
from tests.support.crash.documents import Item, ids, profile, store

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stopped_writer_is_named_and_finishes_when_it_goes_on(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _write_slowly(tmp_path, write_end)
    try:
        os.read(read_end, 1)
        os.waitpid(pid, os.WUNTRACED)
        with pytest.raises(BusyError) as caught, profile(tmp_path).transaction(timeout=0.05):
            pass
        assert f"process {pid} " in str(caught.value.details["holder"])

        os.kill(pid, signal.SIGCONT)
        assert os.waitpid(pid, 0)[1] == 0
        assert ids(tmp_path) == ["slow"]
    finally:
        os.close(read_end)
        os.close(write_end)


def _write_slowly(root: Path, told: int) -> None:
    ended = 1
    try:
        mine, document = store(root)
        with mine.transaction() as transaction:
            os.write(told, b"x")
            os.kill(os.getpid(), signal.SIGSTOP)
            transaction.update(document, lambda _: [document.row(Item(id="slow", text="text"))])
        ended = 0
    finally:
        os._exit(ended)
