"""Who may write: the kernel's word counts, the note in the lock file is for people and other machines."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import filelock
import portalocker
import pytest
from packaging.version import Version

from persona_hooks.errors import BusyError, ConflictError, RefusedError, StorageError
from persona_store import diagnostics, doctor, holders
from persona_store.document import Document
from persona_store.layout import family_of
from persona_store.locks import POLL, LockName, LockOrderError, Locks, Rank
from persona_store.rows import RawCodec
from persona_store.standing_lock import StandingLock
from tests.support.crash.battery import child
from tests.support.crash.documents import Item, add, adding, ids, profile, store
from tests.support.crash.interrupting import interrupted

MEMORY = LockName(Rank.TRANSACTION, "memory", "memory")
HISTORY = LockName(Rank.HISTORY, "memory", "memory/ltm/elite.json")
STORE = LockName(Rank.STORE, "memory", "memory/ltm/elite.json")
BACKLOG = LockName(Rank.STORE, "backlog", "backlog/app.json")


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    return Locks(tmp_path / "root")


def lock_file(root: Path) -> Path:
    return root / "persona-mind/.locks/memory.transaction"


def mark(root: Path, record: bytes) -> None:
    lock_file(root).parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    lock_file(root).write_bytes(record)
    lock_file(root).chmod(0o600)


def test_the_libraries_are_as_new_as_the_rules_need() -> None:
    assert Version(filelock.__version__) >= Version("3.30")
    assert Version(portalocker.__version__) >= Version("4.0")


def test_locks_are_taken_in_one_order(locks: Locks) -> None:
    with locks.hold(MEMORY), locks.hold(HISTORY), locks.hold(STORE):
        pass


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (STORE, MEMORY),
        (STORE, HISTORY),
        (HISTORY, MEMORY),
        (STORE, STORE),
        (MEMORY, MEMORY),
        (MEMORY, BACKLOG),
        (BACKLOG, MEMORY),
    ],
    ids=str,
)
def test_any_other_order_raises_at_once(locks: Locks, held: LockName, wanted: LockName) -> None:
    with locks.hold(held), pytest.raises(LockOrderError), locks.hold(wanted):
        pass


def test_a_lock_of_another_profile_is_no_matter(locks: Locks, tmp_path: Path) -> None:
    with locks.hold(STORE), Locks(tmp_path / "other").hold(MEMORY):
        pass


def test_a_held_lock_names_its_holder(locks: Locks) -> None:
    caught: list[BusyError] = []

    def wait() -> None:
        try:
            with locks.hold(MEMORY, timeout=0.05):
                pass
        except BusyError as error:
            caught.append(error)

    with locks.hold(MEMORY):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(10)
    assert caught[0].details["holder"] == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_waiter_stops_when_its_caller_says_so(locks: Locks) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise RefusedError("the session is over")

    caught: list[BaseException] = []

    def wait() -> None:
        try:
            with locks.hold(MEMORY, timeout=30, check=check):
                pass
        except RefusedError as error:
            caught.append(error)

    with locks.hold(MEMORY):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(10)
    assert str(caught[0]) == "the session is over"


def test_whoever_takes_a_lock_again_at_once_leaves_others_a_turn(locks: Locks) -> None:
    done = threading.Event()

    def keep_on() -> None:
        while not done.is_set():
            with locks.hold(BACKLOG):
                time.sleep(4 * POLL)

    thread = threading.Thread(target=keep_on)
    thread.start()
    try:
        for _ in range(5):
            with Locks(locks.root).hold(BACKLOG, timeout=5):
                pass
    finally:
        done.set()
        thread.join()


def test_wherever_it_is_interrupted_a_lock_is_free_again_for_this_process_and_for_others(locks: Locks) -> None:
    def enter() -> None:
        with locks.hold(BACKLOG, timeout=0):
            pass

    enter()
    stop = 1
    while interrupted(enter, stop):
        assert child(enter).word == "acknowledged", f"another process is kept out after place {stop}"
        enter()
        stop += 1
    assert stop > 100


def test_a_standing_lock_is_free_again_wherever_taking_it_or_letting_it_go_is_interrupted(tmp_path: Path) -> None:
    def serve() -> None:
        lock = StandingLock(tmp_path, "reminders")
        assert lock.take()
        lock.release()

    serve()
    stop = 1
    while interrupted(serve, stop):
        serve()
        assert child(serve).word == "acknowledged", f"another process is kept out after place {stop}"
        stop += 1
    assert stop > 50


def test_a_killed_holder_is_followed_at_once(tmp_path: Path) -> None:
    add(tmp_path, "one")
    program = (
        "import sys, time; sys.path[:0] = sys.argv[2:]; from pathlib import Path\n"
        "from tests.support.crash.documents import profile\n"
        "with profile(Path(sys.argv[1])).transaction():\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), *sys.path], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGSTOP)
    mine, document = store(tmp_path)
    with pytest.raises(BusyError) as caught, mine.transaction(timeout=0.2):
        pass
    assert str(holder.pid) in str(caught.value.details["holder"])
    holder.kill()
    holder.wait()
    holder.stdout.close()

    with mine.transaction(timeout=5) as transaction:
        transaction.update(document, lambda _: [])
    assert [note.word for note in diagnostics.history(mine.root)] == ["lock_recovered"]


def test_a_child_that_leaves_its_parents_block_touches_nothing(tmp_path: Path) -> None:
    mine, document = store(tmp_path)
    add(tmp_path, "one")

    def leave() -> None:
        block.__exit__(None, None, None)

    block = mine.transaction()
    transaction = block.__enter__()
    try:
        held = lock_file(tmp_path).read_bytes()
        child(leave)
        assert lock_file(tmp_path).read_bytes() == held
        assert child(lambda: _enter(tmp_path)).word == "BusyError"
        assert transaction.update(document, lambda _: []).changed
    finally:
        block.__exit__(None, None, None)


def test_a_child_that_ends_does_not_free_its_parents_lock(tmp_path: Path) -> None:
    mine, _ = store(tmp_path)

    def intrude() -> str:
        try:
            with profile(tmp_path).transaction(timeout=0.05):
                return "entered"
        except BusyError:
            return "kept out"

    with mine.transaction():
        assert child(lambda: None).word == "acknowledged"
        assert child(intrude).value == "kept out"


def test_a_child_does_not_keep_the_lock_of_a_killed_parent(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; sys.path[:0] = sys.argv[2:]; from pathlib import Path\n"
        "from tests.support.crash.documents import profile\n"
        "with profile(Path(sys.argv[1])).transaction():\n"
        "    child = os.fork()\n"
        "    if child:\n        print(child, flush=True)\n"
        "    time.sleep(60)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), *sys.path], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    orphan = int(holder.stdout.readline())
    try:
        holder.kill()
        holder.wait()
        with store(tmp_path)[0].transaction(timeout=5):
            pass
    finally:
        os.kill(orphan, signal.SIGKILL)
        holder.stdout.close()


def test_a_child_takes_locks_of_its_own_where_its_parent_took_them_before(tmp_path: Path) -> None:
    mine, document = store(tmp_path)

    def remember(text: str, timeout: float = 10.0) -> None:
        with mine.transaction(timeout=timeout) as transaction:
            transaction.update(document, adding(document, text))

    def forked(text: str, timeout: float = 10.0) -> str:
        return child(lambda: remember(text, timeout)).word

    remember("parent")
    assert forked("child") == "acknowledged"
    with mine.transaction() as transaction:
        assert forked("too early", 0.05) == "BusyError"
        assert child(lambda: forked("too early", 0.05)).value == "BusyError"
        assert transaction.update(document, adding(document, "still mine")).changed
    assert child(lambda: forked("grandchild")).value == "acknowledged"
    remember("parent again")

    assert ids(tmp_path) == ["parent", "child", "still mine", "grandchild", "parent again"]


ME = holders.this_process()
DEAD = replace(ME, pid=2**22 + 5)


@pytest.mark.parametrize(
    ("record", "word"),
    [
        (b"", None),
        (bytes(256), None),
        (ME.record(holders.FREE), None),
        (DEAD.record(), "lock_recovered"),
        (replace(ME, pid=1, start="1").record(), "lock_recovered"),
        (replace(ME, boot="another-boot").record(), "lock_recovered"),
        (replace(ME, host="container-2", pid=1).record(), "lock_recovered"),
        (ME.record(), "lock_recovered"),
        (b"held host=", "lock_malformed"),
        (DEAD.record()[:100] + bytes(156), "lock_malformed"),
        (os.urandom(256), "lock_malformed"),
        (b"x" * 5000, "lock_malformed"),
    ],
)
def test_a_note_left_on_this_machine_lets_the_next_one_in(tmp_path: Path, record: bytes, word: str | None) -> None:
    mark(tmp_path, record)

    add(tmp_path, "one")

    assert [note.word for note in diagnostics.history(tmp_path / "persona-mind")] == ([word] if word else [])
    kept = [path.read_bytes() for path in lock_file(tmp_path).parent.glob("*.malformed.*")]
    assert kept == ([record[: holders.MAX_READ]] if word == "lock_malformed" else [])
    assert lock_file(tmp_path).stat().st_size == holders.RECORD_BYTES


def test_a_note_of_another_machine_keeps_out_until_a_person_frees_it(tmp_path: Path) -> None:
    mark(tmp_path, replace(ME, host="laptop", machine="other", boot="other").record())

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "one")
    assert caught.value.reason == "lock_foreign"
    assert "laptop" in str(caught.value)
    assert "foreign_lock" in {finding.word for finding in doctor.examine(profile(tmp_path))}

    lock_file(tmp_path).unlink()
    assert add(tmp_path, "one") == 1


def test_a_released_note_of_another_machine_lets_in(tmp_path: Path) -> None:
    mark(tmp_path, replace(ME, machine="other", boot="other").record(holders.FREE))

    assert add(tmp_path, "one") == 1


def test_a_live_process_in_the_note_means_the_kernel_does_not_keep_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("persona_store.locks.DYING", 0.05)
    parent = holders.start_token(os.getppid())
    if parent is None:
        pytest.skip("this platform has no start tokens")
    mark(tmp_path, replace(ME, pid=os.getppid(), start=parent).record())

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "one")
    assert caught.value.reason == "lock_alive"


def test_a_holder_that_has_ended_and_was_not_noticed_yet_lets_in(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        status = Path(f"/proc/{pid}/stat")
        if not status.exists():
            pytest.skip("this platform has no start tokens")
        start = status.read_text().rpartition(")")[2].split()[19]
        mark(tmp_path, replace(ME, pid=pid, start=start).record())

        assert add(tmp_path, "one") == 1
    finally:
        os.waitpid(pid, 0)


def test_a_lock_file_replaced_while_held_stops_the_change(tmp_path: Path) -> None:
    add(tmp_path, "one")
    mine, document = store(tmp_path)
    with mine.transaction() as transaction:
        lock_file(tmp_path).unlink()
        with pytest.raises(ConflictError) as caught:
            transaction.update(document, lambda _: [])

    assert caught.value.reason == "lock_replaced"
    assert ids(tmp_path) == ["one"]


def _hostile(path: Path, kind: str, victim: Path) -> None:
    match kind:
        case "link":
            path.symlink_to(victim)
        case "dangling link":
            path.symlink_to(victim.with_name("nowhere"))
        case "pipe":
            os.mkfifo(path, 0o600)
        case "directory":
            path.mkdir()
        case "hard link":
            path.hardlink_to(victim)
        case _:
            # The name of a socket may be short only, so it is bound from where it lies.
            with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path.name)


KINDS = ("link", "dangling link", "pipe", "directory", "socket")


@pytest.mark.parametrize("kind", [*KINDS, "hard link"])
def test_a_lock_path_that_is_no_lock_file_is_refused(tmp_path: Path, kind: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    lock_file(tmp_path).parent.mkdir(parents=True, mode=0o700)
    path = lock_file(tmp_path)
    _hostile(path, kind, victim)

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "one")
    assert caught.value.message == (
        f"{path} has other names, as copying by hard links gives it, so it was left untouched; delete it once nobody "
        "uses the profile: it is a lock and holds no memory"
        if kind == "hard link"
        else f"{path} is no ordinary lock file; it was left untouched"
    )
    assert (caught.value.reason, caught.value.details["path"]) == ("unsafe_lock", str(path))
    assert victim.read_text() == "untouched"
    assert not victim.with_name("nowhere").exists()


@pytest.mark.parametrize("kind", [*KINDS, "hard link"])
def test_a_temporary_name_that_is_taken_is_not_used_and_what_it_names_is_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    add(tmp_path, "one")
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    names = iter(["0" * 32, *(f"{number:032x}" for number in range(1, 9))])
    monkeypatch.setattr("persona_store.files.secrets.token_hex", lambda _: next(names))
    taken = store(tmp_path)[1].path.with_name(f".elite.json.tmp-{'0' * 32}")
    monkeypatch.setattr("persona_store.commit.sweep", lambda *_: _hostile(taken, kind, victim))

    add(tmp_path, "two")

    assert ids(tmp_path) == ["one", "two"]
    assert victim.read_text() == "untouched"
    assert not victim.with_name("nowhere").exists()
    assert os.path.lexists(taken)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["elite.json", "elite.json.bak"])
def test_a_store_path_that_is_no_file_is_refused_and_untouched(tmp_path: Path, kind: str, name: str) -> None:
    add(tmp_path, "one")
    add(tmp_path, "two")
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    path = store(tmp_path)[1].path.with_name(name)
    path.unlink()
    _hostile(path, kind, victim)

    with pytest.raises((RefusedError, StorageError)):
        add(tmp_path, "three")
    assert victim.read_text() == "untouched"
    assert not victim.with_name("nowhere").exists()


def test_a_directory_that_is_a_link_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "persona-mind").mkdir(mode=0o700)
    (tmp_path / "persona-mind/memory").symlink_to(outside)

    with pytest.raises(RefusedError):
        add(tmp_path, "one")
    assert not list(outside.iterdir())


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / "persona-mind").symlink_to(elsewhere)

    add(tmp_path, "one")
    assert (elsewhere / "memory/ltm/elite.json").is_file()


def test_a_file_of_another_account_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    add(tmp_path, "one")
    os.chown(store(tmp_path)[1].path, 65534, 65534)

    with pytest.raises(RefusedError) as caught:
        add(tmp_path, "two")
    assert caught.value.reason == "foreign_account"


def _original(root: Path) -> Path:
    return store(root)[1].path.with_name("elite.json.lock")


@pytest.mark.parametrize(
    "token", ["{host}:{me}-1", "elsewhere:1-1", "no token", ""], ids=["alive", "foreign", "odd", "empty"]
)
def test_the_originals_lock_is_respected_while_its_holder_may_live(tmp_path: Path, token: str) -> None:
    add(tmp_path, "one")
    _original(tmp_path).write_text(token.format(host=socket.gethostname(), me=os.getpid()))
    mine, document = store(tmp_path)

    with mine.transaction(timeout=0.05) as transaction, pytest.raises(BusyError) as caught:
        transaction.update(document, lambda _: [])
    assert caught.value.reason == "original_release"
    assert ids(tmp_path) == ["one"]


def test_the_originals_lock_of_a_dead_process_is_passed_and_left(tmp_path: Path) -> None:
    add(tmp_path, "one")
    _original(tmp_path).write_text(f"{socket.gethostname()}:{2**22 + 7}-1")

    add(tmp_path, "two")

    assert _original(tmp_path).exists()


def test_no_lock_of_the_originals_name_is_ever_made(tmp_path: Path) -> None:
    add(tmp_path, "one")

    assert not list((tmp_path / "persona-mind").rglob("*.lock"))
    assert sorted(path.name for path in (tmp_path / "persona-mind/.locks").iterdir()) == ["memory.transaction"]


def test_the_originals_lock_that_goes_away_is_waited_for(tmp_path: Path) -> None:
    add(tmp_path, "one")
    _original(tmp_path).write_text("elsewhere:1-1")
    timer = threading.Timer(0.1, _original(tmp_path).unlink)
    timer.start()

    add(tmp_path, "two")

    timer.join()
    assert ids(tmp_path) == ["one", "two"]


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    mine, document = store(tmp_path)

    def work(name: str) -> None:
        for number in range(10):
            row = document.row(Item(id=f"{name}{number}", text="t"))
            with mine.transaction(timeout=60) as transaction:
                transaction.update(document, lambda snapshot, row=row: [*snapshot.rows, row])  # type: ignore[misc]

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(ids(tmp_path))) == 40
    assert document.read().sequence == 40


def test_waiting_is_not_forever(tmp_path: Path) -> None:
    began = time.monotonic()
    mine, _ = store(tmp_path)
    with mine.transaction():
        assert child(lambda: _enter(tmp_path)).word == "BusyError"
    assert time.monotonic() - began < 30


def _enter(root: Path) -> None:
    with profile(root).transaction(timeout=0):
        pass


@pytest.mark.parametrize(
    ("relative", "family"),
    [
        ("memory/ltm/elite.json", "memory"),
        ("memory/stm/app.json", "memory"),
        ("quarantine.json", "memory"),
        ("later/than/this.json", "memory"),
        ("backlog/app.json", "backlog"),
        ("recorder/elite.json", "recorder"),
    ],
)
def test_where_a_document_lies_decides_its_locks_whoever_opens_it(tmp_path: Path, relative: str, family: str) -> None:
    profile, document = store(tmp_path, relative)
    assert {document.family, Document(profile.root, relative, RawCodec()).family, family_of(relative)} == {family}
    if family == "memory":
        with pytest.raises(LockOrderError):
            profile.update(document, adding(document, "a"))
        with profile.transaction() as transaction:
            transaction.update(document, adding(document, "a"))
    else:
        profile.update(document, adding(document, "a"))
    locks = [path.name for path in (profile.root / ".locks").iterdir() if path.suffix in {".store", ".transaction"}]
    assert {name.partition("!")[0].partition(".")[0] for name in locks} == {family}
