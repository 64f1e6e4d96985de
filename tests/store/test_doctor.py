"""What the doctor says is true, also beside a writer, and what it advises can be done by a person and helps."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from persona_hooks.errors import CorruptError, PersonaError, RefusedError
from persona_store import backup, diagnostics, doctor, holders, restoration
from persona_store.locks import LOCKS
from persona_store.standing_lock import StandingLock
from tests.support.crash.documents import add, ids, profile, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPEN = Path("/proc/self/fd")
FOREIGN = replace(holders.this_process(), host="laptop", machine="other", boot="other")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for identity in ("one", "two", "three"):
        add(tmp_path, identity)
    return tmp_path


def live(root: Path) -> Path:
    return store(root)[1].path


def previous(root: Path) -> Path:
    return live(root).with_name("elite.json.bak")


def found(root: Path) -> dict[str, doctor.Finding]:
    return {finding.word: finding for finding in doctor.examine(profile(root))}


def put_an_old_one_back(root: Path) -> None:
    newer, older = live(root).read_bytes(), previous(root).read_bytes()
    live(root).write_bytes(older)
    previous(root).write_bytes(newer)


def test_an_empty_profile_has_nothing_to_find(tmp_path: Path) -> None:
    assert doctor.examine(profile(tmp_path)) == []
    assert not (tmp_path / "persona-mind").exists()


def test_a_healthy_profile_has_nothing_to_find(root: Path) -> None:
    assert doctor.examine(profile(root)) == []


def test_open_modes_and_names_that_are_no_text_are_found(root: Path) -> None:
    live(root).chmod(0o644)
    odd = bytes(live(root).parent) + b"/\xff\xfe.json"
    with open(odd, "wb"):  # noqa: PTH123 - a name in bytes
        pass

    findings = doctor.examine(profile(root))

    assert "readable_by_others" in {finding.word for finding in findings}
    json.dumps([finding.path for finding in findings])


# --- advice that helps


def restored(root: Path) -> list[str]:
    restoration.restore(profile(root), root / "kept", lambda _: None)
    return ["one", "two", "three"]


def begun_anew(root: Path) -> list[str]:
    for path in (live(root), previous(root)):
        path.rename(root / path.name)
    return []


@pytest.mark.parametrize("follow", [restored, begun_anew])
def test_two_unreadable_versions_have_two_ways_out(root: Path, follow: Callable[[Path], list[str]]) -> None:
    backup.backup(profile(root), root / "kept")
    for path in (live(root), previous(root)):
        path.write_bytes(b"torn")
    with pytest.raises(CorruptError):
        add(root, "four")
    advice = found(root)["corrupt"].advice
    assert "`persona restore`" in advice
    assert "move both files away" in advice

    held = follow(root)

    assert ids(root) == held
    add(root, "four")
    assert ids(root) == [*held, "four"]
    assert "corrupt" not in found(root)


@pytest.mark.parametrize(
    ("away", "held"), [("elite.json", ["one", "two", "three"]), ("elite.json.bak", ["one", "two"])]
)
def test_a_file_older_than_its_own_previous_version_is_found_and_either_is_gone_on_from(
    root: Path, away: str, held: list[str]
) -> None:
    put_an_old_one_back(root)
    with pytest.raises(CorruptError):
        add(root, "four")
    finding = found(root)["backup_newer"]
    assert (finding.weight, finding.path) == ("error", "memory/ltm/elite.json")
    assert "move elite.json away" in finding.advice
    assert "or elite.json.bak to keep" in finding.advice

    live(root).with_name(away).rename(root / away)
    add(root, "four")

    assert ids(root) == [*held, "four"]
    assert not found(root).keys() & {"backup_newer", "damaged"}


def test_a_lock_of_a_machine_that_is_gone_is_freed_by_deleting_the_file_that_is_named(root: Path) -> None:
    lock = root / "persona-mind" / LOCKS / "memory.transaction"
    lock.write_bytes(FOREIGN.record())
    with pytest.raises(RefusedError):
        add(root, "four")
    finding = found(root)["foreign_lock"]
    assert f"delete {lock} once nobody uses the profile" in finding.advice

    lock.unlink()
    add(root, "four")

    assert "foreign_lock" not in found(root)


@pytest.mark.parametrize("folder", [LOCKS, f"{LOCKS}.old", f"backups{LOCKS}"])
def test_only_what_lies_among_the_locks_is_taken_for_one(root: Path, folder: str) -> None:
    place = root / "persona-mind" / folder
    place.mkdir(exist_ok=True)
    for name, record in (("a.malformed.0", b"held"), ("a.store", FOREIGN.record())):
        (place / name).write_bytes(record)

    assert (found(root).keys() & {"malformed_lock", "foreign_lock"} != set()) == (folder == LOCKS)


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_locks_that_a_copy_by_hard_links_shares_are_freed_by_deleting_those_that_are_named(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    add(root, "four")
    held = ids(root)
    election = StandingLock(profile(root).root, "backlog/app.json.reminders")
    election.take()
    election.release()
    copy = tmp_path_factory.mktemp("copy") / "agent"
    shutil.copytree(root, copy, copy_function=os.link)

    with pytest.raises(RefusedError) as writing:
        add(root, "five")
    with pytest.raises(RefusedError) as electing:
        election.take()
    refusals = [writing.value, electing.value]
    findings = [one for one in doctor.examine(profile(root)) if one.word == "unsafe_lock"]
    assert {one.advice for one in findings} == {one.message for one in refusals}
    assert all("delete it once nobody uses the profile" in refusal.message for refusal in refusals)

    for finding in findings:
        (profile(root).root / finding.path).unlink()
    add(root, "five")
    assert election.take()
    election.release()
    assert (ids(root), ids(copy)) == ([*held, "five"], held)


# --- what it remembers


def _repair(root: Path) -> None:
    live(root).write_bytes(b"torn")
    add(root, "four")


def _both_torn(root: Path) -> None:
    for path in (live(root), previous(root)):
        path.write_bytes(b"torn")
    with contextlib.suppress(PersonaError):
        add(root, "four")


def _older(root: Path) -> None:
    put_an_old_one_back(root)
    with contextlib.suppress(PersonaError):
        add(root, "four")


def _holder_died(root: Path) -> None:
    here = holders.this_process()
    (root / "persona-mind" / LOCKS / "memory.transaction").write_bytes(replace(here, start="0").record())
    add(root, "four")


def _note_torn(root: Path) -> None:
    (root / "persona-mind" / LOCKS / "memory.transaction").write_bytes(b"held ho")
    add(root, "four")


@pytest.mark.parametrize(
    ("happen", "word", "told"),
    [
        (_repair, "history_recovered_not_json", "carried on from its .bak at "),
        (_both_torn, "history_corrupt_not_json", "could be read at "),
        (_older, "history_backup_newer", "older than its own .bak at "),
        (_holder_died, "history_lock_recovered", "taken over at "),
        (_note_torn, "history_lock_malformed", "taken over at "),
    ],
)
def test_a_note_says_what_happened_and_claims_no_repair_that_was_none(
    root: Path, happen: Callable[[Path], None], word: str, told: str
) -> None:
    happen(root)

    advice = found(root)[word].advice
    assert f"{told}2026-03-02T09:30:00.000Z" in advice
    assert ("nothing was changed" in advice) == word.startswith(("history_corrupt", "history_backup"))


@pytest.mark.parametrize(
    ("word", "told"), [("lock_release", "not unlocked at "), ("of_a_release_to_come", "noted at ")]
)
def test_a_note_nobody_can_bring_about_here_is_told_too(root: Path, word: str, told: str) -> None:
    diagnostics.flush(profile(root).root, [diagnostics.Note("2026-03-02T09:30:00.000Z", word, "lock")])

    assert found(root)[f"history_{word}"].advice.startswith(told)


def test_a_line_that_is_no_note_hides_neither_another_line_nor_another_finding(root: Path) -> None:
    live(root).chmod(0o644)
    note = {"at": "2026-03-02T09:30:00.000Z", "word": "recovered_empty", "path": "x"}
    odd = [{**note, name: half} for name in note for half in ("\ud800", "\udfff")]
    lines = ["[" * 100_000, "{", "[]", "7", "null", '{"at": ' + "9" * 5_000 + "}", "{}", *map(json.dumps, (*odd, note))]
    (root / "persona-mind" / diagnostics.NAME).write_text("".join(f"{line}\n" for line in lines))

    findings = doctor.examine(profile(root))

    told = [finding for finding in findings if finding.word == "history_recovered_empty"]
    assert "x" in {finding.path for finding in told}
    assert "readable_by_others" in {finding.word for finding in findings}
    json.dumps([*map(str, findings)]).encode()


def test_a_note_that_another_thread_adds_while_notes_are_written_down_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, late = (diagnostics.Note("2026-03-02T09:30:00.000Z", word, "x") for word in ("one", "two"))
    notes, coming, real = [first], [late], json.dumps

    def adding(value: object) -> str:
        notes.extend(coming)
        coming.clear()
        return real(value)

    monkeypatch.setattr(json, "dumps", adding)
    diagnostics.flush(profile(root).root, notes)
    diagnostics.flush(profile(root).root, notes)

    assert [note.word for note in diagnostics.history(profile(root).root)] == ["one", "two"]
    assert notes == []


# --- beside what nobody here put there


def _socket(path: Path) -> None:
    # Its path may be longer than an address can be.
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as bound:
        bound.bind("bound")
        os.rename("bound", path.name)  # noqa: PTH104 - names in this folder


def _foreign(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path.touch(0o600)
    os.chown(path, 65534, 65534)


def _oversize(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**33)
    path.chmod(0o600)


ODD: dict[str, Callable[[Path], object]] = {
    "link": lambda path: path.symlink_to("nowhere"),
    "link to a folder": lambda path: path.symlink_to(path.parent),
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": Path.mkdir,
    "foreign": _foreign,
    "oversize": _oversize,
    "empty": Path.touch,
}
PLACES = [
    diagnostics.NAME,
    diagnostics.OLDER,
    f"{LOCKS}/memory.transaction",
    f"{LOCKS}/a.store",
    f"{LOCKS}/a.malformed.0",
    LOCKS,
    "a.json",
    "memory",
    "memory/ltm/elite.json",
    "memory/ltm/elite.json.bak",
    "memory/ltm/elite.json.lock",
    "memory/ltm/elite.json.corrupt-0",
    "memory/ltm/elite (1).json",
    "memory/ltm/a\\b.json",
    f"memory/ltm/{'a' * 200}.json",
    "tombstones.json",
    "tombstones.json.bak",
    "profile.key",
    "erasing.plan",
    "backups",
    "backups/daily-2026-03-02",
]


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_lies_anywhere_hides_nothing_that_is_wrong_elsewhere(root: Path, place: str, kind: str) -> None:
    home = root / "persona-mind"
    (home / "backlog").mkdir()
    (home / "backlog/app.json").write_bytes(b"torn")
    (home / "recorder").mkdir(mode=0o755)
    diagnostics.flush(home, [diagnostics.Note("2026-03-02T09:30:00.000Z", "recovered_empty", "x")])
    (home / LOCKS / "z.store").write_bytes(FOREIGN.record())
    hidden = {diagnostics.NAME: "history_recovered_empty", LOCKS: "foreign_lock"}.get(place)
    (home / place).parent.mkdir(exist_ok=True, parents=True)
    _gone(str(home / place))

    ODD[kind](home / place)

    findings = doctor.examine(profile(root))
    words = {finding.word for finding in findings}
    assert {"corrupt", "readable_by_others", "history_recovered_empty", "foreign_lock"} - {hidden} <= words
    if kind not in {"folder", "empty", "oversize"}:
        assert place in {finding.path for finding in findings if finding.weight == "error"}


@pytest.mark.skipif(not OPEN.is_dir(), reason="needs the names of open files")
@pytest.mark.parametrize("effect", ["stat", "open", "scandir"])
@pytest.mark.parametrize("place", [*PLACES, "memory/ltm", "backlog"])
def test_what_the_disk_will_not_show_is_told_and_hides_nothing_that_is_wrong_elsewhere(
    full: Path, monkeypatch: pytest.MonkeyPatch, place: str, effect: str
) -> None:
    home = full / "persona-mind"
    (home / "recorder").mkdir(mode=0o755)
    real, refused = getattr(os, effect), False

    def look(target: Any = ".", *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - passed on
        nonlocal refused
        path = Meanwhile._path(target, keywords.get("dir_fd"))
        if path == str(home / place):
            refused = True
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(target, *arguments, **keywords)

    monkeypatch.setattr(os, effect, look)
    words = {finding.word for finding in doctor.examine(profile(full))}

    assert "readable_by_others" in words
    assert ("eacces" in words) == refused


# --- beside a writer


class Meanwhile:
    """Does something just before one of the looks that are taken at the disk below a directory."""

    def __init__(self, root: Path, at: int, act: Callable[[str], object]) -> None:
        self.looks = 0
        self._root = str(root)
        self._at = at
        self._act = act
        self._doing = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[Meanwhile]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("stat", "open", "scandir"):
                patch.setattr(os, name, self._wrapped(getattr(os, name)))
            yield self

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def look(target: Any = ".", *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - passed on
            path = self._path(target, keywords.get("dir_fd"))
            if not self._doing and path.startswith(self._root):
                self._doing = True
                if self.looks == self._at:
                    self._act(path)
                self.looks += 1
                self._doing = False
            return real(target, *arguments, **keywords)

        return look

    @staticmethod
    def _path(target: object, directory: int | None) -> str:
        if isinstance(target, int):
            return str(OPEN.joinpath(str(target)).readlink())
        within = OPEN.joinpath(str(directory)).readlink() if directory is not None else Path()
        return str(within / os.fsdecode(cast("str", target)))


def looks_of(root: Path, at: int, act: Callable[[str], object]) -> tuple[int, list[str]]:
    with Meanwhile(root / "persona-mind", at, act).watching() as meanwhile:
        findings = doctor.examine(profile(root))
    return meanwhile.looks, [finding.word for finding in findings]


@pytest.fixture
def full(root: Path) -> Path:
    """A profile with a file of every kind that the doctor looks at."""
    add(root, "other", "memory/stm/app.json")
    live(root).with_name("elite.json.corrupt-0").write_bytes(b"torn")
    live(root).with_name("elite (conflicted copy 2026-03-01).json").write_bytes(live(root).read_bytes())
    live(root).with_name(f".elite.json.tmp-{'0' * 32}").touch()
    (root / "persona-mind" / LOCKS / "memory.transaction.malformed.0").write_bytes(b"held")
    (root / "persona-mind" / LOCKS / "memory.transaction").write_bytes(FOREIGN.record())
    diagnostics.flush(profile(root).root, [diagnostics.Note("2026-03-02T09:30:00.000Z", "recovered_empty", "x")])
    for path in (root / "persona-mind").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return root


def _gone(path: str) -> None:
    status = os.lstat(path) if os.path.lexists(path) else None
    if status is not None:
        (shutil.rmtree if stat.S_ISDIR(status.st_mode) else os.unlink)(path)


@pytest.mark.skipif(not OPEN.is_dir(), reason="needs the names of open files")
def test_whatever_goes_while_the_doctor_looks_it_is_passed_over(
    full: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    looks, words = looks_of(full, -1, _gone)
    assert {"quarantined", "conflict_copy", "malformed_lock", "foreign_lock", "history_recovered_empty"} <= set(words)
    assert looks > 50

    for at in range(looks):
        copy = tmp_path_factory.mktemp("copy") / "agent"
        shutil.copytree(full, copy)
        looks_of(copy, at, _gone)


@pytest.mark.skipif(not OPEN.is_dir(), reason="needs the names of open files")
def test_whatever_is_written_while_the_doctor_looks_it_finds_nothing_that_is_not_there(root: Path) -> None:
    count = 0

    def write(_: str) -> None:
        nonlocal count
        for _ in range(3):
            count += 1
            add(root, f"n{count}")

    looks, words = looks_of(root, -1, write)
    assert words == []
    for at in range(looks):
        assert looks_of(root, at, write)[1] == []
    assert count == 3 * looks
