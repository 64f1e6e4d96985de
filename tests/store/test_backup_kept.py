"""What restorations replaced and the days' backups: which are kept, and that only newer ones take their place."""

from __future__ import annotations

import errno
import os
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import PersonaError
from persona_store import backup, restoration
from persona_store.locks import Rank
from persona_store.transaction import Profile
from tests.store.test_backup import BACKLOG, ELITE, NOW, SHARED, Machine, keys_of, refuse_to_replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def machine(agent_dir: Path) -> Machine:
    return Machine(agent_dir / "persona-mind")


def replaced(machine: Machine) -> list[str]:
    return [name for name in backup.shelved(machine.profile.root) if name.startswith("before-restore-")]


def in_copies(machine: Machine, relative: str) -> list[str]:
    """Return the id that only what a restoration replaced has, of each copy that is kept, in order."""
    copies = [machine.profile.root / "backups" / name / "documents" for name in replaced(machine)]
    return [Machine(copy).ids(relative)[-1] for copy in copies]


def _newer_release(machine: Machine, relative: str, _: pytest.MonkeyPatch) -> None:
    machine.path(relative).write_text('{"version": 9}')


def _link(machine: Machine, relative: str, _: pytest.MonkeyPatch) -> None:
    machine.path(relative).rename(machine.path(relative).with_name("elsewhere"))
    machine.path(relative).symlink_to("elsewhere")


