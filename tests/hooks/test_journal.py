"""The session log: branches, guards, files."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks import logfile, logformat
from persona_hooks.errors import (
    BusyError,
    CapacityError,
    ConflictError,
    CorruptError,
    InvalidError,
    NotFoundError,
    StorageError,
    UncertainError,
    UnsupportedVersionError,
)
from persona_hooks.journal import JsonlJournal, MemoryJournal, SessionLog
from persona_hooks.logformat import Damage
from persona_hooks.ports import Entry, Guard, Journal, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.clock import ManualClock

SESSION = "session-1"
GUARD = Guard(SESSION, 0)


@pytest.fixture(params=["memory", "file"])
def log(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> SessionLog:
    if request.param == "memory":
        return MemoryJournal(SESSION, "/work", now=clock.now)
    return JsonlJournal(tmp_path / "logs" / "log.jsonl", SESSION, "/work", now=clock.now)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "log.jsonl"


@pytest.fixture
def stored(path: Path) -> JsonlJournal:
    journal = JsonlJournal(path, SESSION, "/work")
    journal.message("user", "hello")
    return journal


def texts(entries: list[Entry]) -> list[Any]:
    return [entry.data.get("content", entry.data.get("n")) for entry in entries]


def test_a_branch_runs_from_the_root_to_the_leaf(log: SessionLog) -> None:
    first = log.message("user", "one")
    log.message("assistant", "two")
    log.branch_to(first.id)
    log.message("assistant", "three")
    assert texts(log.branch()) == ["one", "three"]
    assert texts(log.entries()) == ["one", "two", "three"]


def test_a_second_root_begins_a_branch_of_its_own(log: SessionLog) -> None:
    log.message("user", "one")
    log.branch_to(None)
    assert log.branch() == []
    assert log.message("user", "two").parent_id is None
    assert texts(log.branch()) == ["two"]


def test_a_branch_can_be_asked_for_one_type(log: SessionLog) -> None:
    log.message("user", "one")
    log.append(GUARD, "note", {"n": 1})
    log.append(GUARD, "card", {"n": 2})
    log.record("model_change", {"n": 3})
    assert texts(log.branch("note")) == [1]
    assert [entry.type for entry in log.branch()] == ["message", "custom", "custom", "model_change"]


def test_a_branch_that_does_not_exist_is_refused(log: SessionLog) -> None:
    with pytest.raises(NotFoundError):
        log.branch_to("nowhere")
    with pytest.raises(NotFoundError):
        log.path_to("nowhere")


@pytest.mark.parametrize(
    ("guard", "reason"),
    [
        (Guard("other", 0), "foreign_session"),
        (Guard(SESSION, 1), "stale_session"),
        (Guard(SESSION, 0, "nowhere"), "branch_moved"),
        (Guard(SESSION, 0, ""), "branch_moved"),
    ],
)
def test_an_append_under_an_outdated_guard_is_refused(log: SessionLog, guard: Guard, reason: str) -> None:
    log.message("user", "one")
    with pytest.raises(ConflictError) as refusal:
        log.append(guard, "note", {})
    assert (refusal.value.reason, refusal.value.changed) == (reason, "no")
    assert len(log.entries()) == 1


def test_an_append_after_the_generation_was_raised_is_refused(log: SessionLog, path: Path) -> None:
    log.message("user", "one")
    session = Session(SESSION, 0, path, log)
    guard = session.guard()
    assert log.append(guard, "note", {}).id == log.leaf
    log.generation += 1
    with pytest.raises(ConflictError):
        log.append(guard, "note", {})


def test_a_guard_of_an_empty_branch_holds_until_the_first_entry(log: SessionLog, path: Path) -> None:
    session = Session(SESSION, 0, path, log)
    guard = session.guard(leaf=True)
    log.append(guard, "note", {"n": 1})
    with pytest.raises(ConflictError):
        log.append(guard, "note", {"n": 2})
    log.append(session.guard(leaf=True), "note", {"n": 3})
    assert texts(log.branch()) == [1, 3]


def test_both_journals_are_what_plugins_are_promised(log: SessionLog) -> None:
    promised: Journal = log
    assert promised.generation == 0


def test_listeners_hear_of_every_append_until_they_stop(log: SessionLog) -> None:
    heard: list[Entry] = []
    stop = log.on_append(heard.append)
    log.message("user", "one")
    log.append(GUARD, "note", {"n": 1})
    stop()
    log.message("user", "two")
    assert texts(heard) == ["one", 1]


def test_what_a_caller_changes_afterwards_does_not_reach_the_log(log: SessionLog) -> None:
    data = {"ids": ["a"]}
    log.append(GUARD, "card", data)
    data["ids"].append("b")
    assert log.branch("card")[0].data == {"ids": ["a"]}


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), float("inf"), b"x", object()], ids=repr)
def test_data_that_is_no_json_is_refused(log: SessionLog, value: object) -> None:
    with pytest.raises(InvalidError):
        log.append(GUARD, "note", {"value": value})
    assert log.entries() == []


def test_an_entry_that_is_too_long_is_refused_with_its_limit(log: SessionLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logformat, "MAX_LINE", 1000)
    with pytest.raises(CapacityError) as refusal:
        log.message("user", "x" * 1000)
    assert refusal.value.details["limit"] == "log_line"
    assert log.entries() == []


def test_timestamps_are_the_clocks_in_utc(log: SessionLog, clock: ManualClock) -> None:
    clock.advance(1.25)
    log.message("user", "one")
    assert log.entries()[0].timestamp == "2026-03-02T09:30:01.250Z"


# --- files


def test_nothing_is_written_before_the_first_message(path: Path) -> None:
    journal = JsonlJournal(path, SESSION, "/work")
    receipt = journal.append(GUARD, "note", {"n": 1})
    assert not receipt.durable
    assert not path.parent.exists()
    assert journal.message("user", "hello").durable
    assert texts(JsonlJournal.open(path).entries()) == [1, "hello"]
    assert journal.append(GUARD, "note", {"n": 2}).durable


def test_a_lasting_log_writes_its_first_entry_although_nobody_spoke(path: Path) -> None:
    journal = JsonlJournal(path, SESSION, "/work", lasting=True)
    assert not path.parent.exists()
    assert journal.append(GUARD, "note", {"n": 1}).durable
    assert journal.append(GUARD, "note", {"n": 2}).durable
    assert texts(JsonlJournal.open(path).branch()) == [1, 2]


def test_two_lasting_logs_of_one_file_keep_what_both_wrote(path: Path) -> None:
    first, second = (JsonlJournal(path, SESSION, "/work", lasting=True) for _ in range(2))
    first.append(GUARD, "note", {"n": 1})
    assert second.append(GUARD, "note", {"n": 2}).durable
    assert texts(second.branch()) == texts(JsonlJournal.open(path).branch()) == [1, 2]


def test_a_log_in_memory_is_never_durable() -> None:
    journal = MemoryJournal(SESSION)
    assert not journal.message("user", "hello").durable
    assert journal.path is None


def test_a_log_comes_back_as_it_was(stored: JsonlJournal, path: Path) -> None:
    stored.append(GUARD, "note", {"text": "a\u2028b\u2029c\nd\ud800 é 中"})
    again = JsonlJournal.open(path)
    assert again.entries() == stored.entries()
    assert (again.leaf, again.session_id, again.cwd) == (stored.leaf, SESSION, "/work")
    assert again.damage == []
    assert len(path.read_bytes().split(b"\n")) == 4


def test_every_line_is_ascii_json_with_the_documented_keys(stored: JsonlJournal, path: Path) -> None:
    stored.append(GUARD, "note", {"text": "é\u2028"})
    header, message, note = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert header.keys() == {"type", "version", "id", "timestamp", "cwd"}
    assert message.keys() == {"type", "id", "parentId", "timestamp", "data"}
    assert message["data"] == {"role": "user", "content": "hello"}
    assert note.keys() == {"type", "id", "parentId", "timestamp", "customType", "data"}


def test_files_and_directories_are_private(stored: JsonlJournal, path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [item.name for item in path.parent.iterdir()] == ["log.jsonl"]
    assert stored.stored


def test_another_sessions_file_is_refused(stored: JsonlJournal, path: Path) -> None:
    with pytest.raises(ConflictError) as refusal:
        JsonlJournal(path, "another", "/work")
    assert refusal.value.reason == "foreign_session"
    assert stored.entries() == JsonlJournal(path, SESSION, "").entries()


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"log\.jsonl"):
        JsonlJournal.open(path)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\n",
        b"not json\n",
        b"[]\n",
        b'{"type":"message","version":1,"id":"x","timestamp":"t","cwd":"/"}\n',
        b'{"type":"session","version":true,"id":"x","timestamp":"t","cwd":"/"}\n',
        b'{"type":"session","version":0,"id":"x","timestamp":"t","cwd":"/"}\n',
        b'{"type":"session","version":"1","id":"x","timestamp":"t","cwd":"/"}\n',
        b'{"type":"session","version":1,"id":"","timestamp":"t","cwd":"/"}\n',
        b'{"type":"session","version":1,"id":"x","timestamp":"t","cwd":null}\n',
        b'{"type":"session","version":1,"id":"x","timestamp":"t","cwd":"/"}',
        '\ufeff{"type":"session","version":1,"id":"x","timestamp":"t","cwd":"/"}\n'.encode(),
        '{"type":"session","version":1,"id":"x","timestamp":"t","cwd":"/"}\n'.encode("utf-16"),
        b"[" * 100_000 + b"\n",
    ],
    ids=range(14),
)
def test_a_file_without_a_valid_header_is_corrupt_and_untouched(path: Path, header: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(header)
    with pytest.raises(CorruptError) as refusal:
        JsonlJournal.open(path)
    assert refusal.value.details["path"] == str(path)
    assert path.read_bytes() == header


@pytest.mark.usefixtures("stored")
def test_a_newer_version_is_read_and_never_written(path: Path) -> None:
    newer = path.read_bytes().replace(b'"version":1', b'"version":2')
    path.write_bytes(newer)
    journal = JsonlJournal.open(path)
    assert texts(journal.entries()) == ["hello"]
    with pytest.raises(UnsupportedVersionError):
        journal.message("user", "more")
    assert path.read_bytes() == newer


def test_a_log_that_a_newer_release_took_over_is_never_written(stored: JsonlJournal, path: Path) -> None:
    newer = path.read_bytes().replace(b'"version":1', b'"version":2')
    path.with_name("newer").write_bytes(newer)
    path.with_name("newer").rename(path)
    with pytest.raises(UnsupportedVersionError):
        stored.message("user", "more")
    assert path.read_bytes() == newer


def test_a_torn_last_line_is_kept_and_never_merged_into_the_next(stored: JsonlJournal, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"torn","par')
    journal = JsonlJournal.open(path)
    assert journal.damage == [Damage(3, "torn")]
    assert texts(journal.branch()) == ["hello"]
    journal.message("assistant", "after")
    assert b'"torn","par\n{' in path.read_bytes()
    again = JsonlJournal.open(path)
    assert texts(again.branch()) == ["hello", "after"]
    assert [damage.line for damage in again.damage] == [3]
    assert texts(stored.branch()) == ["hello", "after"]


@pytest.mark.parametrize("cut", range(1, 60))
def test_wherever_a_line_is_torn_the_next_one_is_whole(stored: JsonlJournal, path: Path, cut: int) -> None:
    stored.message("assistant", "will be torn")
    path.write_bytes(path.read_bytes()[:-cut])
    journal = JsonlJournal.open(path)
    journal.message("user", "after")
    again = JsonlJournal.open(path)
    # Without its LF alone a line is whole, so that it counts.
    expected = ["hello", "will be torn", "after"] if cut == 1 else ["hello", "after"]
    assert texts(again.branch()) == expected
    assert again.entries() == journal.entries()


def test_garbage_in_the_middle_is_isolated_line_by_line(stored: JsonlJournal, path: Path) -> None:
    lines = [
        b"\xff\xfe\x00garbage",
        b"{}",
        b"[1,2]",
        b'{"type":"message","id":1,"parentId":null,"timestamp":"t","data":{}}',
        b'{"type":"custom","id":"c","parentId":null,"timestamp":"t","data":{}}',
        b'{"type":"message","id":"m","parentId":null,"timestamp":"t","data":{"x":NaN}}',
        b"[" * 100_000,
        b"1" * 5_000,
        b'"\\ud800"',
    ]
    with path.open("ab") as file:
        file.write(b"\n".join(lines) + b"\n\n")
    journal = JsonlJournal.open(path)
    assert [damage.line for damage in journal.damage] == list(range(3, 12))
    assert {damage.reason for damage in journal.damage} == {"not_json", "not_an_entry"}
    journal.message("assistant", "after")
    assert texts(JsonlJournal.open(path).branch()) == ["hello", "after"]
    assert all(line in path.read_bytes() for line in lines)
    assert texts(stored.branch()) == ["hello", "after"]


def test_a_doubled_id_is_isolated(stored: JsonlJournal, path: Path) -> None:
    line = path.read_bytes().splitlines(keepends=True)[1]
    with path.open("ab") as file:
        file.write(line.replace(b"hello", b"forged"))
    journal = JsonlJournal.open(path)
    assert journal.damage == [Damage(3, "doubled_id")]
    assert texts(journal.entries()) == ["hello"]
    assert stored.damage == []
    stored.branch()
    assert stored.damage == journal.damage


def test_a_lost_line_does_not_take_the_conversation_before_it_along(stored: JsonlJournal, path: Path) -> None:
    stored.message("assistant", "lost")
    stored.message("user", "after")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b"#" * 30 + b"\n" + lines[3])
    journal = JsonlJournal.open(path)
    assert texts(journal.branch()) == ["hello", "after"]
    assert journal.damage == [Damage(3, "not_json"), Damage(4, "unknown_parent")]


def test_the_leaf_of_a_loaded_log_is_its_last_line(stored: JsonlJournal, path: Path) -> None:
    first = stored.leaf
    stored.message("assistant", "one")
    stored.branch_to(first)
    stored.message("assistant", "two")
    stored.branch_to(stored.entries()[1].id)
    assert texts(JsonlJournal.open(path).branch()) == ["hello", "two"]


def test_two_journals_on_one_file_follow_each_other(stored: JsonlJournal, path: Path) -> None:
    other = JsonlJournal.open(path)
    other.message("assistant", "from the other")
    stored.message("user", "from the first")
    assert texts(other.branch()) == ["hello", "from the other", "from the first"]
    assert stored.entries() == other.entries()


def test_a_journal_on_a_branch_of_its_own_stays_there(stored: JsonlJournal, path: Path) -> None:
    first = stored.leaf
    stored.message("assistant", "one")
    stored.branch_to(first)
    JsonlJournal.open(path).message("user", "elsewhere")
    stored.message("assistant", "two")
    assert texts(stored.branch()) == ["hello", "two"]


def test_a_guard_with_a_leaf_sees_what_another_process_appended(stored: JsonlJournal, path: Path) -> None:
    guard = Session(SESSION, 0, path, stored).guard(leaf=True)
    JsonlJournal.open(path).message("assistant", "meanwhile")
    with pytest.raises(ConflictError) as refusal:
        stored.append(guard, "note", {})
    assert refusal.value.reason == "branch_moved"


def test_a_session_whose_file_another_process_created_goes_on_in_it(path: Path) -> None:
    first, second = (JsonlJournal(path, SESSION, "/work") for _ in range(2))
    second.append(GUARD, "note", {"n": 1})
    second.append(GUARD, "note", {"n": 2})
    first.message("user", "faster")
    assert second.append(GUARD, "note", {"n": 3}).durable
    assert texts(second.branch()) == ["faster", 1, 2, 3]
    assert texts(JsonlJournal.open(path).branch()) == ["faster", 1, 2, 3]


def test_the_second_of_two_creators_joins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (JsonlJournal(path, SESSION, "/work") for _ in range(2))
    real = logfile.create

    def slower(where: Path, content: bytes) -> None:
        monkeypatch.setattr(logfile, "create", real)
        first.message("user", "faster")
        real(where, content)

    monkeypatch.setattr(logfile, "create", slower)
    second.append(GUARD, "note", {"n": 1})
    second.message("user", "slower")
    assert texts(JsonlJournal.open(path).branch()) == ["faster", 1, "slower"]


def test_a_fork_copies_the_path_under_the_same_ids(stored: JsonlJournal, path: Path) -> None:
    target = stored.message("assistant", "one").id
    stored.message("user", "two")
    fork = stored.fork(target, path.with_name("fork.jsonl"), session_id="session-2")
    assert [entry.id for entry in fork.branch()] == [entry.id for entry in stored.path_to(target)]
    again = JsonlJournal.open(path.with_name("fork.jsonl"))
    assert (again.session_id, again.parent, again.cwd) == ("session-2", str(path), "/work")
    fork.message("user", "elsewhere")
    assert texts(stored.branch()) == ["hello", "one", "two"]
    assert texts(again.branch()) == ["hello", "one", "elsewhere"]


def test_a_clone_holds_the_active_branch_only(stored: JsonlJournal, path: Path) -> None:
    first = stored.leaf
    stored.message("assistant", "one")
    stored.branch_to(first)
    stored.append(GUARD, "note", {"n": 2})
    clone = stored.clone(path.with_name("clone.jsonl"))
    assert clone.entries() == stored.branch()
    assert clone.session_id != SESSION


def test_a_fork_before_the_first_message_has_no_file_yet(stored: JsonlJournal, path: Path) -> None:
    fork = stored.fork(None, path.with_name("fork.jsonl"))
    assert fork.entries() == []
    assert not fork.path.exists()
    fork.message("user", "anew")
    assert JsonlJournal.open(fork.path).parent == str(path)


def test_a_fork_onto_something_is_refused(stored: JsonlJournal, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ConflictError):
        stored.clone(path)
    assert path.read_bytes() == before


def test_a_fork_in_memory_copies_the_path() -> None:
    journal = MemoryJournal(SESSION, "/work")
    target = journal.message("user", "one").id
    journal.message("assistant", "two")
    fork = journal.fork(target, session_id="session-2")
    fork.message("assistant", "three")
    assert (texts(fork.branch()), texts(journal.branch())) == (["one", "three"], ["one", "two"])
    assert (fork.session_id, fork.parent) == ("session-2", SESSION)
    assert journal.fork(None).entries() == []


def test_a_link_is_not_followed(stored: JsonlJournal, path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    path.rename(victim)
    path.symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(CorruptError):
        JsonlJournal.open(path)
    with pytest.raises(CorruptError):
        stored.message("user", "more")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CorruptError):
        JsonlJournal(path, SESSION, "/work")
    assert victim.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "directory"])
def test_what_is_no_file_is_refused_and_never_waited_for(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    make(path)
    with pytest.raises((CorruptError, StorageError)):
        JsonlJournal(path, SESSION, "/work")


def test_a_log_that_was_removed_is_not_written_again(stored: JsonlJournal, path: Path) -> None:
    path.unlink()
    with pytest.raises(ConflictError) as refusal:
        stored.message("user", "more")
    assert refusal.value.reason == "log_removed"
    assert not path.exists()
    assert texts(stored.branch()) == ["hello"]


def test_a_log_that_was_replaced_is_read_anew(stored: JsonlJournal, path: Path) -> None:
    stored.message("assistant", "one")
    kept = b"".join(path.read_bytes().splitlines(keepends=True)[:2])
    replacement = path.with_name("restored")
    replacement.write_bytes(kept)
    replacement.rename(path)
    assert texts(stored.branch()) == ["hello"]
    stored.message("assistant", "two")
    assert texts(JsonlJournal.open(path).branch()) == ["hello", "two"]


def test_a_log_may_not_grow_without_bound(stored: JsonlJournal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "MAX_LOG", path.stat().st_size + 10)
    before = path.read_bytes()
    with pytest.raises(CapacityError) as refusal:
        stored.message("user", "more")
    assert refusal.value.details["limit"] == "log"
    assert path.read_bytes() == before
    monkeypatch.setattr(logfile, "MAX_LOG", 10)
    with pytest.raises(CapacityError):
        JsonlJournal.open(path)


# --- faults of the file system


def failing(error: int, after: int = 0) -> Callable[..., Any]:
    """Return a system call that fails with ``error``; a write first writes ``after`` bytes."""
    write, left = os.write, [after]

    def call(descriptor: int, data: Any = b"") -> int:  # noqa: ANN401 - whatever os takes
        if left[0]:
            taken = write(descriptor, data[: left[0]])
            left[0] = 0
            return taken
        raise OSError(error, os.strerror(error))

    return call


@pytest.mark.parametrize("after", [0, 7])
def test_a_full_disk_leaves_the_log_as_it_was(
    stored: JsonlJournal, path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing(28, after))
        with pytest.raises(StorageError) as refusal:
            stored.message("user", "the text of a memory")
    assert refusal.value.changed == "no"
    assert "memory" not in str(refusal.value)
    assert path.read_bytes() == before
    stored.message("user", "more")
    assert texts(JsonlJournal.open(path).branch()) == ["hello", "more"]


def test_a_full_disk_leaves_no_new_log_and_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = JsonlJournal(path, SESSION, "/work")
    journal.append(GUARD, "note", {"n": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing(28, 7))
        with pytest.raises(StorageError):
            journal.message("user", "hello")
    assert list(path.parent.iterdir()) == []
    journal.message("user", "again")
    assert texts(JsonlJournal.open(path).branch()) == [1, "again"]


def test_a_disk_that_does_not_confirm_makes_it_uncertain(
    stored: JsonlJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(5))
        with pytest.raises(UncertainError) as error:
            stored.message("user", "perhaps")
    assert error.value.changed == "unknown"
    stored.message("user", "more")
    assert texts(stored.branch()) == texts(JsonlJournal.open(path).branch()) == ["hello", "perhaps", "more"]


def test_a_directory_that_does_not_confirm_makes_the_creation_uncertain(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = JsonlJournal(path, SESSION, "/work")
    journal.append(GUARD, "note", {"n": 1})
    fsync = os.fsync
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: failing(5)(fd) if stat.S_ISDIR(os.fstat(fd).st_mode) else fsync(fd))
        with pytest.raises(UncertainError):
            journal.message("user", "perhaps")
    journal.message("user", "more")
    assert texts(JsonlJournal.open(path).branch()) == [1, "perhaps", "more"]


def test_without_hard_links_a_log_is_still_created(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    JsonlJournal(path, SESSION, "/work").message("user", "hello")
    assert texts(JsonlJournal.open(path).branch()) == ["hello"]
    assert [item.name for item in path.parent.iterdir()] == ["log.jsonl"]


def test_a_log_that_somebody_holds_is_busy(stored: JsonlJournal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "LOCK_SECONDS", 0.01)
    with logfile.locked(path), pytest.raises(BusyError):
        stored.message("user", "more")
    stored.message("user", "more")


# --- laws


@given(data=st.data())
def test_any_log_comes_back_from_its_file(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    journal = JsonlJournal(path, SESSION, "/work", now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    json_values = st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    )
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(["message", "custom", "move"]))
        if step == "message":
            journal.message("user", data.draw(json_values))
        elif step == "custom":
            journal.append(GUARD, "note", {"value": data.draw(json_values)})
        else:
            journal.branch_to(data.draw(st.sampled_from([None, *(entry.id for entry in journal.entries())])))
    journal.message("user", "last")
    again = JsonlJournal.open(path)
    assert again.entries() == journal.entries()
    assert again.branch() == journal.branch()
    assert again.damage == []
    clone = journal.clone(path.with_name("clone.jsonl"))
    assert clone.branch() == journal.branch() == JsonlJournal.open(clone.path).branch()


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_in_the_middle_stop_a_log(tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    journal = JsonlJournal(path, SESSION, "/work")
    journal.message("user", "one")
    journal.message("user", "two")
    data = path.read_bytes()
    start = data.index(b"\n") + 1
    place = start + place % (len(data) - start)
    path.write_bytes(data[:place] + noise + data[place:])
    again = JsonlJournal.open(path)
    again.message("user", "three")
    final = JsonlJournal.open(path)
    assert final.entries() == again.entries()
    assert final.leaf == again.leaf
    assert final.branch()[-1].data["content"] == "three"
    assert noise in path.read_bytes()
