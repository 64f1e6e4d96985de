"""Run a stage of the battery in a process of its own and print what it found as JSON.

A lean process forks many times faster than one that has a whole test suite in memory.

    python -m tests.support.crash operations
    python -m tests.support.crash mutants
    python -m tests.support.crash verbs
"""

from __future__ import annotations

import importlib
import json
import sys

from tests.support.crash.battery import child, injure
from tests.support.crash.checks import CHECKS, killed, refused, scratch
from tests.support.crash.documents import OPERATIONS
from tests.support.crash.mutants import MUTANTS, Mutant, apply
from tests.support.crash.whole import WHOLE

QUICK = {"erase": 97, "move": 29, "repair": 19, "first add": 19}
"""The quick stage takes each n-th point of these; of the others each thirteenth."""


def operations(shares: dict[str, int], otherwise: int) -> dict[str, object]:
    """Injure every operation; return reports by name."""
    found: dict[str, object] = {}
    for operation in (*OPERATIONS, *WHOLE):
        report = injure(operation, scratch(), every=shares.get(operation.name, otherwise))
        found[operation.name] = report.plain()
    return found


QUICK_VERBS = 8
"""The quick stage takes so many points of each verb."""


def verbs() -> dict[str, object]:
    """Injure every verb a little; return reports by name."""
    # The whole host is loaded for them, and no other stage needs it.
    registry = importlib.import_module("tests.support.crash.verbs")
    return {one.name: injure(one, scratch(), sample=QUICK_VERBS).plain() for one in registry.operations()}


def mutants() -> dict[str, object]:
    """Let the check named for each mutant look at it; return what it found by name."""
    return {mutant.name: _noticed_in_time(mutant) for mutant in MUTANTS}


def _noticed_in_time(mutant: Mutant) -> list[str]:
    # What writers do to each other is a matter of chance: they meet within three rounds, or not at all.
    rounds = 3 if mutant.caught_by == "contended" else 1
    return next((found for _ in range(rounds) if (found := _noticed(mutant))), [])


def _noticed(mutant: Mutant) -> list[str]:
    outcome = child(lambda: _check(mutant))
    if outcome.word != "acknowledged":
        raise AssertionError(f"{mutant.name}: {outcome.word} {outcome.detail}")
    return [str(found) for found in outcome.value] if isinstance(outcome.value, list) else []


def _check(mutant: Mutant) -> list[str]:
    apply(mutant)
    checks = importlib.import_module("tests.support.crash.checks")
    found: list[str] = checks.CHECKS[mutant.caught_by]()
    return found


def checks() -> dict[str, object]:
    """Let every check look at the engine that ships; return what each found by name."""
    # The operations stage injures the same operation: here a look at some points is enough.
    fewer = {"killed": lambda: killed(every=6), "refused": lambda: refused(every=12)}
    return {name: fewer.get(name, check)() for name, check in CHECKS.items()}


def main(stage: str) -> object:
    """Run one stage."""
    match stage:
        case "operations":
            return operations(QUICK, 13)
        case "checks":
            return checks()
        case "verbs":
            return verbs()
        case "mutants":
            return mutants()
        case _:
            raise SystemExit(f"unknown stage {stage!r}")


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
