"""Seeds of the simulators: the quick stage lives through a few, ``make crash`` through ten thousand."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.clock import START
from tests.support.crash import script, shelves
from tests.support.crash.mindsim import CALM, Photo, laws
from tests.support.crash.promises import Promises
from tests.support.crash.sim import lives_of
from tests.support.crash.stages import PROJECT
from tests.support.crash.world import fact_id

if TYPE_CHECKING:
    from pathlib import Path

ANN, BOB = "memory/ltm/Ann.json", "memory/ltm/Bob.json"
REMEMBER = replace(CALM, action="remember", text=script.TEXTS[0])


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
    replay("--seeds", "0-11")


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
    line = {"ok": True, "changed": "yes", "id": row[1], "now": START.isoformat(), "seen": []}
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


LAMP = (ANN, fact_id(REMEMBER.text), "")
ITEM = ("backlog", "item-1", "Ann")
SEEN = {"ok": True, "changed": "yes", "id": LAMP[1], "now": START.isoformat(), "seen": [], "what": "fact", "left": []}


def holding(*rows: tuple[str, str, str]) -> dict[str, object]:
    """What a backup with rows about the lamp would bring."""
    return {"places": sorted({row[0] for row in rows}), "rows": [[*row, 0, None] for row in rows]}


def promised(*steps: tuple[str, dict[str, object]]) -> Promises:
    promises = Promises()
    for action, line in steps:
        promises.take(replace(REMEMBER, action=action), {**SEEN, **line}, single=True)
    return promises


def test_what_was_erased_is_noticed_wherever_it_comes_back() -> None:
    promises = promised(("remember", {}), ("add", {"id": ITEM[1]}), ("erase", {}))
    promises.judge((), {}, "", START)
    assert promises.broken == []

    promises.take(replace(REMEMBER, action="hear"), {**SEEN, "seen": [0]}, single=False)
    assert promises.broken == ["text 0 was erased and is back"]


def test_what_a_person_insists_on_may_be_there_again_and_must_stay() -> None:
    promises = promised(("erase", {}), ("insist", {"seen": [0]}))
    promises.judge((), {}, "", START)

    assert promises.broken == [f"{LAMP} was acknowledged and is lost"]


def test_an_erasure_that_left_something_promises_nothing_of_it() -> None:
    promises = promised(("remember", {}), ("erase", {"left": ["somewhere"]}), ("doctor", {"seen": [0]}))
    promises.judge((), {}, "", START)

    assert promises.broken == []


def test_only_an_acknowledged_return_may_lose_what_its_backup_does_not_hold() -> None:
    promises = promised(("remember", {}), ("restore", holding(ITEM)))
    promises.judge({ITEM}, {}, "", START)
    assert promises.held.keys() == {LAMP, ITEM}
    assert promises.broken == [f"{LAMP} was acknowledged and is lost"]

    promises = promised(("remember", {}), ("restore", {**holding(ITEM), "places": ["backlog", ANN]}))
    promises.judge({ITEM}, {}, "", START)
    assert promises.broken == []


def test_a_return_that_was_interrupted_may_lose_only_what_it_would_have_taken() -> None:
    promises = promised(("remember", {}), ("restore", {**holding(LAMP), "changed": "unknown"}))
    promises.judge((), {}, "", START)
    assert promises.broken == [f"{LAMP} was acknowledged and is lost"]

    promises = promised(("remember", {}), ("restore", {**holding(), "places": [ANN], "changed": "unknown"}))
    promises.judge((), {}, "", START)
    assert promises.broken == []


def test_a_return_that_brings_back_what_was_erased_is_noticed() -> None:
    promises = promised(("erase", {}), ("restore", {**holding(LAMP), "seen": [0]}))

    assert LAMP not in promises.held
    assert promises.broken == ["text 0 was erased and is back"]


def test_bytes_of_an_erased_text_are_found_in_any_file_and_any_capitals(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/.odd.tmp-1").write_text("… THE RED LAMP STANDS IN ROOM 11 …")

    assert shelves.holding(tmp_path, {0, 1}) == ["deep/.odd.tmp-1 holds 'the red lamp stands in room 11'"]
