"""A backup holds what reading serves, whatever state the profile is in, and restoring it is a way out of any state."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import CorruptError, RefusedError, StorageError
from persona_store import backup, backup_contents, doctor, files, restoration
from persona_store.erase import Target, erase
from persona_store.jsontext import MAX_BYTES
from persona_store.layout import quarantine_below
from persona_store.locks import DEFAULT_TIMEOUT, Rank
from persona_store.tombstones import Tombstones
from persona_store.transaction import Profile
from tests.support.crash.documents import Item, adding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from persona_store.jsontext import JsonValue

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
ELITE = "memory/ltm/elite.json"
SHARED = "memory/ltm/_shared.json"
BACKLOG = "backlog/app.json"
PRIVATE = "text of a private thing"
STONE = json.dumps(["note", PRIVATE])


def keys_of(fields: dict[str, JsonValue]) -> Iterable[str]:
    return (json.dumps(["note", fields["text"]]),)


class Machine:
    """One profile and its clock."""

    def __init__(self, root: Path) -> None:
        self.now = NOW
        self.profile = Profile(root, lambda: self.now)

    def add(self, relative: str, *identities: str) -> None:
        document = self.profile.document(relative, Item)
        for identity in identities:
            if document.family != "memory":
                self.profile.update(document, adding(document, identity))
                continue
            with self.profile.transaction() as transaction:
                transaction.update(document, adding(document, identity))

    def ids(self, relative: str) -> list[str]:
        return [item.id for item in self.profile.document(relative, Item).read().values]

    def path(self, relative: str) -> Path:
        return self.profile.root / relative

    def restore(self, source: Path, timeout: float = DEFAULT_TIMEOUT) -> restoration.Restored:
        return restoration.restore(self.profile, source, keys_of, timeout=timeout)

    def lose(self) -> None:
        shutil.rmtree(self.profile.root)


@pytest.fixture
def machine(agent_dir: Path) -> Machine:
    return Machine(agent_dir / "persona-mind")


def previous(path: Path) -> Path:
    return path.with_name(f"{path.name}.bak")


STRANGE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(b'{\n  "version": 1,\n'),
    "too large": lambda path: path.write_bytes(b" " * (MAX_BYTES + 1)),
    "a pipe": lambda path: os.mkfifo(path, 0o600),
    "a link": lambda path: path.symlink_to("elite.json"),
    "a link that leads nowhere": lambda path: path.symlink_to("nowhere.json"),
    "of a newer release": lambda path: path.write_text('{"version": 9}'),
    "of a newer release and large": lambda path: path.write_text('{"version": 9, "x": "' + "x" * MAX_BYTES + '"}'),
    "a name that is no text": lambda path: Path(os.fsdecode(bytes(path.with_name("x")) + b"\xff.json")).write_bytes(
        b""
    ),
    "a name that no document may have": lambda path: path.with_name(f"{'x' * 200}.json").write_bytes(b""),
    "another such name": lambda path: path.with_name("a\\b.json").write_bytes(b"{}"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_no_file_keeps_the_others_from_being_backed_up_and_brought_back(machine: Machine, what: str) -> None:
    machine.add(ELITE, "one")
    try:
        STRANGE[what](machine.path("memory/ltm/strange.json"))
    except (OSError, AttributeError):
        pytest.skip("this file system has no such file")

    made = backup.daily(machine.profile)

    assert made is not None
    assert backup_contents.verify(made)
    aside = shutil.move(made, machine.profile.root.parent / "aside")
    machine.lose()
    machine.restore(Path(aside))
    assert machine.ids(ELITE) == ["one"]


def test_a_file_too_large_even_to_be_searched_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "MAX_SEARCHED", MAX_BYTES)
    machine.add(ELITE, "one", "two")
    machine.path(ELITE).write_bytes(b" " * (MAX_BYTES + 1))

    made = backup.backup(machine.profile, machine.profile.root.parent / "saved")

    assert backup_contents.contents(made).faults == {ELITE: "previous"}
    machine.lose()
    assert machine.restore(made).faults == {ELITE: "previous"}
    assert machine.ids(ELITE) == ["one"]


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
@pytest.mark.parametrize("damage", ["torn", "empty", "large", "gone"])
def test_a_backup_of_a_damaged_document_brings_back_what_reading_serves(
    machine: Machine, tmp_path: Path, relative: str, damage: str
) -> None:
    machine.add(relative, "one", "two", "three")
    path = machine.path(relative)
    path.write_bytes(
        {"torn": path.read_bytes()[:-9], "empty": b"", "large": b" " * (MAX_BYTES + 1), "gone": b""}[damage]
    )
    if damage == "gone":
        path.unlink()
    served = machine.ids(relative)

    made = backup.backup(machine.profile, tmp_path / "saved")

    assert backup_contents.contents(made).faults == {relative: "previous"}
    machine.lose()
    restored = machine.restore(made)
    assert (restored.documents, dict(restored.faults)) == ((relative,), {relative: "previous"})
    assert machine.ids(relative) == served == ["one", "two"]


def test_of_a_document_that_nobody_can_read_the_backup_keeps_the_bytes_and_says_so(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(ELITE, "one")
    machine.add(SHARED, "else")
    machine.path(ELITE).write_bytes(b"torn")
    previous(machine.path(ELITE)).write_bytes(b"torn as well")

    made = backup.backup(machine.profile, tmp_path / "saved")

    assert backup_contents.contents(made).faults == {ELITE: "unreadable"}
    assert (made / "documents" / ELITE).read_bytes() == b"torn"
    assert previous(made / "documents" / ELITE).read_bytes() == b"torn as well"
    machine.lose()
    restored = machine.restore(made)
    assert (restored.documents, dict(restored.faults)) == ((SHARED,), {ELITE: "unreadable"})


Wreck = tuple[bytes, bytes | None]
WRECKS: dict[str, Wreck] = {
    "both torn": (b"torn", b"torn as well"),
    "torn, and no previous version": (b"torn", None),
    "both empty": (b"", b""),
    "both too large": (b" " * (MAX_BYTES + 1), b" " * (MAX_BYTES + 2)),
    "torn behind a head of a later day": (
        b'{\n  "version": 1,\n  "updatedAt": "2031-01-01T00:00:00.000Z",\n  "sequence": 2000000000000,\n  "entries": [',
        b"",
    ),
}


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
@pytest.mark.parametrize("wreck", WRECKS)
def test_restoring_puts_aside_and_replaces_what_nobody_can_read(
    machine: Machine, tmp_path: Path, relative: str, wreck: str
) -> None:
    machine.add(relative, "one", "two")
    machine.add(SHARED, "else")
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(SHARED, "later")
    live, before = WRECKS[wreck]
    path = machine.path(relative)
    path.write_bytes(live)
    previous(path).unlink()
    if before is not None:
        previous(path).write_bytes(before)
    with pytest.raises(CorruptError):
        machine.add(relative, "three")

    restored = machine.restore(made)

    assert (set(restored.documents), restored.left) == ({relative, SHARED}, ())
    assert machine.ids(relative) == ["one", "two"]
    assert machine.ids(SHARED) == ["else"]
    aside = [machine.path(name).read_bytes() for name in quarantine_below(machine.profile.root)]
    assert {live, *([before] if before is not None else [])} <= set(aside)
    assert machine.profile.document(relative, Item).read().sequence > (2_000_000_000_000 if "later" in wreck else 2)
    machine.add(relative, "three")
    assert machine.ids(relative) == ["one", "two", "three"]
    assert not [found for found in doctor.examine(machine.profile) if found.weight == "error"]


def test_restoring_is_how_a_person_chooses_where_a_file_is_older_than_its_previous_version(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(ELITE, "one", "two", "three")
    made = backup.backup(machine.profile, tmp_path / "saved")
    path = machine.path(ELITE)
    older, newer = previous(path).read_bytes(), path.read_bytes()
    path.write_bytes(older)
    previous(path).write_bytes(newer)

    assert machine.restore(made).documents == (ELITE,)

    assert machine.ids(ELITE) == ["one", "two", "three"]
    assert newer in [machine.path(name).read_bytes() for name in quarantine_below(machine.profile.root)]
    machine.add(ELITE, "four")


def _of_a_newer_release(path: Path) -> None:
    path.write_text('{"version": 9}')


def _a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _with_as_many_damaged_copies_as_are_kept(path: Path) -> None:
    path.write_bytes(b"torn")
    previous(path).write_bytes(b"torn")
    for number in range(1000):
        path.with_name(f"{path.name}.corrupt-{number}").write_bytes(b"%d" % number)


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
@pytest.mark.parametrize("spoil", [_of_a_newer_release, _a_link, _with_as_many_damaged_copies_as_are_kept])
def test_a_document_that_refuses_keeps_none_of_the_others_from_coming_back(
    machine: Machine, tmp_path: Path, relative: str, spoil: Callable[[Path], None]
) -> None:
    others = {"memory/a.json", "memory/stm/z.json", "backlog/a.json", "backlog/z.json"}
    for name in (*others, relative):
        machine.add(name, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for name in (*others, relative):
        machine.add(name, "two")
    spoil(machine.path(relative))

    restored = machine.restore(made)

    assert set(restored.documents) == others
    assert [left.document for left in restored.left] == [relative]
    assert [machine.ids(name) for name in others] == [["one"]] * 4


def test_a_disk_that_refuses_a_document_is_told_once_all_others_are_back(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("memory/a.json", "memory/b.json", "memory/c.json", BACKLOG)
    for name in names:
        machine.add(name, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for name in names:
        machine.add(name, "two")
    real = os.rename

    def rename(source: Any, target: Any, **keywords: Any) -> None:  # noqa: ANN401 - as in os
        there = os.fstat(keywords["dst_dir_fd"]) if target == "b.json" else None
        if there is not None and os.path.samestat(there, machine.path("memory").stat()):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target, **keywords)

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", rename)
        with pytest.raises(StorageError) as caught:
            machine.restore(made)

    assert (caught.value.changed, caught.value.details["left"]) == ("unknown", ["memory/b.json"])
    (kept,) = backup.shelved(machine.profile.root)
    assert caught.value.details["kept"] == kept
    assert caught.value.message.endswith(
        f"earlier steps may have changed something; what was replaced is kept as {kept}"
    )
    assert [machine.ids(name) for name in names] == [["one"], ["one", "two"], ["one"], ["one"]]
    assert machine.restore(made).documents == ("memory/b.json",)


def refuse_to_read(monkeypatch: pytest.MonkeyPatch, path: Path, code: int, times: int = sys.maxsize) -> None:
    """Let a disk refuse one file as often as this, whoever reads it."""
    real, left = files.Directory.read, iter(range(times))

    def read(directory: files.Directory, name: str, cap: int) -> tuple[bytes, files.Stamp]:
        if directory.path / name == path and next(left, None) is not None:
            raise OSError(code, os.strerror(code))
        return real(directory, name, cap)

    monkeypatch.setattr(files.Directory, "read", read)


def refuse_to_replace(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Let the disk refuse to replace one document."""
    real = os.rename

    def rename(source: Any, target: Any, **keywords: Any) -> None:  # noqa: ANN401 - as in os
        into = os.fstat(keywords["dst_dir_fd"]) if target == path.name else None
        if into is not None and os.path.samestat(into, path.parent.stat()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target, **keywords)

    monkeypatch.setattr(os, "rename", rename)


