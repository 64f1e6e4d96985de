"""Seeds of the simulators: the quick stage lives through a few, ``make crash`` through ten thousand."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.support.clock import START
from tests.support.crash import script
from tests.support.crash.mindsim import CALM, Photo, laws
from tests.support.crash.promises import Promises
from tests.support.crash.sim import lives_of
from tests.support.crash.stages import PROJECT
from tests.support.crash.world import fact_id

ANN, BOB = "memory/ltm/Ann.json", "memory/ltm/Bob.json"
REMEMBER = replace(CALM, action="remember", text="The lamp is red.")


def replay(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sim", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_seeds_break_nothing() -> None:
    replay("--seed", "0", "--count", "12")


@pytest.mark.timeout(300)
def test_a_seed_is_lived_through_in_the_same_way_again() -> None:
    mine, again = (replay("--seed", "3").rpartition("trace ")[2] for _ in range(2))
    assert mine == again


def test_a_seed_always_tells_the_same_story() -> None:
    assert lives_of(42) == lives_of(42) != lives_of(43)
    assert script.lives_of(42) == script.lives_of(42) != script.lives_of(43)


def photo(name: str, sequence: int, *texts: str) -> Photo:
    rows = [{"id": fact_id(text), "text": text} for text in texts]
    return {name: json.dumps({"sequence": sequence, "entries": rows}).encode()}


@pytest.mark.parametrize(
    ("changed", "before", "after", "told"),
    [
        ({}, photo(ANN, 1, "one"), photo(ANN, 2, "one", "two"), None),
        ({"companion": "late"}, photo(ANN, 1, "one"), photo(ANN, 2), "written while the companion was late"),
        ({}, photo(BOB, 1, "one"), photo(BOB, 2), f"rows of Bob in {BOB} changed"),
        ({}, photo(ANN, 2, "one"), photo(ANN, 1, "one"), f"{ANN} went back"),
        ({}, photo(ANN, 2, "one"), {}, f"{ANN} is gone"),
    ],
)
def test_the_laws_notice_what_breaks_them(
    changed: dict[str, script.Companion], before: Photo, after: Photo, told: str | None
) -> None:
    found = list(laws(replace(REMEMBER, **changed), before, after, None, START))  # type: ignore[arg-type]

    assert found == ([] if told is None else [told])


def test_a_promise_that_is_not_kept_is_noticed() -> None:
    row = (ANN, fact_id(REMEMBER.text), "")
    line = {"ok": True, "changed": "yes", "id": row[1], "now": START.isoformat()}
    promises = Promises()

    promises.take(REMEMBER, line, single=True)
    promises.judge({row}, {ANN: 2}, "", START)
    assert promises.broken == []
    promises.judge(set(), {ANN: 1}, "", START)
    assert promises.broken == [f"{row} was acknowledged and is lost", f"the sequence of {ANN} went back"]

    promises = Promises()
    promises.take(replace(REMEMBER, action="forget"), line, single=True)
    promises.judge({row}, {}, "", START)
    assert promises.broken == [f"{row} was forgotten and is back"]
