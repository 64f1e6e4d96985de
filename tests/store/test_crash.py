"""Injured at its file effects, an operation happens or does not, says which, and never keeps the next one out.

This is the quick stage, which takes a share of the points; ``make crash`` takes all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.crash.battery import Operation, child, injure, untidy
from tests.support.crash.checks import scratch
from tests.support.crash.documents import OPERATIONS
from tests.support.crash.whole import WHOLE

if TYPE_CHECKING:
    from pathlib import Path

SHARE = {"erase": 61, "move": 19, "backup": 11, "restore": 11, "merge": 11}


@pytest.mark.parametrize("operation", [*OPERATIONS, *WHOLE], ids=lambda operation: operation.name)
def test_an_injured_operation_keeps_its_promise(operation: Operation) -> None:
    report = injure(operation, scratch(), every=SHARE.get(operation.name, 13))

    assert report.violations == []
    assert report.points >= 6


def test_the_harness_notices_a_lie_about_what_changed(tmp_path: Path) -> None:
    def run(root: Path) -> None:
        (root / "state").write_text("new")
        raise OSError

    def quiet(root: Path) -> None:
        (root / "state").write_text("new")

    report = injure(Operation("lying", lambda root: None, quiet, lambda root: (root / "state").exists()), tmp_path)

    assert report.points == 0
    outcome = child(lambda: run(tmp_path))
    assert (outcome.word, outcome.expected) == ("OSError", False)


def test_the_harness_notices_open_modes_and_leftovers(tmp_path: Path) -> None:
    (tmp_path / ".x.tmp-0").touch(mode=0o600)
    (tmp_path / "open").touch(mode=0o644)

    assert sorted(untidy(tmp_path)) == [".x.tmp-0 was left behind", "open can be read by others"]
