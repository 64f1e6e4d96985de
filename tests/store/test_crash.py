"""Injured at its file effects, an operation happens or does not, says which, and never keeps the next one out.

This is the quick stage, which takes a share of the points; ``make crash`` takes all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from tests.support.crash.battery import Operation, child, injure, untidy
from tests.support.crash.documents import OPERATIONS
from tests.support.crash.stages import run_stage
from tests.support.crash.whole import WHOLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def reports() -> dict[str, object]:
    return run_stage("operations")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [operation.name for operation in (*OPERATIONS, *WHOLE)])
def test_an_injured_operation_keeps_its_promise(reports: dict[str, object], name: str) -> None:
    report = cast("dict[str, object]", reports[name])

    assert report["violations"] == []
    assert cast("int", report["points"]) >= 20


def _seed(root: Path) -> None:
    (root / "state").write_text("old")
    (root / "state").chmod(0o600)


def _read(root: Path) -> str:
    return (root / "state").read_text()


def test_the_harness_notices_a_change_in_place(tmp_path: Path) -> None:
    import os  # noqa: PLC0415 - the harness replaces its functions in the child

    def run(root: Path) -> None:
        descriptor = os.open(str(root / "state"), os.O_WRONLY | os.O_TRUNC)
        os.write(descriptor, b"new")
        os.close(descriptor)

    report = injure(Operation("in place", _seed, run, _read), tmp_path, ("kill_before", "errno"))

    assert any("illegal state" in violation for violation in report.violations)
    assert any("not an error of ours" in violation for violation in report.violations)


def test_the_harness_notices_what_is_not_acknowledged_but_raised(tmp_path: Path) -> None:
    def run() -> None:
        raise OSError

    outcome = child(run)
    assert (outcome.word, outcome.expected) == ("OSError", False)
    assert not list(tmp_path.iterdir())


def test_the_harness_notices_open_modes_and_leftovers(tmp_path: Path) -> None:
    (tmp_path / ".x.tmp-0").touch(mode=0o600)
    (tmp_path / "open").touch(mode=0o644)

    assert sorted(untidy(tmp_path)) == [".x.tmp-0 was left behind", "open can be read by others"]