def test_a_file_that_the_disk_refuses_to_read_keeps_no_other_from_being_backed_up_and_brought_back(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add(ELITE, "one", "two")
    machine.add(SHARED, "else")
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(SHARED, "later")
    held = machine.path(ELITE).read_bytes()
    with monkeypatch.context() as broken:
        refuse_to_read(broken, machine.path(ELITE), errno.EIO)

        daily = backup.daily(machine.profile)
        with pytest.raises(StorageError) as caught:
            machine.restore(made)

    assert daily is not None
    assert backup_contents.contents(daily).faults == {ELITE: "previous"}
    assert (caught.value.changed, caught.value.details["left"]) == ("unknown", [ELITE])
    assert (machine.ids(SHARED), machine.path(ELITE).read_bytes()) == (["else"], held)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN])
def test_a_backup_that_fails_for_want_of_something_is_none(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    machine.add(ELITE, "one")
    refuse_to_read(monkeypatch, machine.path(ELITE), code)

    with pytest.raises(StorageError):
        backup.backup(machine.profile, tmp_path / "saved")

    assert not (tmp_path / "saved").exists()


def test_what_could_not_be_kept_is_not_replaced(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses it once, just when it is to be kept."""
    for name in (ELITE, SHARED):
        machine.add(name, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for name in (ELITE, SHARED):
        machine.add(name, "two")

    def agreed(_: restoration.Plan) -> None:
        refuse_to_read(monkeypatch, machine.path(ELITE), errno.EIO, times=1)

    restored = restoration.restore(machine.profile, made, keys_of, agreed=agreed)

    assert [(left.document, left.error.reason) for left in restored.left] == [(ELITE, "not_kept")]
    assert (machine.ids(ELITE), machine.ids(SHARED)) == (["one", "two"], ["one"])


def test_a_key_that_cannot_be_put_back_keeps_none_of_the_documents_from_coming_back(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(ELITE, "one")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(ELITE, "two")
    machine.path("profile.key").unlink()
    machine.path("profile.key").symlink_to("nowhere")

    restored = machine.restore(made)

    assert (restored.documents, [left.document for left in restored.left]) == ((ELITE,), ["profile.key"])


def test_a_row_is_judged_once_wherever_it_stands_and_before_anybody_is_kept_waiting(
    machine: Machine, tmp_path: Path
) -> None:
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    for name in (ELITE, BACKLOG):
        machine.add(name, "one", "two")
    made = backup.backup(machine.profile, tmp_path / "saved")
    for name in (ELITE, BACKLOG):
        machine.path(name).write_bytes(previous(machine.path(name)).read_bytes())
        previous(machine.path(name)).unlink()
    asked: list[JsonValue] = []

    def judging(fields: dict[str, JsonValue]) -> Iterable[str]:
        assert not machine.profile.locks.holds(Rank.TRANSACTION, "memory")
        asked.append(fields["id"])
        return keys_of(fields)

    restored = restoration.restore(machine.profile, made, judging)

    assert restored.documents == (BACKLOG, ELITE)
    assert asked == ["two"]


def test_what_is_erased_once_it_was_judged_is_judged_again(machine: Machine, tmp_path: Path) -> None:
    machine.add(ELITE, "a private thing", "one", "two")
    erase(machine.profile, Target(("text of something else",), (json.dumps(["note", "something else"]),)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.path(ELITE).unlink()
    previous(machine.path(ELITE)).unlink()
    asked: list[JsonValue] = []

    def judging(fields: dict[str, JsonValue]) -> Iterable[str]:
        asked.append(fields["id"])
        if len(asked) == 3:
            erase(machine.profile, Target((PRIVATE,), (STONE,)))
        return keys_of(fields)

    restored = restoration.restore(machine.profile, made, judging)

    assert (machine.ids(ELITE), restored.withheld) == (["one", "two"], 1)


def newer(machine: Machine, source: Path) -> tuple[str, ...]:
    return restoration.planned(machine.profile, source, keys_of).newer


@pytest.mark.parametrize("relative", [ELITE, BACKLOG])
def test_a_change_is_newer_than_a_backup_of_the_same_moment_or_of_a_clock_set_back(
    machine: Machine, tmp_path: Path, relative: str
) -> None:
    machine.add(relative, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    assert newer(machine, made) == ()

    machine.add(relative, "at the same moment")
    assert newer(machine, made) == (relative,)
    machine.restore(made)
    assert newer(machine, made) == ()
    machine.now -= timedelta(days=1)
    machine.add(relative, "after the clock was set back")
    assert newer(machine, made) == (relative,)


def test_a_profile_that_was_begun_anew_and_one_that_was_edited_are_newer_too(machine: Machine, tmp_path: Path) -> None:
    machine.add(ELITE, "one", "two", "three")
    made = backup.backup(machine.profile, tmp_path / "saved")
    path = machine.path(ELITE)
    path.write_bytes(path.read_bytes().replace(b"text of one", b"edited"))
    assert newer(machine, made) == (ELITE,)

    machine.lose()
    assert newer(machine, made) == ()
    machine.now += timedelta(seconds=1)
    machine.add(ELITE, "begun anew")
    assert newer(machine, made) == (ELITE,)


def test_what_a_torn_document_was_served_from_is_not_newer_than_itself(machine: Machine, tmp_path: Path) -> None:
    machine.add(ELITE, "one", "two")
    machine.path(ELITE).write_bytes(b"torn")
    made = backup.backup(machine.profile, tmp_path / "saved")

    assert newer(machine, made) == ()
    assert machine.restore(made).documents == (ELITE,)


@pytest.mark.parametrize("days", [1, -1])
def test_what_is_restored_stays_among_those_that_are_kept(machine: Machine, tmp_path: Path, days: int) -> None:
    """The one that is brought back may be the oldest, and a clock may go back."""
    machine.add(ELITE, "one")
    saved = backup.backup(machine.profile, tmp_path / "saved")
    for number in range(3):
        machine.add(ELITE, f"{number}")
        machine.restore(saved)  # all at one moment
    oldest, *others = backup.shelved(machine.profile.root)
    assert len(others) == 2
    machine.add(ELITE, "last")
    machine.now += timedelta(days=days)

    restored = machine.restore(machine.profile.root / "backups" / oldest)

    assert machine.ids(ELITE) == ["one", "0"]
    assert restored.kept is not None
    assert {oldest, restored.kept.name} <= set(backup.shelved(machine.profile.root))


def test_a_clock_that_goes_back_does_not_cost_todays_backup(machine: Machine) -> None:
    machine.add(ELITE, "one")
    for _ in range(8):
        machine.now += timedelta(days=1)
        backup.daily(machine.profile)
    machine.now -= timedelta(days=30)

    made = backup.daily(machine.profile)

    assert made is not None
    assert backup_contents.verify(made)


def test_nothing_is_kept_or_changed_where_nothing_differs_or_nobody_agrees(machine: Machine, tmp_path: Path) -> None:
    machine.add(ELITE, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    assert machine.restore(made).kept is None
    machine.add(ELITE, "two")

    def agreed(plan: restoration.Plan) -> None:
        raise RefusedError(f"{plan.differing}")

    with pytest.raises(RefusedError, match="elite") as caught:
        restoration.restore(machine.profile, made, keys_of, agreed=agreed)
    assert caught.value.changed == "no"
    assert backup.shelved(machine.profile.root) == []
    assert machine.ids(ELITE) == ["one", "two"]


def begin_erasing(machine: Machine) -> None:
    with machine.profile.transaction() as transaction:
        Tombstones(machine.profile).add(transaction, (STONE,), "2026-03-02T09:30:00.000Z")


@pytest.mark.parametrize("finished", [True, False])
def test_an_erasure_that_was_unfinished_when_a_backup_was_made_is_not_unfinished_again(
    machine: Machine, tmp_path: Path, *, finished: bool
) -> None:
    machine.add(ELITE, "a private thing", "one")
    begin_erasing(machine)
    made = backup.backup(machine.profile, tmp_path / "saved")
    if finished:
        erase(machine.profile, Target((PRIVATE,), (STONE,)))
    else:
        machine.lose()

    restored = machine.restore(made)

    stones = Tombstones(machine.profile)
    assert [stone.swept for stone in stones.document.read().values] == [True]
    assert stones.stands(STONE)
    assert "erase_unfinished" not in {found.word for found in doctor.examine(machine.profile)}
    assert (machine.ids(ELITE), restored.withheld) == (["one"], 1)
    holding = [
        path for path in machine.profile.root.rglob("*") if path.is_file() and PRIVATE.encode() in path.read_bytes()
    ]
    assert holding == []


def test_an_erasure_that_has_begun_here_goes_on_after_a_backup_came_back(machine: Machine, tmp_path: Path) -> None:
    machine.add(ELITE, "a private thing", "one")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    begin_erasing(machine)
    machine.add(ELITE, "two")

    machine.restore(made)

    assert [stone.swept for stone in Tombstones(machine.profile).document.read().values] == [False]


@pytest.mark.parametrize("damage", [None, b"", b"short"])
def test_a_key_that_is_gone_or_damaged_comes_back(machine: Machine, tmp_path: Path, damage: bytes | None) -> None:
    machine.add(ELITE, "a private thing", "one")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    path = machine.path("profile.key")
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)

    assert "profile.key" in machine.restore(made).documents

    assert Tombstones(machine.profile).stands(STONE)
    aside = [machine.path(name).read_bytes() for name in quarantine_below(machine.profile.root)]
    assert aside == ([] if damage is None else [damage])


def _torn(path: Path) -> None:
    for one in (path, previous(path)):
        one.write_bytes(b"torn")


def _set_back(path: Path) -> None:
    older, newer = previous(path).read_bytes(), path.read_bytes()
    path.write_bytes(older)
    previous(path).write_bytes(newer)


@pytest.mark.parametrize("spoil", [_torn, _set_back])
@pytest.mark.parametrize("knows_stones", [True, False])
def test_nothing_comes_in_that_tombstones_nobody_can_trust_might_keep_out(
    machine: Machine, tmp_path: Path, spoil: Callable[[Path], None], *, knows_stones: bool
) -> None:
    machine.add(ELITE, "a private thing", "one")
    if knows_stones:
        erase(machine.profile, Target(("text of something else",), (json.dumps(["note", "something else"]),)))
    older = backup.backup(machine.profile, tmp_path / "older")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    path = machine.path("tombstones.json")
    spoil(path)
    held = path.read_bytes()

    restored = machine.restore(older)

    assert [left.document for left in restored.left] == [*(["tombstones.json"] if knows_stones else []), ELITE]
    assert {left.error.reason for left in restored.left} == {"tombstones"}
    assert (restored.documents, path.read_bytes()) == ((), held)
    assert machine.ids(ELITE) == ["one"]


def test_who_moves_tombstones_away_that_nobody_can_read_brings_back_what_the_backup_holds(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(ELITE, "a private thing", "one")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    machine.add(ELITE, "two")
    path = machine.path("tombstones.json")
    _torn(path)
    for one in (path, previous(path)):
        one.rename(tmp_path / one.name)

    restored = machine.restore(made)

    assert (restored.documents, restored.left) == ((ELITE, "tombstones.json"), ())
    assert Tombstones(machine.profile).stands(STONE)


def test_the_key_of_another_profile_does_not_take_the_place_of_one_that_is_lost(
    machine: Machine, tmp_path: Path
) -> None:
    machine.add(ELITE, "a private thing", "one")
    older = backup.backup(machine.profile, tmp_path / "older")
    erase(machine.profile, Target((PRIVATE,), (STONE,)))
    made = backup.backup(machine.profile, tmp_path / "saved")
    other = Machine(tmp_path / "other")
    other.add(ELITE, "another thing", "two")
    erase(other.profile, Target(("text of another thing",), (json.dumps(["note", "text of another thing"]),)))
    foreign = backup.backup(other.profile, tmp_path / "foreign")
    # Its tombstones do not join either: they would make its key look like the one that is lost.
    machine.restore(foreign)
    machine.path("profile.key").unlink()

    for source in (foreign, older, foreign):
        restored = machine.restore(source)
        assert [left.error.reason for left in restored.left] == ["profile_key"] * (source == older)
        assert not machine.path("profile.key").exists()

    assert "profile.key" in machine.restore(made).documents
    assert machine.restore(older).withheld == 1
    assert machine.ids(ELITE) == ["one"]


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"[]",
        b'{"version": 2, "made": "2026-03-02T09:30:00.000Z", "files": {}}',
        b'{"version": 1, "made": "yesterday", "files": {}}',
        b'{"version": 1, "made": "2026-03-02T09:30:00.000Z", "files": []}',
        b'{"version": 1, "made": "2026-03-02T09:30:00.000Z", "files": {}, "more": 1}',
        b'{"version": 1, "made": "2026-03-02T09:30:00.000Z", "files": {"documents/../../x.json": ""}}',
        b'{"version": 1, "made": "2026-03-02T09:30:00.000Z", "files": {"elsewhere/x.json": ""}}',
        b"[" * 100_000,
    ],
)
def test_a_manifest_that_is_none_is_an_error_of_ours(machine: Machine, tmp_path: Path, manifest: bytes) -> None:
    machine.add(ELITE, "one")
    made = backup.backup(machine.profile, tmp_path / "saved")
    (made / "manifest.json").write_bytes(manifest)

    for look in (backup_contents.verify, backup_contents.contents):
        with pytest.raises(CorruptError):
            look(made)
