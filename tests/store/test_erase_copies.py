"""Erasing reaches every copy of a document that somebody else may have made, takes only what was asked, and names the
rest.
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import BusyError, ConflictError
from persona_store import backup, backup_contents, doctor, files, restoration
from persona_store.erase import Target, erase
from persona_store.transaction import Profile
from tests.support.crash.documents import Item

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.document import Row, Snapshot

PRIVATE = "The summer house code is known to Marlene"
STONE = json.dumps(["note", PRIVATE.casefold()])
TARGET = Target((PRIVATE,), (STONE,))
DOCUMENTS = ["memory/ltm/elite.json", "backlog/app.json", "recorder/2026-03.json", "quarantine.json"]
"""One of every family, at every depth."""


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    return Profile(agent_dir / "persona-mind", lambda: datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


def put(profile: Profile, relative: str, *texts: str) -> Path:
    """Add rows, by one change each."""
    document = profile.document(relative, Item)
    for text in texts:
        row = document.row(Item(id=text[:9], text=text))

        def add(snapshot: Snapshot[Item], row: Row[Item] = row) -> list[Row[Item]]:
            return [*snapshot.rows, row]

        if document.family == "memory":
            with profile.transaction() as transaction:
                transaction.update(document, add)
        else:
            profile.update(document, add)
    return profile.root / relative


def put_back(profile: Profile, relative: str, *texts: str) -> tuple[Path, Path]:
    """Let a service bring a document's first version back, so that the later texts stand in its previous one only."""
    live = put(profile, relative, texts[0])
    older = live.read_bytes()
    put(profile, relative, *texts[1:], "lost: the last change itself")
    live.write_bytes(older)
    return live, live.with_name(f"{live.name}.bak")


def texts_in(path: Path) -> list[str]:
    return [row["text"] for row in json.loads(path.read_bytes())["entries"]]


def holding(root: Path) -> list[str]:
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and PRIVATE.encode() in path.read_bytes()
    ]


def test_the_last_of_what_was_acknowledged_is_no_previous_version_to_be_dropped(profile: Profile) -> None:
    kept = {path: path.read_bytes() for relative in DOCUMENTS for path in put_back(profile, relative, "one", "two")}
    put(profile, "memory/ltm/other.json", "else", PRIVATE)

    erased = erase(profile, TARGET)

    assert {path: path.read_bytes() for path in kept} == kept
    assert (erased.rows, erased.residue, erased.complete) == (1, (), True)


@pytest.mark.parametrize("relative", DOCUMENTS)
@pytest.mark.parametrize("texts", [(PRIVATE, "two"), ("one", PRIVATE, "three"), ("one", PRIVATE)])
def test_words_go_from_both_versions_that_a_person_may_choose_and_nothing_else_does(
    profile: Profile, relative: str, texts: tuple[str, ...]
) -> None:
    live, previous = put_back(profile, relative, *texts)
    before = [json.loads(path.read_bytes()) for path in (live, previous)]

    erased = erase(profile, TARGET)

    assert holding(profile.root) == []
    assert (erased.rows, erased.residue, erased.complete) == (1, (), True)
    assert set(erased.changed) == ({relative, f"{relative}.bak"} if texts[0] == PRIVATE else {f"{relative}.bak"})
    for path, was in zip((live, previous), before, strict=True):
        left = [row for row in was["entries"] if row["text"] != PRIVATE]
        assert json.loads(path.read_bytes()) == {**was, "entries": left}
    if relative != "quarantine.json":
        assert "backup_newer" in {found.word for found in doctor.examine(profile)}
    live.unlink()
    assert [item.text for item in profile.document(relative, Item).read().values] == texts_in(previous)


def test_a_newer_version_keeps_what_was_said_since_the_erasure_began(profile: Profile) -> None:
    later = f"{PRIVATE}, and to nobody else"
    _, previous = put_back(profile, "memory/ltm/elite.json", PRIVATE, later)
    target = Target((PRIVATE,), (STONE,), lambda row: json.dumps(["note", str(row["text"]).casefold()]))

    erased = erase(profile, target)

    assert texts_in(previous) == [later]
    assert (erased.complete, erased.changed) == (
        True,
        tuple(f"memory/ltm/elite.json{suffix}" for suffix in (".bak", "")),
    )


@pytest.mark.parametrize("torn", [lambda data: data[:-4], lambda data: data.replace(b"}", b"")])
@pytest.mark.parametrize("holds", [True, False])
def test_a_newer_version_that_nobody_can_read_stays_and_is_named_if_it_holds_the_words(
    profile: Profile, torn: Callable[[bytes], bytes], *, holds: bool
) -> None:
    _, previous = put_back(profile, "memory/ltm/elite.json", "one", PRIVATE if holds else "two", "three")
    previous.write_bytes(torn(previous.read_bytes()))
    data = previous.read_bytes()

    erased = erase(profile, TARGET)

    assert previous.read_bytes() == data
    assert erased.complete is not holds
    assert [found.path for found in erased.residue] == [str(previous)] * holds


