"""The rare branches of commit, locks and recovery: no hard links, a lock that will not open, a name with a bracket."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import BusyError, CorruptError, RefusedError, StorageError
from persona_store import diagnostics, files, foreign_lock, holders, recovery
from persona_store.locks import LockName, Locks, Rank
from tests.support.crash.documents import add, ids, profile, store

if TYPE_CHECKING:
    from collections.abc import Callable

ME = holders.this_process()
LOCK = LockName(Rank.STORE, "backlog", "backlog/app.json")
FOREIGN = replace(ME, host="laptop", machine="other", boot="other")


def lock_file(root: Path) -> Path:
    return root / "persona-mind/.locks/memory.transaction"


def mark(root: Path, record: bytes) -> None:
    lock_file(root).parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    lock_file(root).write_bytes(record)
    lock_file(root).chmod(0o600)


def path_of(root: Path) -> Path:
    return store(root)[1].path


def loose(root: Path) -> list[str]:
    return sorted(path.name for path in path_of(root).parent.iterdir() if path.name.startswith("."))


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that knows no hard links."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_the_previous_version_is_copied(tmp_path: Path) -> None:
    add(tmp_path, "one")
    held = path_of(tmp_path).read_bytes()
    add(tmp_path, "two")

    assert path_of(tmp_path).with_name("elite.json.bak").read_bytes() == held
    assert ids(tmp_path) == ["one", "two"]


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_a_damaged_version_is_copied(tmp_path: Path) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    path_of(tmp_path).write_bytes(b"torn")
    add(tmp_path, "three")

    assert path_of(tmp_path).with_name("elite.json.corrupt-0").read_bytes() == b"torn"
    assert ids(tmp_path) == ["one", "three"]


def test_a_previous_version_that_is_the_present_one_leaves_no_second_name(tmp_path: Path) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    kept = path_of(tmp_path).with_name("elite.json.bak")
    kept.unlink()
    kept.hardlink_to(path_of(tmp_path))
    held = kept.read_bytes()

    add(tmp_path, "three")

    assert (loose(tmp_path), kept.read_bytes()) == ([], held)


def test_a_second_name_that_was_left_is_swept_by_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "one")
    real = os.rename

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "gone wrong")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(StorageError):
        add(tmp_path, "two")
    monkeypatch.setattr(os, "rename", real)
    assert [name.partition("-")[0] for name in loose(tmp_path)] == [".elite.json.bak"]

    add(tmp_path, "three")

    assert (loose(tmp_path), ids(tmp_path)) == ([], ["one", "three"])


def test_two_damaged_versions_of_one_size_are_both_kept(tmp_path: Path) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    for torn in (b"torn one", b"torn two"):
        path_of(tmp_path).write_bytes(torn)
        add(tmp_path, "again")

    kept = sorted(path_of(tmp_path).parent.glob("*.corrupt-*"))
    assert [path.read_bytes() for path in kept] == [b"torn one", b"torn two"]


def test_a_quarantine_that_is_full_refuses_and_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "MAX_QUARANTINE", 1)
    add(tmp_path, "one")
    add(tmp_path, "two")
    path_of(tmp_path).write_bytes(b"torn one")
    add(tmp_path, "three")
    path_of(tmp_path).write_bytes(b"torn two")

    with pytest.raises(CorruptError) as caught:
        add(tmp_path, "four")

    assert (caught.value.reason, caught.value.details["path"]) == ("quarantine_full", str(path_of(tmp_path)))
    assert caught.value.message.startswith(f"{path_of(tmp_path)} has 1 damaged copies")
    assert path_of(tmp_path).read_bytes() == b"torn two"


def test_two_unusable_versions_are_named_with_their_copies(tmp_path: Path) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    path_of(tmp_path).write_bytes(b"torn")
    path_of(tmp_path).with_name("elite.json.bak").write_bytes(b"torn too")

    with pytest.raises(CorruptError) as caught:
        add(tmp_path, "three")

    assert caught.value.details["path"] == str(path_of(tmp_path))
    assert caught.value.details["quarantined"] == ["elite.json.corrupt-0", "elite.json.bak.corrupt-0"]
    assert str(path_of(tmp_path)) in caught.value.message
    note = diagnostics.history(tmp_path / "persona-mind")[-1]
    assert (note.word, note.path) == (f"corrupt_{caught.value.reason}", str(path_of(tmp_path)))


def test_a_torn_head_with_an_impossible_sequence_counts_for_nothing(tmp_path: Path) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    torn = path_of(tmp_path).read_text().replace('"sequence": 2', f'"sequence": {2**53 - 1}')
    path_of(tmp_path).write_text(torn[:-20])

    add(tmp_path, "three")

    assert json.loads(path_of(tmp_path).read_text())["sequence"] < 2**52


@pytest.mark.parametrize(
    "changed", [{"host": "container-2"}, {"boot": "another-boot"}, {"host": "container-2", "boot": "another-boot"}]
)
def test_a_number_that_lives_elsewhere_or_lived_before_the_boot_is_not_this_process(
    tmp_path: Path, changed: dict[str, str]
) -> None:
    parent = holders.start_token(os.getppid())
    if parent is None:
        pytest.skip("this platform has no start tokens")
    mark(tmp_path, replace(ME, pid=os.getppid(), start=parent, **changed).record())

    assert add(tmp_path, "one") == 1


def test_a_note_of_another_machine_is_refused_with_every_word_a_person_needs(tmp_path: Path) -> None:
    mark(tmp_path, FOREIGN.record())

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "one")

    path = str(lock_file(tmp_path))
    assert caught.value.message == (
        f"{path} is marked as held by process {ME.pid} on laptop, another machine; "
        "delete the file once nobody uses the profile"
    )
    assert caught.value.details["path"] == path
    assert caught.value.details["holder"] == f"process {ME.pid} on laptop"


@pytest.mark.parametrize(
    ("record", "holder"),
    [
        (None, f"process {ME.pid} on {ME.host}"),
        (b"torn", "somebody else"),
        (FOREIGN.record(holders.FREE), "somebody else"),
    ],
)
def test_a_wait_that_ends_names_the_file_and_its_holder(tmp_path: Path, record: bytes | None, holder: str) -> None:
    with profile(tmp_path).transaction():
        if record is not None:
            lock_file(tmp_path).write_bytes(record)
        with pytest.raises(BusyError) as caught:
            _wait_elsewhere(tmp_path)

    path = str(lock_file(tmp_path))
    assert caught.value.message == f"{path} is held by {holder}; try again later"
    assert (caught.value.details["path"], caught.value.details["holder"]) == (path, holder)


def _wait_elsewhere(root: Path) -> None:
    import threading  # noqa: PLC0415 - a thread has locks of its own

    raised: list[BaseException] = []

    def enter() -> None:
        try:
            with profile(root).transaction(timeout=0):
                pass
        except BusyError as error:
            raised.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    raise raised[0]


def test_a_lock_that_cannot_be_read_is_busy_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise OSError(errno.EIO, "unreadable")

    with profile(tmp_path).transaction():
        monkeypatch.setattr(files.Directory, "read_head", fail)
        with pytest.raises(BusyError, match="somebody else"):
            _wait_elsewhere(tmp_path)


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOLCK])
def test_a_lock_that_the_kernel_will_not_unlock_is_freed_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    told: list[tuple[str, Path]] = []
    locks = Locks(tmp_path / "root", lambda word, path: told.append((word, path)))
    real = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_UN:
            raise OSError(code, "no")
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locks.hold(LOCK) as hold:
        hold.check()

    assert told == [("lock_release", locks.root / ".locks" / LOCK.file)]
    for again in (locks, Locks(tmp_path / "root")):
        with again.hold(LOCK, timeout=0) as hold:
            hold.check()


def test_a_lock_file_that_is_removed_before_it_is_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = Locks(tmp_path / "root")
    path, real, removed = locks.root / ".locks" / LOCK.file, fcntl.flock, list[int]()

    def flock(descriptor: int, operation: int) -> None:
        if not removed:
            removed.append(descriptor)
            path.unlink()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locks.hold(LOCK) as hold:
        hold.check()
        assert path.stat().st_mode & 0o777 == 0o600
    assert removed


def test_a_wait_for_a_lock_leaves_no_descriptor_behind(tmp_path: Path) -> None:
    with profile(tmp_path).transaction():
        before = len(list(Path("/dev/fd").iterdir()))
        for _ in range(5):
            with pytest.raises(BusyError):
                _wait_elsewhere(tmp_path)
        assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_process_is_told_by_its_start_even_if_its_name_has_brackets() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("this platform has no start tokens")
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        Path("/proc/self/comm").write_text("a) b (c", encoding="ascii")
        os.write(write_end, b"x")
        os.read(os.pipe()[0], 1)
        os._exit(0)
    try:
        os.read(read_end, 1)
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        assert holders.start_token(pid) == fields[19]
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(read_end)
        os.close(write_end)


@pytest.mark.parametrize(("fields", "token"), [(19, None), (20, "7"), (21, "7")])
def test_a_process_that_is_not_described_to_its_end_has_no_start(
    monkeypatch: pytest.MonkeyPatch, fields: int, token: str | None
) -> None:
    words = ["S", *("0" for _ in range(18)), "7", "8"][:fields]
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"1 (name) " + " ".join(words).encode())

    assert holders.start_token(1) == token


@pytest.mark.parametrize("state", ["Z", "X"])
def test_a_process_that_ended_has_no_start(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"1 (name) " + " ".join([state, *"0" * 30]).encode())

    assert holders.start_token(1) is None


def test_the_boot_and_the_machine_are_told_apart_from_others() -> None:
    boot = Path("/proc/sys/kernel/random/boot_id")
    if not boot.exists():
        pytest.skip("this platform does not name its boot")

    assert ME.boot == boot.read_text(encoding="ascii").strip()
    assert holders._first_line("/nonexistent") is None


def test_a_first_line_that_is_empty_or_no_text_says_nothing(tmp_path: Path) -> None:
    for data in (b"\n", b"\xff\n"):
        (tmp_path / "id").write_bytes(data)
        assert holders._first_line(str(tmp_path / "id")) is None
    (tmp_path / "id").write_bytes(b"abc\n")
    assert holders._first_line(str(tmp_path / "id")) == "abc"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    add(tmp_path, "one")
    return path_of(tmp_path).with_name("elite.json.lock")


def test_the_originals_lock_that_is_no_text_counts_as_held(tmp_path: Path, original: Path) -> None:
    original.write_bytes(b"\xff\xfe")

    assert foreign_lock.holder_of(path_of(tmp_path)) == "an unknown process of the TypeScript release"


def test_a_process_we_may_not_signal_lives(tmp_path: Path, original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, number: int) -> None:
        assert (pid, number) == (77, 0)
        raise PermissionError

    original.write_text(f"{socket.gethostname()}:77-1")
    monkeypatch.setattr(os, "kill", forbidden)

    assert foreign_lock.holder_of(path_of(tmp_path)) == "process 77 of the TypeScript release"


def test_a_note_that_became_a_link_or_a_pipe_meanwhile_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    os.mkfifo(tmp_path / "pipe")

    assert foreign_lock._read(tmp_path / "there") == "text"
    assert foreign_lock._read(tmp_path / "link") is None
    assert foreign_lock._read(tmp_path / "pipe") == ""


HOST = socket.gethostname()
UNKNOWN = "an unknown process of the TypeScript release (see {path})"


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (None, None),
        (f"{HOST}:{2**22 + 7}:1-abc", None),
        (f"{HOST}:{os.getpid()}:1-abc\n", (f"process {os.getpid()} of the TypeScript release", True)),
        ("LAP\x1btop:12:1-abc", ("the TypeScript release on LAP_top (see {path})", False)),
        ("x" * 200 + ":12:1-abc", (f"the TypeScript release on {'x' * 64} (see {{path}})", False)),
        ("no note", (UNKNOWN, False)),
        ("y" * 1025, (UNKNOWN, False)),
    ],
    ids=["none", "dead", "alive", "elsewhere", "long name", "odd", "too long"],
)
def test_who_shows_the_originals_reminders(tmp_path: Path, note: str | None, told: tuple[str, bool] | None) -> None:
    path = tmp_path / "app.json.wakeowner"
    if note is not None:
        path.write_text(note)

    expected = None if told is None else (told[0].format(path=path), told[1])
    assert foreign_lock.reminding(tmp_path / "app.json") == expected


@pytest.mark.parametrize("kind", [Path.mkdir, lambda path: path.symlink_to("app.json.elsewhere"), os.mkfifo])
def test_an_originals_note_that_is_no_file_is_a_stranger(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    path = tmp_path / "app.json.wakeowner"
    kind(path)

    assert foreign_lock.reminding(tmp_path / "app.json") == (UNKNOWN.format(path=path), False)
