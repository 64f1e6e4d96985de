"""The checks are only worth something if they notice an engine that breaks its promise."""

from __future__ import annotations

import importlib

import pytest

from tests.support.crash.battery import child
from tests.support.crash.checks import CHECKS
from tests.support.crash.mutants import MUTANTS, Mutant, apply


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_shipped_engine_passes(name: str) -> None:
    assert CHECKS[name]() == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_an_injured_engine_is_noticed(mutant: Mutant) -> None:
    outcome = child(lambda: _check(mutant))

    assert outcome.word == "acknowledged", outcome.detail
    assert outcome.value != []


def _check(mutant: Mutant) -> list[str]:
    apply(mutant)
    checks = importlib.import_module("tests.support.crash.checks")
    found: list[str] = checks.CHECKS[mutant.caught_by]()
    return found