def _held_by_the_original(live: Path) -> None:
    live.with_name(f"{live.name}.lock").write_text("1@elsewhere")


def _put_back_again(live: Path) -> None:
    live.write_bytes(live.read_bytes())


@pytest.mark.parametrize(("meanwhile", "error"), [(_held_by_the_original, BusyError), (_put_back_again, ConflictError)])
@pytest.mark.parametrize("version", ["elite.json", "elite.json.bak"])
def test_a_version_that_somebody_else_may_be_writing_is_left_to_the_next_erasure(
    profile: Profile,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    meanwhile: Callable[[Path], None],
    error: type[Exception],
) -> None:
    live, previous = put_back(profile, "memory/ltm/elite.json", PRIVATE, "two")
    path = live.with_name(version)
    data = path.read_bytes()
    real = files.Directory.create_temporary

    def create(directory: files.Directory, base: str, label: str = "tmp") -> tuple[str, int]:
        if base == version:
            meanwhile(path if error is ConflictError else live)
        return real(directory, base, label)

    monkeypatch.setattr(files.Directory, "create_temporary", create)
    with pytest.raises(error):
        erase(profile, TARGET, timeout=0.1)
    monkeypatch.undo()

    assert path.read_bytes() == data
    live.with_name(f"{live.name}.lock").unlink(missing_ok=True)
    assert erase(profile, TARGET).complete
    assert (texts_in(live), texts_in(previous)) == ([], ["two"])


def test_a_backup_takes_along_what_only_the_previous_version_holds(profile: Profile, tmp_path: Path) -> None:
    relative = "memory/ltm/elite.json"
    _, previous = put_back(profile, relative, "one", "two")
    put(profile, "memory/ltm/other.json", "one", "two")

    saved = backup.backup(profile, tmp_path / "saved")

    assert set(backup_contents.verify(saved)) == {
        f"documents/{name}" for name in (relative, f"{relative}.bak", "memory/ltm/other.json")
    }
    assert (saved / "documents" / f"{relative}.bak").read_bytes() == previous.read_bytes()
    assert backup_contents.contents(saved).faults == {}
    shutil.rmtree(profile.root)
    restoration.restore(profile, saved, lambda _: ())
    assert [item.text for item in profile.document(relative, Item).read().values] == ["one"]


COPIES = [
    "elite.json (Ann's conflicted copy 2026-03-02).bak",
    "elite.json.sync-conflict-20260302-093000-ABCDEFG.bak",
    "elite.json-DESKTOP-ABC1234.bak",
    "elite.json (1).bak",
    "elite.json 2.bak",
    "elite (1).json.bak",
    "elite.sync-conflict-20260302-093000-ABCDEFG.json.bak",
    "elite.json.sync-conflict-20260302-093000-ABCDEFG.corrupt-0",
    "elite.json.corrupt-0",
]
"""What services make of a previous version and of a copy put aside."""


@pytest.mark.parametrize("folder", ["memory/ltm", "backlog"])
@pytest.mark.parametrize("name", COPIES)
def test_copies_of_what_nothing_reads_are_swept_of_the_words_and_keep_the_rest(
    profile: Profile, folder: str, name: str
) -> None:
    live = put(profile, f"{folder}/elite.json", "one", PRIVATE, "three")
    copy = live.with_name(name)
    shutil.copy(live, copy)
    if not name.endswith(".json.bak"):
        words = {found.word for found in doctor.examine(profile) if found.path == f"{folder}/{name}"}
        assert words & {"stray_previous", "quarantined"}

    erased = erase(profile, TARGET)

    assert holding(profile.root) == []
    assert (erased.residue, erased.complete) == ((), True)
    assert any(changed.startswith(f"{folder}/{name.removesuffix('.bak')}") for changed in erased.changed)
    assert texts_in(copy) == ["one", "three"]


@pytest.mark.parametrize("name", [name for name in COPIES if not name.endswith(".json.bak")])
def test_a_torn_copy_that_nothing_reads_goes_if_it_holds_the_words_and_only_then(profile: Profile, name: str) -> None:
    live = put(profile, "memory/ltm/elite.json", PRIVATE, "two")
    copy, harmless = live.with_name(name), live.with_name(f"other{name}")
    copy.write_bytes(live.read_bytes()[:-4])
    harmless.write_bytes(b'{"entries": [{"text": "two')

    erase(profile, TARGET)

    assert (copy.exists(), harmless.exists()) == (False, True)
    assert holding(profile.root) == []


def test_a_file_of_somebody_elses_is_no_copy_of_ours(profile: Profile) -> None:
    live = put(profile, "memory/ltm/elite.json", PRIVATE)
    theirs = live.with_name("notes.bak")
    theirs.write_text(PRIVATE)

    erased = erase(profile, TARGET)

    assert theirs.read_text() == PRIVATE
    assert [found.path for found in erased.residue] == [str(theirs)]


