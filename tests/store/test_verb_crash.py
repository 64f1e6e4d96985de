"""Whatever interrupts a verb or refuses it a file: it happened or did not, it says which, and the next writer gets in.

This is the quick stage, a few points of each verb; ``make crash`` takes every point of every one.
"""

from __future__ import annotations

from typing import cast

import pytest

from tests.support.crash.__main__ import QUICK_VERBS
from tests.support.crash.stages import run_stage
from tests.support.crash.verbs import every_name, without_a_case


@pytest.fixture(scope="module")
def reports() -> dict[str, object]:
    return run_stage("verbs")


def test_every_verb_that_changes_something_is_injured() -> None:
    missing = without_a_case()
    assert not missing, f"give these a case in tests/support/crash/verbs.py: {', '.join(missing)}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", every_name())
def test_an_injured_verb_keeps_its_promise(reports: dict[str, object], name: str) -> None:
    report = cast("dict[str, object]", reports[name])

    assert report["violations"] == []
    assert cast("int", report["points"]) == QUICK_VERBS
