"""The engine in one process: each of its changes injured at every file effect, and the order of these effects.

What a real end of a process shows is tried by the stages that kill; this one is quick enough to be run for each mutant.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import PersonaError, RefusedError, StorageError, UncertainError
from persona_store import foreign_lock, holders, locks
from tests.support.crash.battery import child
from tests.support.crash.checks import scratch
from tests.support.crash.documents import OPERATIONS, Item, add, ids, store
from tests.support.crash.effects import Effect, Plan
from tests.support.crash.inside import Mortal, effects_of, goes_on, injure_inside, injured

if TYPE_CHECKING:
    from tests.support.crash.effects import Fault

BY_NAME = {operation.name: operation for operation in OPERATIONS}
KILLS: tuple[Fault, ...] = ("kill_before", "kill_after", "interrupt", "short")


@pytest.mark.parametrize("name", ["first add", "add", "repair", "backlog"])
def test_killed_at_any_effect_a_change_happens_or_does_not(name: str) -> None:
    assert injure_inside(BY_NAME[name], scratch(), KILLS) == []


@pytest.mark.parametrize("name", ["add", "repair"])
def test_refused_any_effect_a_change_tells_the_truth(name: str) -> None:
    assert injure_inside(BY_NAME[name], scratch(), ("errno",)) == []


def test_interrupted_or_refused_at_any_effect_a_process_that_lives_on_keeps_nobody_out() -> None:
    root = scratch()
    mine, document = store(root)
    numbers = itertools.count()

    def change() -> None:
        with mine.transaction(timeout=0) as transaction:
            transaction.update(document, lambda _: [document.row(Item(id=f"row {next(numbers)}", text="text"))])

    def again() -> None:
        # Of another process first: a change of this one would put right what keeps others out.
        ended = child(partial(add, root, f"of another {next(numbers)}", timeout=0))
        if ended.word != "acknowledged":
            raise AssertionError(ended.detail)
        change()

    change()
    assert goes_on(root, change, again, ("interrupt", "errno")) == []


def observed(root: Path, *, first: bool = False) -> list[Effect]:
    """Return every effect of one change, with its arguments."""
    if not first:
        add(root, "one")
        add(root, "two")
    seen: list[Effect] = []
    shim = Mortal(str(root), observe=seen.append)
    shim.install()
    try:
        add(root, "three")
    finally:
        shim.remove()
    return seen


def places(effects: list[Effect], name: str) -> list[int]:
    return [at for at, effect in enumerate(effects) if effect.name == name]


def test_the_bytes_reach_the_disk_before_the_old_version_gives_way_and_the_name_before_the_answer(
    tmp_path: Path,
) -> None:
    effects = observed(tmp_path)
    renames = [at for at in places(effects, "rename") if effects[at].arguments[1] == "elite.json"]
    writes = [*places(effects, "writev"), *places(effects, "write")]
    (renamed,) = renames
    data, directory = places(effects, "fsync")

    assert max(writes) < data < renamed < directory
    assert effects[data].arguments != effects[directory].arguments


def test_a_new_file_makes_every_folder_that_leads_to_it_durable(tmp_path: Path) -> None:
    effects = observed(tmp_path, first=True)
    made = [effects[at].arguments[0] for at in places(effects, "mkdir")]
    renamed = next(at for at in places(effects, "rename") if effects[at].arguments[1] == "elite.json")
    last = max(places(effects, "mkdir"))

    assert [os.path.basename(path) for path in made] == ["persona-mind", ".locks", "memory", "ltm"]  # noqa: PTH119
    # The file's bytes and the folders that persona-mind, memory and ltm were made in; then the file's own folder.
    assert len([at for at in places(effects, "fsync") if last < at < renamed]) == 4
    assert len([at for at in places(effects, "fsync") if at > renamed]) == 1


def test_the_previous_version_stays_under_its_own_name_at_every_moment(tmp_path: Path) -> None:
    effects = observed(tmp_path)
    (kept,) = [effect for effect in effects if effect.name == "link"]
    targets = [effect.arguments[1] for effect in effects if effect.name == "rename"]

    assert kept.arguments[0] == "elite.json"
    assert targets == ["elite.json.bak", "elite.json"]


def failing(root: Path, name: str, *, last: bool = False) -> Plan:
    """Refuse the first or the last effect of a name that an ordinary change has."""
    log = effects_of(BY_NAME["add"], root)
    found = [at for at, effect in enumerate(log) if effect == name]
    return Plan(found[-1 if last else 0], "errno", errno.EIO)


def test_a_folder_that_is_not_confirmed_is_uncertain_with_its_path_and_number(tmp_path: Path) -> None:
    plan = failing(tmp_path, "fsync", last=True)
    root = tmp_path / "again"
    BY_NAME["add"].seed(root)
    with injured(root, plan), pytest.raises(UncertainError) as caught:
        BY_NAME["add"].run(root)

    path = str(store(root)[1].path)
    assert caught.value.changed == "unknown"
    assert (caught.value.details["path"], caught.value.details["errno"]) == (path, errno.EIO)
    assert caught.value.message == (
        f"{path} was replaced, but the disk did not confirm it ({os.strerror(errno.EIO)}); look before you retry"
    )
    assert ids(root) == ["one", "two", "three"]


def test_bytes_that_are_not_confirmed_change_nothing_and_are_not_confirmed_twice(tmp_path: Path) -> None:
    plan = failing(tmp_path, "fsync")
    root = tmp_path / "again"
    BY_NAME["add"].seed(root)
    with injured(root, plan) as shim, pytest.raises(PersonaError) as caught:
        BY_NAME["add"].run(root)

    assert caught.value.changed == "no"
    assert shim.log.count("fsync") == 1
    assert (ids(root), sorted(path.name for path in store(root)[1].path.parent.iterdir())) == (
        ["one", "two"],
        ["elite.json", "elite.json.bak"],
    )


ME = holders.this_process()
OTHERS = {
    "host": replace(ME, host="container-2"),
    "machine": replace(ME, machine="other"),
    "boot": replace(ME, boot="another-boot"),
    "nowhere": replace(ME, boot="-", machine="other"),
    "elsewhere": replace(ME, boot="another-boot", machine="other"),
    "dead": replace(ME, pid=2**22 + 5),
    "recycled": replace(ME, start="1"),
    "unknown start": replace(ME, start="-"),
    "parent": replace(ME, pid=os.getppid(), start=holders.start_token(os.getppid()) or "-"),
}


@pytest.mark.parametrize(
    ("who", "verdict"),
    [
        ("host", "recovered"),
        ("machine", "recovered"),
        ("boot", "recovered"),
        ("nowhere", "foreign"),
        ("elsewhere", "foreign"),
        ("dead", "recovered"),
        ("recycled", "recovered"),
        ("unknown start", "recovered"),
        ("parent", "alive"),
    ],
)
def test_what_a_note_means_hangs_on_its_machine_its_boot_and_its_process(who: str, verdict: str) -> None:
    if holders.start_token(os.getppid()) is None:
        pytest.skip("this platform has no start tokens")
    holder = OTHERS[who]

    assert holders.judge(holder.record(), ME, held_here=False) == (verdict, holder)
    assert holders.judge(holder.record(holders.FREE), ME, held_here=False) == ("clean", None)
    assert holders.judge(holder.record()[:-1], ME, held_here=False) == ("malformed", None)


def test_a_note_of_this_very_process_is_alive_only_where_it_holds_the_lock() -> None:
    assert holders.judge(ME.record(), ME, held_here=True) == ("alive", ME)
    assert holders.judge(ME.record(), ME, held_here=False) == ("recovered", ME)
    assert holders.judge(b"", ME, held_here=False) == ("clean", None)
    assert holders.judge(bytes(300), ME, held_here=True) == ("clean", None)


def test_a_note_says_who_when_and_always_in_one_length() -> None:
    long = replace(ME, pid=2**31, host="h" * 60, machine="m" * 16, boot="b" * 60, start="9" * 19, since=10**10)

    for holder in (ME, long):
        assert len(holder.record()) == holders.RECORD_BYTES
        assert holders.parse(holder.record()) == (holders.HELD, holder)
        assert holders.parse(holder.record(holders.FREE)) == (holders.FREE, holder)
    assert str(ME) == f"process {os.getpid()} on {ME.host}"


def test_a_live_holder_is_refused_with_every_word_a_person_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if holders.start_token(os.getppid()) is None:
        pytest.skip("this platform has no start tokens")
    monkeypatch.setattr(locks, "DYING", 0.0)
    path = tmp_path / "persona-mind/.locks/memory.transaction"
    path.parent.mkdir(parents=True, mode=0o700)
    path.touch(mode=0o600)
    path.write_bytes(OTHERS["parent"].record())

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "one")
    assert caught.value.message == (
        f"{path} is marked as held by process {os.getppid()} on {ME.host}, a live process that the system does not "
        "keep out; delete the file once nobody uses the profile"
    )


def malformed(root: Path, record: bytes) -> Path:
    path = root / "persona-mind/.locks/memory.transaction"
    path.write_bytes(record)
    return path


def test_eight_malformed_notes_are_kept_and_no_more(tmp_path: Path) -> None:
    add(tmp_path, "0")
    for number in range(10):
        path = malformed(tmp_path, b"torn %d" % number)
        add(tmp_path, f"after {number}")

    kept = sorted(path.parent.glob("memory.transaction.malformed.*"))
    assert [one.read_bytes() for one in kept] == [b"torn %d" % number for number in range(8)]


def test_a_malformed_note_that_cannot_be_kept_leaves_a_name_that_is_known_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "no")

    add(tmp_path, "one")
    path = malformed(tmp_path, b"torn")
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(StorageError):
        add(tmp_path, "two")

    names = [one.name for one in path.parent.iterdir() if one != path]
    assert [name.rpartition("-")[0] for name in names] == [".memory.transaction.tmp"]


@pytest.mark.parametrize(("start", "token"), [(b"7\xff", "7\ufffd"), (b"\xc3\xa4", "\ufffd\ufffd")])
def test_a_start_that_is_no_plain_text_still_tells_processes_apart(
    monkeypatch: pytest.MonkeyPatch, start: bytes, token: str
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"1 (name) S " + b"0 " * 18 + start + b" 8")

    assert holders.start_token(1) == token


def test_a_machine_whose_name_is_no_ascii_has_none(tmp_path: Path) -> None:
    (tmp_path / "id").write_bytes("ä\n".encode())

    assert holders._first_line(str(tmp_path / "id")) is None


NOTE = f"{socket.gethostname()}:{os.getpid()}"
LIVES = f"process {os.getpid()} of the TypeScript release"


@pytest.mark.parametrize(("size", "known"), [(1024, True), (1025, False)])
def test_a_note_of_the_original_is_read_up_to_its_limit(tmp_path: Path, *, size: int, known: bool) -> None:
    (tmp_path / "app.json.lock").write_text(f"{NOTE}-1".ljust(size))
    (tmp_path / "app.json.wakeowner").write_text(f"{NOTE}:1-abc".ljust(size))

    path = tmp_path / "app.json"
    assert (foreign_lock.holder_of(path) == LIVES) is known
    assert (foreign_lock.reminding(path) == (LIVES, True)) is known


def test_where_the_system_knows_no_flags_for_it_a_note_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.json.lock").write_text(f"{NOTE}-1")
    for name in ("O_NOFOLLOW", "O_NONBLOCK"):
        monkeypatch.delattr(os, name)

    assert foreign_lock.holder_of(tmp_path / "app.json") == LIVES
