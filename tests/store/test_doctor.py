"""What the doctor says is true, also beside a writer, and what it advises can be done by a person and helps."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from persona_hooks.errors import CorruptError, PersonaError, RefusedError
from persona_store import backup, diagnostics, doctor, holders, restoration
from persona_store.locks import LOCKS
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
