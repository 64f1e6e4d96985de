"""What is erased is nowhere in the profile, does not come back, and what lies outside is named."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import CorruptError, InvalidError, RefusedError, StorageError
from persona_store import backup, backup_contents, cloud, doctor, restoration
from persona_store.erase import Target, erase
from persona_store.layout import documents_below, files_below, quarantine_below
from persona_store.tombstones import Tombstones
from persona_store.transaction import Profile
from tests.support.crash.documents import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from persona_store.document import Row, Snapshot
    from persona_store.jsontext import JsonValue

PRIVATE = "The summer house code is known to Marlene"
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def key_of(fields: dict[str, JsonValue]) -> str | None:
    text = fields.get("text")
    return json.dumps(["note", " ".join(text.split()).casefold()]) if isinstance(text, str) else None


def keys_of(fields: dict[str, JsonValue]) -> Iterable[str]:
    key = key_of(fields)
    return () if key is None else (key,)


TARGET = Target((PRIVATE,), (json.dumps(["note", PRIVATE.casefold()]),))


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    return Profile(agent_dir / "persona-mind", lambda: NOW)


def put(profile: Profile, relative: str, *texts: str) -> None:
    document = profile.document(relative, Item)
    rows = [document.row(Item(id=f"{number}", text=text)) for number, text in enumerate(texts)]
    if document.family == "memory":
        with profile.transaction() as transaction:
            transaction.update(document, lambda snapshot: [*snapshot.rows, *rows])
    else:
        profile.update(document, lambda snapshot: [*snapshot.rows, *rows])


def holding(root: Path, text: str = PRIVATE) -> list[str]:
    return [
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()
    ]


def fill(profile: Profile) -> None:
    """Everywhere the engine can keep a version of it."""
    put(profile, "memory/ltm/elite.json", "first", PRIVATE)
    put(profile, "memory/ltm/elite.json", "second")
    put(profile, "memory/stm/app.json", PRIVATE.upper(), "working")
    put(profile, "backlog/app.json", PRIVATE)
    put(profile, "backlog/app.json", "another")
    backup.daily(profile)
    torn = profile.root / "memory/ltm/_shared.json"
    put(profile, "memory/ltm/_shared.json", "kept", PRIVATE)
    put(profile, "memory/ltm/_shared.json", "more")
    torn.write_bytes(torn.read_bytes()[:-4])
    put(profile, "memory/ltm/_shared.json", "after the repair")


def test_an_erased_text_is_in_no_file_of_the_profile(profile: Profile) -> None:
    fill(profile)
    assert len(holding(profile.root)) >= 8

    erased = erase(profile, TARGET)

    assert holding(profile.root) == []
    assert holding(profile.root, PRIVATE.upper()) == []
    assert erased.residue == ()
    assert erased.rows == 4
    kept = profile.document("memory/ltm/elite.json", Item).read().values
    assert [item.text for item in kept] == ["first", "second"]


LOST = ["memory/ltm/elite.json", "memory/stm/app.json", "backlog/app.json", "recorder/2026-03.json", "quarantine.json"]
"""A document of every family, at every depth."""


@pytest.mark.parametrize("relative", LOST)
def test_a_document_whose_file_is_gone_is_erased_from_what_it_is_read_from(profile: Profile, relative: str) -> None:
    put(profile, relative, "first", PRIVATE)
    put(profile, relative, "second")
    (profile.root / relative).unlink()

    assert list(documents_below(profile.root)) == [relative]
    erased = erase(profile, TARGET)

    assert (erased.rows, erased.changed, erased.residue, erased.complete) == (1, (relative,), (), True)
    assert [item.text for item in profile.document(relative, Item).read().values] == ["first"]
    assert holding(profile.root) == []


@pytest.mark.parametrize("live", ["torn", "gone"])
@pytest.mark.parametrize("relative", LOST)
def test_an_erasure_is_not_done_while_a_torn_previous_version_holds_the_words(
    profile: Profile, relative: str, live: str
) -> None:
    put(profile, relative, PRIVATE)
    put(profile, relative, "second")
    document, previous = profile.root / relative, profile.root / f"{relative}.bak"
    previous.write_bytes(previous.read_bytes()[:-4])
    document.write_bytes(b"{")
    if live == "gone":
        document.unlink()

    erased = erase(profile, TARGET)

    assert not erased.complete
    assert str(previous) in [found.path for found in erased.residue]
    assert f"{relative}.bak" not in erased.changed
    previous.write_bytes(previous.read_bytes().replace(PRIVATE.encode(), b"another"))
    assert erase(profile, TARGET).complete


def test_a_conflict_copy_that_was_cleaned_leaves_nothing_behind_when_it_is_merged(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", "first", PRIVATE)
    live = profile.root / "memory/ltm/elite.json"
    shutil.copy(live, live.with_name("elite (1).json"))
    erase(profile, TARGET)
    (copy,) = cloud.conflict_copies(profile.root)

    assert cloud.merge(profile, copy, key_of) == cloud.Merged(added=0, withheld=0)

    assert list(documents_below(profile.root)) == ["tombstones.json", "memory/ltm/elite.json"]


def test_a_backup_that_was_swept_is_still_sound_and_can_be_restored(profile: Profile) -> None:
    fill(profile)
    (name,) = backup.dailies(profile.root)
    damaged = profile.root / "backups" / name / "documents/memory/ltm/elite.json"
    erase(profile, TARGET)

    assert damaged.relative_to(profile.root / "backups" / name).as_posix() in backup_contents.verify(damaged.parents[3])
    assert restoration.restore(profile, damaged.parents[3], keys_of).withheld == 0
    assert holding(profile.root) == []


def test_a_damaged_document_in_a_backup_goes_whole_and_from_the_manifest(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", PRIVATE)
    live = profile.root / "memory/ltm/elite.json"
    live.write_bytes(live.read_bytes()[:-4])
    daily = backup.daily(profile)
    assert daily is not None

    erase(profile, TARGET)

    assert backup_contents.verify(daily) == {}
    assert holding(daily) == []


def test_rows_that_only_resemble_a_short_text_stay(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", "tea", "teapots are blue", "the tea is cold")

    erase(profile, Target(("tea",), ()))

    kept = profile.document("memory/ltm/elite.json", Item).read().values
    assert [item.text for item in kept] == ["teapots are blue", "the tea is cold"]


def test_a_short_text_that_is_also_a_kind_or_a_tag_takes_nothing_else_along() -> None:
    target = Target(("note",), ())

    assert target.in_value({"kind": "preference", "text": "note"})
    assert not target.in_value({"kind": "note", "text": "another", "tags": ["note"], "note": "a longer one"})
    assert target.in_bytes(b'{"text": "note"')
    assert not target.in_bytes(b'{"kind": "note", "note": "x", "tags": ["note"]')


def test_what_lies_outside_is_reported_by_path(profile: Profile, tmp_path: Path) -> None:
    put(profile, "memory/ltm/elite.json", PRIVATE)
    transcript = tmp_path / "sessions" / "log.jsonl"
    transcript.parent.mkdir()
    transcript.write_text(json.dumps({"said": PRIVATE}))

    erased = erase(profile, TARGET, outside=[tmp_path / "sessions"])

    assert [(found.path, found.outside) for found in erased.residue] == [(str(transcript), True)]


def test_a_file_nobody_can_read_is_named_as_residue(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", "fine")
    odd = profile.root / "memory/ltm/newer.json"
    odd.write_text(json.dumps({"version": 7, "entries": [PRIVATE]}))

    erased = erase(profile, TARGET)

    assert [Path(found.path).name for found in erased.residue] == ["newer.json"]
    assert PRIVATE in odd.read_text()


def test_a_place_of_a_faculty_is_swept_too(profile: Profile) -> None:
    class Receipts:
        def erase(self, target: Target) -> list[str]:
            assert target.in_value({"before": [f"{PRIVATE} "]})
            return ["receipts.json"]

    put(profile, "memory/ltm/elite.json", PRIVATE)

    assert "receipts.json" in erase(profile, TARGET, places=[Receipts()]).changed


def test_a_tombstone_says_no_until_its_person_insists(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", PRIVATE)
    stones = Tombstones(profile)
    assert not stones.stands(TARGET.keys[0])
    erase(profile, TARGET)

    assert stones.stands(TARGET.keys[0])
    with profile.transaction() as transaction:
        assert stones.lift(transaction, TARGET.keys[0])
    assert not stones.stands(TARGET.keys[0])


def test_a_tombstone_holds_neither_text_nor_an_unkeyed_hash(profile: Profile) -> None:
    erase(profile, TARGET)
    other = Profile(profile.root.parent / "other", lambda: NOW)
    erase(other, TARGET)

    mine, theirs = (Tombstones(each).document.read().values[0].id for each in (profile, other))
    assert mine != theirs


def test_a_lost_key_is_an_error_and_never_a_yes_or_no(profile: Profile) -> None:
    erase(profile, TARGET)
    (profile.root / "profile.key").unlink()

    with pytest.raises(CorruptError) as caught:
        Tombstones(profile).stands(TARGET.keys[0])
    assert caught.value.reason == "profile_key"
    assert "profile_key" in {finding.word for finding in doctor.examine(profile)}


def test_an_older_backup_does_not_bring_it_back(profile: Profile, tmp_path: Path) -> None:
    put(profile, "memory/ltm/elite.json", "first", PRIVATE)
    older = backup.backup(profile, tmp_path / "elsewhere")
    erase(profile, TARGET)

    restored = restoration.restore(profile, older, keys_of)

    assert holding(profile.root) == []
    assert restored.withheld == 1
    assert Tombstones(profile).stands(TARGET.keys[0])


def test_a_conflict_copy_does_not_bring_it_back(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", "first", PRIVATE)
    live = profile.root / "memory/ltm/elite.json"
    held = live.read_bytes()
    erase(profile, TARGET)
    copy = live.with_name("elite (Ann's conflicted copy 2026-03-02).json")
    copy.write_bytes(held.replace(b'"first"', b'"only in the copy"'))
    (found,) = cloud.conflict_copies(profile.root)

    merged = cloud.merge(profile, found, key_of)

    assert merged == cloud.Merged(added=1, withheld=1)
    assert not copy.exists()
    assert holding(profile.root) == []


def test_erasing_nothing_is_refused(profile: Profile) -> None:
    with pytest.raises(InvalidError):
        erase(profile, Target((" ",), ()))


def test_an_interrupted_erasure_is_shown_and_finished_by_erasing_again(profile: Profile) -> None:
    fill(profile)
    with profile.transaction() as transaction:
        Tombstones(profile).add(transaction, TARGET.keys, "2026-03-02T09:30:00.000Z")
    assert "erase_unfinished" in {finding.word for finding in doctor.examine(profile)}

    erase(profile, TARGET)

    assert "erase_unfinished" not in {finding.word for finding in doctor.examine(profile)}
    assert holding(profile.root) == []


def test_seven_daily_backups_are_kept(agent_dir: Path) -> None:
    today = NOW
    profile = Profile(agent_dir / "persona-mind", lambda: today)
    assert backup.daily(profile) is None
    put(profile, "memory/ltm/elite.json", "first")
    for day in range(10):
        today = NOW + timedelta(days=day)
        assert backup.daily(profile) is not None
        assert backup.daily(profile) is None

    assert backup.dailies(profile.root) == [f"daily-2026-03-{day:02}" for day in range(5, 12)]


def test_a_backup_comes_back_whole_in_another_place(profile: Profile, tmp_path: Path) -> None:
    put(profile, "memory/ltm/elite.json", "first", "second")
    erase(profile, TARGET)
    saved = backup.backup(profile, tmp_path / "saved")
    fresh = Profile(tmp_path / "fresh", lambda: NOW)

    restored = restoration.restore(fresh, saved, keys_of)

    assert restored.documents == ("memory/ltm/elite.json", "profile.key", "tombstones.json")
    assert [item.text for item in fresh.document("memory/ltm/elite.json", Item).read().values] == ["first", "second"]
    assert Tombstones(fresh).stands(TARGET.keys[0])


@pytest.mark.parametrize("damage", ["manifest.json", "documents/memory/ltm/elite.json"])
def test_a_damaged_backup_changes_nothing(profile: Profile, tmp_path: Path, damage: str) -> None:
    put(profile, "memory/ltm/elite.json", "first")
    saved = backup.backup(profile, tmp_path / "saved")
    put(profile, "memory/ltm/elite.json", "second")
    (saved / damage).write_bytes(b"{}")

    with pytest.raises(CorruptError):
        restoration.restore(profile, saved, keys_of)
    assert len(profile.document("memory/ltm/elite.json", Item).read().values) == 2


def test_a_restored_document_goes_on_counting(profile: Profile, tmp_path: Path) -> None:
    put(profile, "memory/ltm/elite.json", "first")
    saved = backup.backup(profile, tmp_path / "saved")
    for number in range(3):
        put(profile, "memory/ltm/elite.json", f"{number}")
    before = profile.document("memory/ltm/elite.json", Item).read().sequence

    restoration.restore(profile, saved, keys_of)

    after = profile.document("memory/ltm/elite.json", Item).read()
    assert [item.text for item in after.values] == ["first"]
    assert after.sequence > before


@pytest.mark.parametrize(
    ("directory", "service"),
    [
        ("Dropbox/agent", "Dropbox"),
        ("Library/Mobile Documents/com~apple~CloudDocs/a", "iCloud Drive"),
        ("OneDrive - Contoso/a", "OneDrive"),
        ("Google Drive/a", "Google Drive"),
        ("projects/a", None),
    ],
)
def test_a_synchronised_folder_is_told_by_its_name(tmp_path: Path, directory: str, service: str | None) -> None:
    assert cloud.service_of(tmp_path / directory) == service


def test_a_synchronised_folder_is_told_by_its_mark(profile: Profile) -> None:
    put(profile, "memory/ltm/elite.json", "first")
    (profile.root.parent / ".stfolder").mkdir()

    assert cloud.service_of(profile.root) == "Syncthing"
    assert "cloud_folder" in {finding.word for finding in doctor.examine(profile)}


@pytest.mark.parametrize(
    "name",
    [
        "elite (conflicted copy 2026-03-02).json",
        "elite (Ann's conflicted copy 2026-03-02).json",
        "elite.sync-conflict-20260302-093000-ABCDEFG.json",
        "elite-DESKTOP-ABC1234.json",
        "elite (1).json",
        "elite 2.json",
    ],
)
def test_conflict_copies_of_every_service_are_known_and_merged_once(profile: Profile, name: str) -> None:
    put(profile, "memory/ltm/elite.json", "first")
    live = profile.root / "memory/ltm/elite.json"
    shutil.copy(live, live.with_name(name))

    (found,) = cloud.conflict_copies(profile.root)

    assert found.document == "memory/ltm/elite.json"
    assert cloud.merge(profile, found, key_of) == cloud.Merged(added=0, withheld=0)
    assert list(cloud.conflict_copies(profile.root)) == []


@pytest.mark.parametrize("name", ["it-desktop-support", "it-LAPTOP-CONFIGS", "it"])
def test_a_persona_whose_name_looks_like_a_copys_is_none(profile: Profile, name: str) -> None:
    put(profile, f"memory/ltm/{name}.json", "first")

    assert list(cloud.conflict_copies(profile.root)) == []
    assert (
        f"memory/ltm/{name}.json"
        in backup_contents.contents(backup.backup(profile, profile.root.parent / "saved")).documents
    )


def _socket(path: Path) -> None:
    # Its path may be longer than an address can be.
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as bound:
        bound.bind("bound")
        os.rename("bound", path.name)  # noqa: PTH104 - names in this folder


ODD: dict[str, Callable[[Path], object]] = {
    "link": lambda path: path.symlink_to("nowhere"),
    "pipe": os.mkfifo,
    "socket": _socket,
    "directory": Path.mkdir,
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("listing", [files_below, documents_below, quarantine_below])
def test_only_regular_files_are_listed(profile: Profile, listing: Callable[[Path], Iterator[str]], kind: str) -> None:
    fill(profile)
    listed = list(listing(profile.root))
    for name in ("backlog/a.json", "memory/a.json.corrupt-0", "backups/a.json", ".locks/a.store", "a.jsonl"):
        ODD[kind](profile.root / name)

    assert list(listing(profile.root)) == listed


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(
    "place", ["backlog/a.json", "memory/a.json", "quarantine.json", "backups/a.json", "a.json.bak"]
)
def test_what_is_no_file_keeps_no_words_from_being_erased(profile: Profile, place: str, kind: str) -> None:
    fill(profile)
    ODD[kind](profile.root / place)

    erased = erase(profile, TARGET)

    assert (erased.rows, erased.residue, erased.complete) == (4, (), True)
    assert holding(profile.root) == []


def _give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path.write_text(PRIVATE)
    os.chown(path, 65534, 65534)


def _pipe_with_previous(path: Path) -> None:
    path.with_name(f"{path.name}.bak").write_text(PRIVATE)
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("name", "put_there"),
    [
        ("a.json", _give_away),
        ("a.json.bak", _give_away),
        ("a.json", _pipe_with_previous),
        ("a\\b.json", Path.touch),
        (f"{'a' * 200}.json", Path.touch),
    ],
    ids=["foreign", "foreign previous", "pipe with previous", "odd name", "long name"],
)
@pytest.mark.parametrize("folder", ["backlog", "memory", "memory/ltm"])
def test_a_document_that_nobody_here_can_change_keeps_no_other_from_being_swept(
    profile: Profile, folder: str, name: str, put_there: Callable[[Path], object]
) -> None:
    fill(profile)
    put_there(profile.root / folder / name)
    documents = [relative for relative in documents_below(profile.root) if not relative.endswith(name)]

    with contextlib.suppress(RefusedError):
        erase(profile, TARGET)

    left = holding(profile.root)
    assert [relative for relative in documents if relative in left] == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
@pytest.mark.parametrize("listing", [files_below, documents_below, quarantine_below])
def test_a_name_that_cannot_be_looked_at_is_never_passed_over(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, listing: Callable[[Path], Iterator[str]], code: int
) -> None:
    put(profile, "backlog/app.json", PRIVATE)
    real = os.stat

    def fail(path: str, **keywords: bool) -> os.stat_result:
        if os.fspath(path).endswith("app.json"):
            raise OSError(code, os.strerror(code))
        return real(path, **keywords)

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(StorageError) as caught:
        list(listing(profile.root))
    assert caught.value.details["errno"] == code


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE, errno.ELOOP])
@pytest.mark.parametrize("listing", [files_below, documents_below, quarantine_below])
def test_a_folder_that_does_not_open_is_never_taken_for_an_empty_one(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, listing: Callable[[Path], Iterator[str]], code: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    assert list(listing(profile.root / "nowhere")) == []
    monkeypatch.setattr(os, "scandir", fail)
    with pytest.raises(StorageError) as caught:
        list(listing(profile.root))
    assert caught.value.details["errno"] == code


def test_a_document_that_is_just_being_made_is_waited_for(profile: Profile) -> None:
    """Who writes it may have looked for tombstones before they stood, and there is no file to be seen yet."""
    backlog = profile.document("backlog/new.json", Item)
    looked, go = threading.Event(), threading.Event()

    def add(snapshot: Snapshot[Item]) -> list[Row[Item]]:
        assert not Tombstones(profile).stands(TARGET.keys[0])
        looked.set()
        assert go.wait(10)
        return [*snapshot.rows, backlog.row(Item(id="1", text=PRIVATE))]

    (profile.root / ".locks").mkdir(parents=True, mode=0o700)
    (profile.root / ".locks" / "..!..!elsewhere.json.store").touch()
    with ThreadPoolExecutor(2) as pool:
        adding = pool.submit(profile.update, backlog, add)
        assert looked.wait(10)
        erasing = pool.submit(erase, profile, TARGET)
        while not Tombstones(profile).document.read().values:
            time.sleep(0.001)
        go.set()
        assert adding.result().changed
        assert erasing.result().rows == 1

    assert holding(profile.root) == []
