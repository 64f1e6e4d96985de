"""Tombstones keep their texts out whatever became of the file that holds them, or say that they cannot."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import CapacityError, CorruptError
from persona_store import backup, doctor, restoration, tombstones
from persona_store.tombstones import Tombstones
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOMENT = "2026-03-02T09:30:00.000Z"


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    return Profile(agent_dir / "persona-mind", lambda: datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


@pytest.fixture
def path(profile: Profile) -> Path:
    return profile.root / "tombstones.json"


def erased(profile: Profile, *keys: str) -> None:
    with profile.transaction() as transaction:
        Tombstones(profile).add(transaction, keys, MOMENT)
        Tombstones(profile).mark_swept(transaction, keys)


def words(profile: Profile) -> set[str]:
    return {found.word for found in doctor.examine(profile) if found.path == "tombstones.json"}


def previous(path: Path) -> Path:
    return path.with_name(f"{path.name}.bak")


@pytest.mark.parametrize("known", [True, False])
def test_a_file_put_back_to_an_older_version_lets_nothing_in_that_was_erased_since(
    profile: Profile, path: Path, *, known: bool
) -> None:
    """Whether or not this process looked at it before."""
    stones = Tombstones(profile)
    erased(profile, "first")
    old = path.read_bytes()
    erased(profile, "second")
    if known:
        assert stones.any_stands(["second"])
    path.write_bytes(old)

    for asked in (stones, Tombstones(Profile(profile.root, profile.now))):
        assert [asked.stands(key) for key in ("first", "second", "third")] == [True, True, False]
    assert words(profile) == {"backup_newer"}

    # Its person chooses to go on from the older one.
    previous(path).unlink()
    assert [stones.stands(key) for key in ("first", "second")] == [True, False]


def test_what_another_program_puts_beside_an_older_file_is_seen_at_once(profile: Profile, path: Path) -> None:
    stones = Tombstones(profile)
    versions = []
    for key in ("first", "second", "third"):
        erased(profile, key)
        versions.append(path.read_bytes())
    path.write_bytes(versions[0])
    previous(path).write_bytes(versions[1])
    for _ in range(2):
        assert [stones.stands(key) for key in ("second", "third")] == [True, False]
        time.sleep(0.1)  # until the stamps tell every later change

    previous(path).write_bytes(versions[2])
    assert stones.stands("third")


def test_an_older_file_whose_newer_version_cannot_be_read_is_an_error_and_never_a_yes_or_no(
    profile: Profile, path: Path
) -> None:
    erased(profile, "first")
    old = path.read_bytes()
    erased(profile, "second")
    path.write_bytes(old)
    held = previous(path).read_bytes()
    previous(path).write_bytes(held[:-9])
    stones = Tombstones(profile)

    with pytest.raises(CorruptError) as caught:
        stones.stands("third")
    assert caught.value.reason == "backup_newer"

    previous(path).write_bytes(held)
    assert [stones.stands(key) for key in ("second", "third")] == [True, False]


def test_a_previous_version_that_is_as_it_should_be_adds_nothing(profile: Profile, path: Path) -> None:
    stones = Tombstones(profile)
    erased(profile, "first")
    with profile.transaction() as transaction:
        assert stones.lift(transaction, "first")

    assert b'"id"' in previous(path).read_bytes()
    assert not stones.stands("first")


Change = dict[str, Any]
ROWS: dict[str, Callable[[Change], Change]] = {
    "a date for a yes": lambda row: row | {"swept": "2027-01-01"},
    "no moment": lambda row: {name: value for name, value in row.items() if name != "erasedAt"},
    "a number for a moment": lambda row: row | {"erasedAt": 5},
    "a long moment": lambda row: row | {"erasedAt": "x" * 41},
    "its hash alone": lambda row: {"id": row["id"]},
}


def spoil(path: Path, change: Callable[[Change], object]) -> None:
    held = json.loads(path.read_text())
    held["entries"] = [change(row) for row in held["entries"]]
    path.write_text(json.dumps(held))


@pytest.mark.parametrize("row", ROWS)
def test_a_tombstone_keeps_its_text_out_whatever_else_stands_in_its_row_until_its_person_insists(
    profile: Profile, path: Path, row: str
) -> None:
    erased(profile, "said")
    spoil(path, ROWS[row])
    stones = Tombstones(profile)

    assert (stones.stands("said"), stones.stands("else")) == (True, False)
    assert words(profile) == set()
    erased(profile, "else")
    with profile.transaction() as transaction:
        assert stones.lift(transaction, "said")
    assert (stones.stands("said"), stones.stands("else")) == (False, True)


@pytest.mark.parametrize("row", ROWS)
def test_no_new_key_is_made_beside_tombstones_that_only_the_old_one_reads(
    profile: Profile, path: Path, row: str
) -> None:
    erased(profile, "said")
    spoil(path, ROWS[row])
    (profile.root / "profile.key").unlink()

    with pytest.raises(CorruptError):
        erased(profile, "else")
    assert not (profile.root / "profile.key").exists()


@pytest.mark.parametrize("row", [{"id": "x" * 64}, {"id": 5}, {"erasedAt": MOMENT, "swept": True}, "said", 5, None])
def test_a_row_whose_hash_nobody_can_tell_is_told_of_and_a_backup_brings_it_back(
    profile: Profile, path: Path, tmp_path: Path, row: object
) -> None:
    erased(profile, "said")
    made = backup.backup(profile, tmp_path / "saved")
    spoil(path, lambda _: row)
    assert "tombstones_unreadable" in words(profile)

    restoration.restore(profile, made, lambda _: ())

    assert Tombstones(profile).stands("said")


@pytest.mark.parametrize("standing", [0, 3])
def test_an_erasure_of_more_than_can_be_kept_in_mind_is_refused_before_it_begins_and_says_what_can_be_done(
    profile: Profile, path: Path, monkeypatch: pytest.MonkeyPatch, standing: int
) -> None:
    monkeypatch.setattr(tombstones, "MAX_ENTRIES", 4)
    erased(profile, *map(str, range(standing)))
    before = path.read_bytes() if standing else b""

    with pytest.raises(
        CapacityError, match=r"nothing was changed. Erase fewer memories, and forget the others"
    ) as told:
        erased(profile, *(f"another {number}" for number in range(5 - standing)))

    assert (told.value.changed, told.value.details["size"]) == ("no", 5)
    assert (path.read_bytes() if path.exists() else b"") == before
    erased(profile, *(f"another {number}" for number in range(4 - standing)))
