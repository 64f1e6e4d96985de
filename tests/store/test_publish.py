"""A file that a person asked for is there whole or not at all, and the next one to ask finds nothing left over."""

from __future__ import annotations

import errno
import os
from functools import partial
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import RefusedError
from persona_store.publish import publish
from tests.support.crash.battery import Operation
from tests.support.crash.checks import scratch
from tests.support.crash.inside import injure_inside

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, data: bytes = b"new", *, replace: bool = True) -> None:
    publish(root / "out.zip", data, replace=replace)


def held(root: Path) -> bytes | None:
    return (root / "out.zip").read_bytes() if (root / "out.zip").exists() else None


def nothing(_root: Path) -> None:
    """Begin without anything."""


OPERATIONS = (
    Operation("new", nothing, partial(put, replace=False), held, put),
    Operation("replaced", partial(put, data=b"old"), put, held),
)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_injured_at_any_effect_it_is_whole_or_not_there_and_says_which(operation: Operation) -> None:
    kinds = ("kill_before", "kill_after", "interrupt", "short", "errno")

    assert injure_inside(operation, scratch(), kinds) == []


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, b"old")

    with pytest.raises(RefusedError):
        put(tmp_path, replace=False)
    assert (held(tmp_path), len(list(tmp_path.iterdir()))) == (b"old", 1)


def test_a_leftover_that_cannot_be_removed_does_not_deny_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "no")

    monkeypatch.setattr(os, "unlink", fail)
    put(tmp_path, replace=False)

    assert held(tmp_path) == b"new"
