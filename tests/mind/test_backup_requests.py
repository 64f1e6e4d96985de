"""What was noted about requests is no memory: it stands in no backup's way, and a backup's stands in no way of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import Answer
    from tests.mind.conftest import Start
    from tests.support.clock import ManualClock
    from tests.support.desk import Desk


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    found = start()
    found.open(cwd=project)
    found.say("/mind remember The port is 5433.")
    return found


def ask(desk: Desk, clock: ManualClock, times: int = 1) -> None:
    """Let a model be asked, and what stood in its request be noted."""
    for _ in range(times):
        desk.runtime.blocks("Which port?")
        desk.runtime.settled()
        clock.advance(60)


def noted(profile: Path) -> Path:
    (path,) = (profile / "recorder").glob("*.json")
    return path


def restored(desk: Desk, saved: Path, *words: str) -> Answer:
    return desk.say(f"/mind restore {saved} --yes {' '.join(words)}")


def test_a_request_since_a_backup_is_nothing_that_restoring_would_take_back(
    desk: Desk, profile: Path, clock: ManualClock, tmp_path: Path
) -> None:
    ask(desk, clock)
    desk.say(f"/mind backup {tmp_path / 'saved'}")
    before = noted(profile).read_bytes()
    ask(desk, clock)
    went_on = noted(profile).read_bytes()
    assert went_on != before
    unchanged = restored(desk, tmp_path / "saved")
    assert (unchanged.ok, unchanged.changed, noted(profile).read_bytes()) == (True, "no", went_on)

    store = profile / "memory/ltm/_default.json"
    for path in (store, store.with_name("_default.json.bak")):
        path.unlink(missing_ok=True)
    answer = restored(desk, tmp_path / "saved")

    assert (answer.ok, answer.changed) == (True, "yes")
    assert (noted(profile).read_bytes(), "recorder" in answer.text) == (went_on, False)
    assert desk.say("/mind recall port").details["count"] == 1


def test_a_fact_since_a_backup_is_named_and_the_requests_beside_it_are_not(
    desk: Desk, profile: Path, clock: ManualClock, tmp_path: Path
) -> None:
    ask(desk, clock)
    desk.say(f"/mind backup {tmp_path / 'saved'}")
    ask(desk, clock)
    desk.say("/mind remember The gate opens at nine.")
    refused = restored(desk, tmp_path / "saved")
    assert refused.details["reason"] == "newer"
    assert refused.details["documents"] == ["memory/ltm/_default.json"]
    went_on = noted(profile).read_bytes()
    assert restored(desk, tmp_path / "saved", "--newer").ok
    assert noted(profile).read_bytes() == went_on


@pytest.mark.parametrize("how", ["gone", "damaged", "older"])
def test_what_was_noted_comes_back_where_it_is_lost(
    desk: Desk, profile: Path, clock: ManualClock, tmp_path: Path, how: str
) -> None:
    ask(desk, clock)
    older = noted(profile).read_bytes()
    ask(desk, clock)
    desk.say(f"/mind backup {tmp_path / 'saved'}")
    path = noted(profile)
    path.with_name(f"{path.name}.bak").unlink(missing_ok=True)
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(older if how == "older" else b"{")

    answer = restored(desk, tmp_path / "saved")

    assert (answer.ok, answer.changed) == (True, "yes")
    assert len(json.loads(noted(profile).read_bytes())["entries"]) == 2
