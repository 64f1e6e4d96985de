"""The checks are only worth something if they notice an engine that breaks its promise."""

from __future__ import annotations

import pytest

from tests.support.crash.checks import CHECKS
from tests.support.crash.mutants import MUTANTS
from tests.support.crash.stages import run_stage

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def healthy() -> dict[str, object]:
    return run_stage("checks")


@pytest.fixture(scope="module")
def injured() -> dict[str, object]:
    return run_stage("mutants")


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_shipped_engine_passes(healthy: dict[str, object], name: str) -> None:
    assert healthy[name] == []


@pytest.mark.parametrize("name", [mutant.name for mutant in MUTANTS])
def test_an_injured_engine_is_noticed(injured: dict[str, object], name: str) -> None:
    assert injured[name] != []
