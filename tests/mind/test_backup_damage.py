"""What is damaged in a profile is told when it is backed up and when it is brought back, and stops neither."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.mind.test_safekeeping import OTHER, done

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.mind.conftest import Start
    from tests.support.clock import ManualClock

ANN = "memory/ltm/Ann.json"


def test_a_large_file_does_not_keep_the_days_backup_from_being_taken(
    start: Start, profile: Path, clock: ManualClock
) -> None:
    desk = start()
    desk.open()
    desk.say(f"/mind remember {OTHER}")
    (profile / "memory/ltm/large.json").write_bytes(b" " * (5 * 1024 * 1024))
    desk.runtime.blocks("Which port?")
    desk.runtime.settled()
    clock.advance(60)

    assert [one["name"] for one in desk.say("/mind backups").details["backups"]] == ["daily-2026-03-02"]


def test_a_damaged_document_is_told_of_and_comes_back_as_reading_serves_it(
    mind: Mind, profile: Path, tmp_path: Path
) -> None:
    for text in (OTHER, "The gate opens at nine.", "Paint the mast."):
        mind.remember(text)
    live = profile / ANN
    live.write_bytes(live.read_bytes()[:-9])

    saved = mind.call("profile.backup", {"path": str(tmp_path / "saved")})

    assert saved.details["damaged"] == [{"changed": "no", "document": ANN, "fault": "previous"}]
    assert f"{ANN}: damaged; the backup brings its previous version back" in saved.text
    assert saved.card.level == "warning"
    shutil.rmtree(profile)
    back = mind.call("profile.restore", {"path": str(tmp_path / "saved"), "yes": True})
    assert (back.changed, back.card.level) == ("yes", "warning")
    assert f"{ANN}: damaged; the backup brings its previous version back" in back.text
    assert mind.recall().total == 2


def test_of_a_document_that_nobody_could_read_nothing_comes_back_and_that_is_said(
    mind: Mind, profile: Path, tmp_path: Path
) -> None:
    mind.remember(OTHER)
    (profile / ANN).write_bytes(b"torn")
    saved = mind.call("profile.backup", {"path": str(tmp_path / "saved")})
    assert f"{ANN}: damaged; the backup brings nothing of it back" in saved.text

    for yes in (False, True):
        back = mind.call("profile.restore", {"path": str(tmp_path / "saved"), "yes": yes})
        assert (back.changed, back.card.title) == ("no", "Nothing was restored.")
        assert f"{ANN}: damaged; the backup brings nothing of it back" in back.text


def test_restoring_is_the_way_out_of_what_nobody_can_read(mind: Mind, profile: Path, tmp_path: Path) -> None:
    mind.remember(OTHER)
    done(mind, "backlog.add", text="Paint the mast.")
    done(mind, "profile.backup", path=str(tmp_path / "saved"))
    (profile / ANN).write_bytes(b"torn")
    assert mind.call("memory.remember", {"text": "The gate opens at nine."}).error is not None

    back = mind.call("profile.restore", {"path": str(tmp_path / "saved"), "yes": True})

    assert (back.details["documents"], back.details["left"]) == ([ANN], [])
    assert mind.recall().total == 1
    assert mind.remember("The gate opens at nine.").id
    assert not [found for found in mind.doctor().findings if found.weight == "error"]
