"""The calls that one platform has and another one lacks: what stands in for them does the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from persona_store import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["here", "missing"])
def descriptor(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An open file, on a system that has the calls for a place in a file and on one that has not."""
    if request.param == "missing":
        monkeypatch.delattr(os, "pread", raising=False)
        monkeypatch.delattr(os, "pwrite", raising=False)
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    opened = os.open(path, os.O_RDWR)
    yield opened
    os.close(opened)


def test_bytes_are_read_from_their_place_whatever_was_done_before(descriptor: int) -> None:
    assert files.pread(descriptor, 3, 4) == b"456"
    assert files.pread(descriptor, 3, 0) == b"012"
    assert files.pread(descriptor, 99, 8) == b"89"
    assert files.pread(descriptor, 3, 10) == b""


def test_bytes_are_written_at_their_place_whatever_was_done_before(descriptor: int) -> None:
    assert files.pwrite(descriptor, b"ab", 8) == 2
    assert files.pwrite(descriptor, b"cd", 0) == 2
    assert files.pwrite(descriptor, b"", 0) == 0
    assert files.pread(descriptor, 99, 0) == b"cd234567ab"
