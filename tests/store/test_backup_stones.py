"""What the tombstones of a backup keep out of what it brings, whether or not they come to stand in the profile."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import StorageError
from persona_store import backup
from persona_store.erase import Target, erase
from persona_store.tombstones import Tombstones
from tests.store.test_backup import BACKLOG, ELITE, PRIVATE, STONE, Machine, begin_erasing, refuse_to_replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRIFLE = Target(("text of a trifle",), (json.dumps(["note", "text of a trifle"]),))


def holding(machine: Machine) -> list[str]:
    return [
        path.name
        for path in machine.profile.root.rglob("*")
        if path.is_file() and PRIVATE.encode() in path.read_bytes()
    ]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a backup that was made elsewhere while an erasure stood unfinished there."""
    there = Machine(tmp_path / "there")
    for relative in (ELITE, BACKLOG):
        there.add(relative, "a private thing", "one")
    begin_erasing(there)
    return backup.backup(there.profile, tmp_path / "saved")


@pytest.fixture
def machine(agent_dir: Path) -> Machine:
    """Return a machine on which only something was said."""
    machine = Machine(agent_dir / "persona-mind")
    machine.add("memory/ltm/_shared.json", "else")
    return machine


def _the_disk_is_full(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_to_replace(monkeypatch, machine.path("tombstones.json"))


def _the_original_holds_it(machine: Machine, _: pytest.MonkeyPatch) -> None:
    machine.path("tombstones.json.lock").write_text(f"{os.uname().nodename}:{os.getpid()}-1")


def _the_key_cannot_come(machine: Machine, _: pytest.MonkeyPatch) -> None:
    machine.path("profile.key").symlink_to("nowhere")


@pytest.mark.parametrize("refusal", [_the_disk_is_full, _the_original_holds_it, _the_key_cannot_come])
def test_nothing_comes_in_for_good_while_the_tombstones_that_keep_it_out_cannot(
    machine: Machine, saved: Path, monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., None]
) -> None:
    with monkeypatch.context() as refused:
        refusal(machine, refused)
        try:
            restored = machine.restore(saved, timeout=0.2)
        except StorageError as error:
            assert error.details["left"] == ["tombstones.json"]  # noqa: PT017 - one of the refusals is told so
        else:
            assert {"tombstones.json", "profile.key"} & {left.document for left in restored.left}
        assert holding(machine) == []
    for name in ("tombstones.json.lock", "profile.key"):
        if machine.path(name).is_symlink() or name.endswith(".lock"):
            machine.path(name).unlink(missing_ok=True)

    restored = machine.restore(saved)

    assert (restored.left, restored.foreign) == ((), False)
    assert (machine.ids(ELITE), machine.ids(BACKLOG), holding(machine)) == (["one"], ["one"], [])
    assert Tombstones(machine.profile).stands(STONE)


def test_tombstones_of_another_key_keep_out_of_their_backup_what_they_kept_out_and_that_they_do_not_join_is_told(
    machine: Machine, saved: Path
) -> None:
    machine.add(ELITE, "mine")
    erase(machine.profile, TRIFLE)
    key = machine.path("profile.key").read_bytes()

    restored = machine.restore(saved)

    assert (restored.foreign, restored.withheld, restored.left) == (True, 2, ())
    assert (machine.ids(ELITE), machine.ids(BACKLOG), holding(machine)) == (["one"], ["one"], [])
    assert machine.path("profile.key").read_bytes() == key
    assert Tombstones(machine.profile).stands(TRIFLE.keys[0])
    assert machine.restore(saved).foreign is True


def test_another_key_is_no_matter_where_nothing_was_erased_under_it(machine: Machine, tmp_path: Path) -> None:
    there = Machine(tmp_path / "there")
    there.add(ELITE, "one")
    erase(there.profile, TRIFLE)
    with there.profile.transaction() as transaction:
        Tombstones(there.profile).lift(transaction, TRIFLE.keys[0])
    made = backup.backup(there.profile, tmp_path / "saved")
    erase(machine.profile, TRIFLE)

    assert machine.restore(made).foreign is False


def test_tombstones_whose_backup_has_no_key_are_read_by_the_one_here_or_nothing_comes_in(
    machine: Machine, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = (saved / "documents/profile.key").read_bytes()
    (saved / "documents/profile.key").unlink()
    manifest = json.loads((saved / "manifest.json").read_text())
    del manifest["files"]["documents/profile.key"]
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with monkeypatch.context() as refused:
        refuse_to_replace(refused, machine.path("tombstones.json"))
        with pytest.raises(StorageError) as caught:
            machine.restore(saved)
    assert set(caught.value.details["left"] or ()) == {"tombstones.json", ELITE, BACKLOG}  # type: ignore[arg-type]

    machine.path("profile.key").touch(mode=0o600)
    machine.path("profile.key").write_bytes(key)

    assert machine.restore(saved).withheld == 2
    assert (machine.ids(ELITE), holding(machine)) == (["one"], [])
