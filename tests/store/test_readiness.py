"""What the doctor says of copies, modes and others' notes can be done as it stands, and agrees with what is done."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import StorageError
from persona_store import cloud, doctor, foreign_lock, readiness
from persona_store.locks import LOCKS, LockName, Rank
from tests.support.crash.documents import add, profile, store

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    # What a shell would take apart.
    place = tmp_path / "it's a $HOME; (mine)"
    place.mkdir()
    for identity in ("one", "two"):
        add(place, identity)
    return place


def live(root: Path) -> Path:
    return store(root)[1].path


def newer(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 9'))


def foreign(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 65534, 65534)


UNREAD: dict[str, Callable[[Path], object]] = {
    "torn": lambda path: path.write_bytes(b"torn"),
    "empty": lambda path: path.write_bytes(b""),
    "newer": newer,
    "oversize": lambda path: os.truncate(path, 2**33),
    "foreign": foreign,
}


@pytest.mark.parametrize("damage", UNREAD)
def test_a_copy_that_cannot_be_read_has_one_finding_and_merging_agrees_with_it(root: Path, damage: str) -> None:
    path = live(root).with_name("elite (conflicted copy 2026-03-02).json")
    path.write_bytes(live(root).read_bytes())
    path.chmod(0o600)
    assert [one.word for one in doctor.examine(profile(root))] == ["conflict_copy"]
    UNREAD[damage](path)

    # Any file of another account is told of as well.
    (finding,) = [one for one in doctor.examine(profile(root)) if one.word != "foreign_account"]

    assert (finding.word, finding.weight) == ("unreadable_copy", "warning")
    assert "move or delete it" in finding.advice
    assert "restore" not in finding.advice
    (copy,) = cloud.conflict_copies(profile(root).root)
    assert cloud.merge(profile(root), copy, lambda _: None) is None
    assert path.exists()
    path.unlink()
    assert doctor.examine(profile(root)) == []


@pytest.mark.parametrize("name", ["elite.json", "elite (conflicted copy 2026-03-02).json"])
def test_a_mode_is_put_right_by_the_very_line_that_is_offered(root: Path, name: str) -> None:
    path = live(root).with_name(name)
    path.write_bytes(live(root).read_bytes())
    path.chmod(0o644)
    (finding,) = [one for one in doctor.examine(profile(root)) if one.word == "readable_by_others"]

    subprocess.run(["/bin/sh", "-c", finding.advice], check=True)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", [Path.touch, lambda path: path.symlink_to(path)], ids=["file", "link"])
def test_a_folder_that_cannot_be_looked_into_holds_no_note_of_the_original(
    tmp_path: Path, kind: Callable[[Path], None]
) -> None:
    kind(tmp_path / "backlog")

    with pytest.raises(StorageError):
        foreign_lock.reminding(tmp_path / "backlog" / "app.json")


def test_a_lock_that_is_let_go_in_a_moment_is_nobodys(root: Path) -> None:
    mine, document = profile(root), store(root)[1]
    name = LockName(Rank.TRANSACTION, "memory", "memory")
    assert readiness.lock_of(document) == name
    assert (readiness.held(document), readiness.hindrance(document)) == (None, None)
    with mine.locks.hold(name):
        held = readiness.held(document)
        assert held is not None
        assert held.path == mine.root / LOCKS / name.file
        assert f"process {os.getpid()} on " in held.holder
        # It is let go, and so nothing that a person need do anything about.
        assert readiness.hindrance(document) is None
    assert readiness.held(document) is None


def test_a_profile_that_is_not_there_yet_is_ready_and_is_not_made(tmp_path: Path) -> None:
    document = store(tmp_path / "agent")[1]
    assert readiness.hindrance(document) is None
    assert readiness.held(document) is None
    assert list(tmp_path.iterdir()) == []