@pytest.mark.parametrize("relative", DOCUMENTS)
@pytest.mark.parametrize("label", ["tmp", "bak", "bak.tmp"])
@pytest.mark.parametrize("locked", [True, False])
def test_what_a_killed_first_change_left_is_swept(profile: Profile, relative: str, label: str, *, locked: bool) -> None:
    put(profile, "memory/ltm/other.json", "else")
    document = profile.root / relative
    document.parent.mkdir(parents=True, exist_ok=True)
    left = document.with_name(f".{document.name}.{label}-{'0' * 32}")
    left.write_text(PRIVATE)
    if locked:
        (profile.root / ".locks" / f"{relative.replace('/', '!')}.store").touch(mode=0o600)

    erased = erase(profile, TARGET)

    assert not left.exists()
    assert (erased.residue, erased.complete) == ((), True)


@pytest.mark.parametrize("folder", ["backups", "memory", "notes", "memory/ltm/linked", "memory/ltm/a.json", "x.txt"])
def test_what_a_link_leads_to_is_named_since_it_is_not_searched(profile: Profile, tmp_path: Path, folder: str) -> None:
    put(profile, "recorder/2026-03.json", PRIVATE)
    elsewhere = tmp_path / "elsewhere"
    if folder.endswith((".json", ".txt")):
        elsewhere.write_text(PRIVATE)
    else:
        elsewhere.mkdir()
        (elsewhere / "held.json").write_text(PRIVATE)
    link = profile.root / folder
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)

    erased = erase(profile, TARGET)

    assert [(found.path, found.outside) for found in erased.residue] == [(str(link), False)]
    assert ("link", folder) in {(found.word, found.path) for found in doctor.examine(profile)}


def test_backups_on_a_disk_that_is_not_there_are_named(profile: Profile, tmp_path: Path) -> None:
    put(profile, "recorder/2026-03.json", PRIVATE)
    (profile.root / "backups").symlink_to(tmp_path / "unplugged")

    assert [found.path for found in erase(profile, TARGET).residue] == [str(profile.root / "backups")]


@pytest.mark.parametrize("name", ["a\\b.json", f"{'a' * 200}.json", f"elite (conflicted copy {'y' * 170}).json"])
@pytest.mark.parametrize("suffix", ["", ".bak"])
@pytest.mark.parametrize("holds", [True, False])
def test_a_name_that_no_document_may_have_is_named_if_its_file_holds_the_words_and_stops_nothing(
    profile: Profile, name: str, suffix: str, *, holds: bool
) -> None:
    live = put(profile, "memory/ltm/elite.json", "one", PRIVATE)
    odd = live.with_name(f"{name}{suffix}")
    odd.write_text(json.dumps({"version": 1, "entries": [{"text": PRIVATE if holds else "else"}]}))

    erased = erase(profile, TARGET)

    assert [found.path for found in erased.residue] == [str(odd)] * holds
    assert erased.complete is not holds
    assert holding(profile.root) == [str(odd.relative_to(profile.root))] * holds
    assert texts_in(live) == ["one"]


def test_a_folder_of_a_backup_is_listed_as_often_however_many_files_are_in_it(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(number: int) -> int:
        for each in range(number):
            put(profile, f"memory/project/p{each}.json", PRIVATE)
        (profile.root / "backups").mkdir(exist_ok=True)
        saved = backup.backup(profile, profile.root / "backups" / f"saved-{number}")
        for each in range(number):
            (profile.root / f"memory/project/p{each}.json").unlink()
        (saved / f"documents/memory/project/.p0.json.tmp-{'0' * 32}").write_text(PRIVATE)
        before = len(counted)
        erase(profile, TARGET)
        assert holding(profile.root) == []
        assert len(backup_contents.verify(saved)) >= number
        return len([path for path in counted[before:] if "backups" in path.parts and "project" in path.parts])

    counted: list[Path] = []
    real = files.Directory.names

    def names(directory: files.Directory) -> list[str]:
        counted.append(directory.path)
        return real(directory)

    monkeypatch.setattr(files.Directory, "names", names)

    assert listed(2) == listed(9)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", ["elite.json.corrupt-0", "elite.json (1).bak"])
def test_a_copy_of_another_account_is_named_and_keeps_no_words_elsewhere(profile: Profile, what: str) -> None:
    live = put(profile, "memory/ltm/elite.json", "one", PRIVATE)
    theirs = live.with_name(what)
    theirs.write_text("{}")
    os.chown(theirs, 65534, 65534)
    put(profile, "backlog/app.json", PRIVATE)

    erased = erase(profile, TARGET)

    assert [found.path for found in erased.residue] == [str(theirs)]
    assert holding(profile.root) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", ["documents/memory/ltm/elite.json", "manifest.json"])
def test_a_backup_with_a_file_of_another_account_keeps_no_words_elsewhere(profile: Profile, what: str) -> None:
    put(profile, "memory/ltm/elite.json", "one", PRIVATE)
    put(profile, "backlog/app.json", PRIVATE)
    daily = backup.daily(profile)
    assert daily is not None
    theirs = daily / what
    os.chown(theirs, 65534, 65534)

    erased = erase(profile, TARGET)

    assert [found.path for found in erased.residue] == [str(theirs)]
    assert {profile.root / name for name in holding(profile.root)} <= {theirs}
