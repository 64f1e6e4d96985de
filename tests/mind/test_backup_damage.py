"""What is damaged in a profile is told when it is backed up and when it is brought back, and stops neither."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import persona_mind
from persona_hooks.errors import UNCHANGED, BusyError
from persona_hooks.speech import phrase
from persona_mind.kernel.erased import stone
from persona_mind.notes.service import Notes
from persona_store.tombstones import Tombstones
from tests.mind.test_safekeeping import OTHER, done

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from persona_mind.library import Mind
    from tests.mind.conftest import Start
    from tests.support.clock import ManualClock

ANN = "memory/ltm/Ann.json"
SAID = "The gate opens at nine."


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


def test_tombstones_that_nobody_can_trust_are_told_of_and_the_way_out_with_them(
    mind: Mind, profile: Path, tmp_path: Path
) -> None:
    done(mind, "memory.erase", id=mind.remember("Water the flowers in the yard.").id)
    handle = mind.remember(OTHER).id
    done(mind, "profile.backup", path=str(tmp_path / "saved"))
    done(mind, "memory.erase", id=handle)
    for name in ("tombstones.json", "tombstones.json.bak"):
        (profile / name).write_bytes(b"torn")

    back = mind.call("profile.restore", {"path": str(tmp_path / "saved"), "yes": True, "newer": True})

    assert {one["document"]: one["reason"] for one in back.details["left"]} == dict.fromkeys(
        ("tombstones.json", ANN), "tombstones"
    )
    assert f"{ANN}: left out, since it may hold what was erased" in back.text
    assert "move it out of the profile by hand" in back.text
    assert mind.recall().total == 0


def test_that_a_backups_own_tombstones_could_not_join_is_told_and_what_they_keep_out_stays_out(
    mind: Mind, home: Path, tmp_path: Path
) -> None:
    """It was made on another machine, where an erasure stood unfinished; here, something was erased before."""
    with persona_mind.open(tmp_path / "there", cwd=home, persona="Ann", home=home) as there:
        there.remember(OTHER)
        for scope in ("persona", "shared"):
            there.remember(SAID, scope=scope)
        profile = there._plugin.services.facts.files.profile
        with profile.transaction() as transaction:
            Tombstones(profile).add(transaction, [stone(SAID)], "2026-03-02T09:30:00.000Z")
        done(there, "profile.backup", path=str(tmp_path / "saved"))
    done(mind, "memory.erase", id=mind.remember("A trifle of this machine.").id)

    back = mind.call("profile.restore", {"path": str(tmp_path / "saved"), "yes": True, "newer": True})

    assert (back.details["foreign"], back.details["withheld"], back.details["left"]) == (True, 2, [])
    assert "so the same words can be taken in again" in back.text
    assert mind.recall().total == 1


def test_what_follows_an_erasure_cannot_say_that_nothing_was_changed(
    mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = done(mind, "notes.save", text=OTHER).id

    def busy(*_: object) -> None:
        raise BusyError(phrase("The log is in use; {unchanged}.", unchanged=UNCHANGED))

    monkeypatch.setattr(Notes, "forget", busy)
    answer = mind.call("memory.erase", {"id": note})

    assert answer.changed == "unknown"
    assert "nothing was changed" not in answer.text
    assert done(mind, "memory.erase", id=note).what == "nothing"


def test_a_merge_that_stops_after_its_first_copy_cannot_say_that_nothing_was_changed(mind: Mind, profile: Path) -> None:
    mind.remember(OTHER)
    mind.remember(OTHER, scope="shared")
    for stem in ("Ann", "_shared"):
        held = (profile / f"memory/ltm/{stem}.json").read_bytes()
        copy = profile / f"memory/ltm/{stem} (conflicted copy 2026-03-02).json"
        copy.write_bytes(held.replace(b"staging", b"testing"))
    assert mind.recall("testing").count == 0
    whole = (profile / "memory/ltm/_shared.json").read_bytes()
    for name in ("_shared.json", "_shared.json.bak"):
        (profile / "memory/ltm" / name).write_bytes(b"torn")

    answer = mind.call("profile.merge", {})

    assert answer.changed == "unknown"
    assert "nothing was changed" not in answer.text
    (profile / "memory/ltm/_shared.json").write_bytes(whole)
    assert mind.recall("testing").count == 1
    assert [one.path for one in done(mind, "profile.merge").copies] == [
        "memory/ltm/_shared (conflicted copy 2026-03-02).json"
    ]