def _full_disk(machine: Machine, relative: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_to_replace(monkeypatch, machine.path(relative))


def _nobody_owns_it(machine: Machine, relative: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The permit is refused once the change is about to be made."""
    del relative
    real = restoration.restore

    def check() -> None:
        if len(replaced(machine)) > 3:
            raise PersonaError("the owner changed", reason="owner")

    def restore(*arguments: Any, **keywords: Any) -> restoration.Restored:  # noqa: ANN401 - as there
        return real(*arguments, **keywords, check=check)

    monkeypatch.setattr(restoration, "restore", restore)


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
@pytest.mark.parametrize("refusal", [_newer_release, _link, _full_disk, _nobody_owns_it])
def test_a_restoration_that_replaces_nothing_costs_no_copy_of_what_earlier_ones_replaced(
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    relative: str,
    refusal: Callable[[Machine, str, pytest.MonkeyPatch], None],
) -> None:
    for name in (relative, SHARED):
        machine.add(name, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for number in range(3):
        machine.add(SHARED, f"replaced {number}")
        machine.restore(made)
    machine.add(relative, "acknowledged")
    before = replaced(machine)
    refusal(machine, relative, monkeypatch)

    for _ in range(4):
        try:
            restored = machine.restore(made)
        except PersonaError as error:
            assert "kept" not in error.details  # noqa: PT017 - one of the refusals is told as what comes back
        else:
            assert (restored.documents, [left.document for left in restored.left]) == ((), [relative])
            assert restored.kept is None
        assert replaced(machine) == before
    assert in_copies(machine, SHARED) == ["replaced 0", "replaced 1", "replaced 2"]


def test_a_restoration_whose_copy_does_not_go_again_cannot_say_that_nothing_was_changed(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add(ELITE, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(ELITE, "acknowledged")

    def rmdir(*_: Any, **__: Any) -> None:  # noqa: ANN401 - as in os
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        refuse_to_replace(broken, machine.path(ELITE))
        broken.setattr(os, "rmdir", rmdir)
        with pytest.raises(PersonaError) as caught:
            machine.restore(made)

    assert (caught.value.changed, [caught.value.details["kept"]]) == ("unknown", replaced(machine))


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
def test_what_nobody_knows_to_be_replaced_counts_as_replaced(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relative: str
) -> None:
    """The disk does not confirm the change, once the document has taken its place."""
    machine.add(relative, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(relative, "acknowledged")
    real, path, moved = os.fsync, machine.path(relative), machine.path(relative).read_bytes()

    def fsync(descriptor: int) -> None:
        if path.read_bytes() != moved and os.path.samestat(os.fstat(descriptor), path.parent.stat()):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fsync)
        with pytest.raises(PersonaError) as caught:
            machine.restore(made)

    assert machine.ids(relative) == ["one"]
    assert caught.value.details["kept"] in replaced(machine)
    assert in_copies(machine, relative) == ["acknowledged"]


def test_of_restorations_that_replace_no_more_than_a_backlog_three_copies_are_kept(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(BACKLOG, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for number in range(5):
        machine.add(BACKLOG, f"replaced {number}")
        assert machine.restore(made).kept is not None

    assert in_copies(machine, BACKLOG) == ["replaced 2", "replaced 3", "replaced 4"]


def test_who_is_kept_from_letting_copies_go_has_restored_all_the_same(machine: Machine, tmp_path: Path) -> None:
    machine.add(BACKLOG, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    other, done = Profile(machine.profile.root, lambda: NOW), threading.Event()
    threads: list[threading.Thread] = []

    def hold(taken: threading.Event) -> None:
        with other.transaction():
            taken.set()
            done.wait()

    def check() -> None:
        if replaced(machine) and not machine.profile.locks.holds(Rank.TRANSACTION, "memory") and not threads:
            taken = threading.Event()
            threads.append(threading.Thread(target=hold, args=(taken,)))
            threads[0].start()
            taken.wait()

    machine.add(BACKLOG, "replaced")
    try:
        restored = restoration.restore(machine.profile, made, keys_of, check=check)
    finally:
        done.set()
        for thread in threads:
            thread.join()

    assert len(threads) == 1
    assert (restored.documents, machine.ids(BACKLOG)) == ((BACKLOG,), ["one"])
    assert in_copies(machine, BACKLOG) == ["replaced"]


CLOCKS: dict[str, list[timedelta]] = {
    "set back for long": [timedelta(days=-2000 + number) for number in range(6)],
    "set back and forth": [timedelta(days=days) for days in (0, -900, 400, -900, 1, 400, 2)],
    "once ahead by far": [timedelta(days=days) for days in (0, 20_000, 1, 2, 3, 4)],
    "standing still": [timedelta(0)] * 6,
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_whatever_the_clock_does_the_copies_of_the_last_three_restorations_are_kept(
    machine: Machine, tmp_path: Path, clock: str
) -> None:
    machine.add(ELITE, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for number, moved in enumerate(CLOCKS[clock]):
        machine.now = NOW + moved
        machine.add(ELITE, f"{number}")
        machine.restore(made)

        assert in_copies(machine, ELITE) == [f"{one}" for one in range(number + 1)][-3:]


@pytest.mark.parametrize("name", ["before-restore-99999999T999999999Z", "before-restore-99991231T235959999Z"])
def test_a_name_that_tells_no_moment_with_one_after_it_keeps_nothing_from_being_kept(
    machine: Machine, tmp_path: Path, name: str
) -> None:
    machine.add(ELITE, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    (machine.profile.root / "backups" / name).mkdir(parents=True)
    for number in range(3):
        machine.add(ELITE, f"{number}")
        machine.restore(made)

    assert name not in replaced(machine)
    assert in_copies(machine, ELITE) == ["0", "1", "2"]


def test_a_clock_set_back_for_long_costs_older_days_and_no_newer_one(machine: Machine) -> None:
    machine.add(ELITE, "one")
    made: list[str] = []

    def days(first: datetime, number: int) -> None:
        for day in range(number):
            machine.now = first + timedelta(days=day)
            daily = backup.daily(machine.profile)
            assert daily is not None
            made.append(daily.name)
            assert set(backup.dailies(machine.profile.root)) == set(made[-7:])

    days(NOW, 8)
    days(NOW - timedelta(days=2000), 9)


@pytest.mark.parametrize("back", [1, 2])
def test_a_day_that_somebody_lives_twice_costs_no_newer_one(machine: Machine, back: int) -> None:
    """Whoever flies west has a date again that was over elsewhere."""
    machine.add(ELITE, "one")
    for day in range(7):
        machine.now = NOW + timedelta(days=day if day < 6 else day + back)
        backup.daily(machine.profile)
    before = backup.dailies(machine.profile.root)
    machine.now = NOW + timedelta(days=6)
    made = backup.daily(machine.profile)

    assert made is not None
    assert backup.dailies(machine.profile.root) == sorted([*before[1:], made.name])


def test_a_day_far_ahead_does_not_stay_for_good(machine: Machine) -> None:
    machine.add(ELITE, "one")
    machine.now = NOW + timedelta(days=20_000)
    backup.daily(machine.profile)
    for day in range(7):
        machine.now = NOW + timedelta(days=day)
        backup.daily(machine.profile)

    assert backup.dailies(machine.profile.root) == [f"daily-2026-03-{day:02}" for day in range(2, 9)]
