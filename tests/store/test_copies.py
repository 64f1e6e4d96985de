"""What is kept beside a document stays what it was: previous versions, copies put aside, backups and manifests."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import CorruptError, RefusedError, StorageError
from persona_store import backup, backup_contents, cloud, doctor, files, restoration
from persona_store.erase import Target, erase
from persona_store.jsontext import MAX_BYTES
from persona_store.layout import documents_below
from persona_store.tombstones import Tombstones
from persona_store.transaction import Profile
from tests.support.crash.documents import Item

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_store.jsontext import JsonValue

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
PRIVATE = "the summer house code"
ELITE = "memory/ltm/elite.json"
SECOND = "memory/ltm/other.json"
HALF = "\\ud83d"
"""Half of a surrogate pair, as JSON may write it and UTF-8 may not."""


def key_of(fields: dict[str, JsonValue]) -> str | None:
    text = fields.get("text")
    return json.dumps(["note", text.casefold()]) if isinstance(text, str) else None


def target(text: str) -> Target:
    return Target((text,), (json.dumps(["note", text.casefold()]),))


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    return Profile(agent_dir / "persona-mind", lambda: NOW)


def put(profile: Profile, relative: str, *texts: str) -> Path:
    """Add texts to a document and return its file."""
    document = profile.document(relative, Item)
    rows = [document.row(Item(id=text[:20], text=text)) for text in texts]
    with profile.transaction() as transaction:
        transaction.update(document, lambda snapshot: [*snapshot.rows, *rows])
    return document.path


def again(profile: Profile) -> Profile:
    """Return the profile as another process meets it, which has read nothing yet."""
    return Profile(profile.root, lambda: NOW)


def test_a_backup_stays_one_where_an_erased_text_is_part_of_a_path(profile: Profile) -> None:
    put(profile, "memory/project/customer-portal-1a2b3c.json", "something", "Customer-Portal")
    made = backup.daily(profile)
    assert made is not None

    erased = erase(profile, target("Customer-Portal"))

    (held,) = backup_contents.contents(made).documents.values()
    assert held.version is not None
    assert [row.value["text"] for row in held.version.rows if row.value] == ["something"]
    assert [Path(left.path).name for left in erased.residue] == ["manifest.json"]


@pytest.mark.parametrize("damage", [b"[" * 100_000, b"[]", b"{}", b'{"files": []}', b""])
def test_a_folder_whose_manifest_is_none_is_swept_like_any_other(profile: Profile, damage: bytes) -> None:
    put(profile, ELITE, "something", PRIVATE)
    made = backup.daily(profile)
    assert made is not None
    (made / "manifest.json").write_bytes(damage)

    assert erase(profile, target(PRIVATE)).residue == ()


def test_a_backup_that_somebody_removes_meanwhile_stops_no_erasure(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(profile, ELITE, "something", PRIVATE)
    made = backup.daily(profile)
    assert made is not None
    real = files.open_directory

    def remove(root: Path, parts: Any, **keywords: Any) -> files.Directory:  # noqa: ANN401 - passed on
        if root == made:
            shutil.rmtree(made, ignore_errors=True)
        return real(root, parts, **keywords)

    monkeypatch.setattr(files, "open_directory", remove)

    assert erase(profile, target(PRIVATE)).residue == ()


def test_old_dailies_go_under_the_transaction_under_which_an_erasure_sweeps_them(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(profile, ELITE, "something")
    for day in range(1, 9):
        (profile.root / f"backups/daily-2026-01-0{day}").mkdir(parents=True)
    went: list[bool] = []

    def remove(path: Path, **_: object) -> None:
        if path.name.startswith("daily-"):
            waiting = threading.Thread(target=lambda: went.append(not _enters(again(profile))))
            waiting.start()
            waiting.join()

    monkeypatch.setattr(shutil, "rmtree", remove)

    assert backup.daily(profile) is not None
    assert went == [True, True]


def _enters(profile: Profile) -> bool:
    try:
        with profile.transaction(timeout=0):
            return True
    except Exception:  # noqa: BLE001 - whatever keeps it out
        return False


def test_two_that_find_no_backup_of_today_make_one(profile: Profile) -> None:
    put(profile, ELITE, "something")
    made: list[Path | None] = []
    with profile.transaction():
        other = threading.Thread(target=lambda: made.append(backup.daily(again(profile), timeout=20)))
        other.start()
        while not (profile.root / "backups").exists():
            pass
        backup._make(profile, profile.root / "backups/daily-2026-03-02")
    other.join()

    assert made == [None]


def test_a_name_that_is_taken_while_a_backup_waits_is_said_as_one_that_was_taken_before(
    profile: Profile, tmp_path: Path
) -> None:
    put(profile, ELITE, "something")
    refused: list[str | None] = []

    def make() -> None:
        with pytest.raises(RefusedError) as caught:
            backup.backup(again(profile), tmp_path / "taken")
        refused.append(caught.value.reason)

    with profile.transaction():
        other = threading.Thread(target=make)
        other.start()
        (tmp_path / "taken").mkdir()
    other.join()

    assert refused == ["exists"]


@pytest.mark.parametrize("way", ["mine", "memory/mine", "../persona-mind/mine", "memory/ltm/../mine"])
def test_no_backup_is_made_among_the_documents(profile: Profile, way: str) -> None:
    put(profile, ELITE, "something")

    with pytest.raises(RefusedError) as caught:
        backup.backup(profile, profile.root / way)

    assert caught.value.reason == "inside"
    assert list(documents_below(profile.root)) == [ELITE]
    (profile.root / "backups").mkdir()
    assert backup.backup(profile, profile.root / "backups/mine").is_dir()


@pytest.mark.parametrize("kind", ["file", "link to nowhere"])
def test_what_lies_in_the_place_of_the_backups_is_an_error_of_ours(profile: Profile, kind: str) -> None:
    put(profile, ELITE, "something")
    folder = profile.root / "backups"
    folder.write_text("x") if kind == "file" else folder.symlink_to("backups")

    with pytest.raises(StorageError, match="backups"):
        backup.shelved(profile.root)


def test_a_link_in_a_backup_is_not_followed(profile: Profile, tmp_path: Path) -> None:
    put(profile, ELITE, "something")
    made = backup.backup(profile, tmp_path / "made")
    copied = made / "documents" / ELITE
    copied.rename(tmp_path / "elsewhere.json")
    copied.symlink_to(tmp_path / "elsewhere.json")

    with pytest.raises(RefusedError, match="link"):
        backup_contents.verify(made)


def test_a_previous_version_is_a_file_of_its_own_after_an_erasure(profile: Profile) -> None:
    """An edit in place, and a disk that loses a block, must not damage both."""
    put(profile, SECOND, PRIVATE)
    for text in ("first", "second"):
        path = put(profile, ELITE, text)

    erase(profile, target(PRIVATE))

    with path.open("r+b") as torn:
        torn.write(b"garbage")
    read = again(profile).document(ELITE, Item).read()
    assert [item.text for item in read.values] == ["first", "second"]
    assert read.damage is not None


def test_what_an_interrupted_copy_of_a_version_left_goes_with_the_next_change(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(profile, SECOND, PRIVATE)
    for text in ("first", "second"):
        path = put(profile, ELITE, text)
    with monkeypatch.context() as broken:
        broken.setattr(files.Directory, "copy", interrupted_copy)
        with pytest.raises(KeyboardInterrupt):
            erase(profile, target(PRIVATE))
    loose = [found for found in path.parent.iterdir() if ".tmp-" in found.name]
    assert loose

    put(again(profile), ELITE, "third")

    assert not [found for found in loose if found.exists() and found.name.startswith(".elite.json")]


def interrupted_copy(self: files.Directory, source: str, target: str) -> None:
    """End as a kill does: the copy under its passing name stays."""
    _, descriptor = self.create_temporary(source)
    files.write_all(descriptor, self.read(source, MAX_BYTES)[0])
    files.close(descriptor)
    del target
    raise KeyboardInterrupt


def test_what_is_written_into_an_unusable_file_leaves_the_copy_put_aside_alone(profile: Profile) -> None:
    path = put(profile, ELITE, "first")
    path.write_bytes(b"{damaged evidence")

    with pytest.raises(CorruptError) as caught:
        put(again(profile), ELITE, "second")
    with path.open("r+b") as edited:
        edited.truncate()
        edited.write(b"repaired")

    (kept,) = caught.value.details["quarantined"]
    assert path.with_name(kept).read_bytes() == b"{damaged evidence"


def test_two_damaged_files_too_large_to_read_are_two_however_alike_they_begin(profile: Profile) -> None:
    path = put(profile, ELITE, "first")
    put(profile, ELITE, "second")
    for tail in (b"FIRST", b"OTHER"):
        path.write_bytes(b"x" * (MAX_BYTES + 10) + tail)
        put(profile, ELITE, f"after {tail.decode()}")

    assert {kept.read_bytes()[-5:] for kept in path.parent.glob("*.corrupt-*")} == {b"FIRST", b"OTHER"}


def test_a_restoration_leaves_a_file_that_was_repaired_at_the_last_moment(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(profile, ELITE, "good one")
    made = backup.daily(profile)
    assert made is not None
    repaired = path.read_bytes().replace(b"good one", b"repaired by hand")
    path.write_bytes(b"{broken")
    path.with_name(f"{path.name}.bak").unlink(missing_ok=True)
    real = files.mark

    def repair(descriptor: int) -> None:
        real(descriptor)
        (path.parent / "repaired").write_bytes(repaired)
        (path.parent / "repaired").replace(path)

    monkeypatch.setattr(files, "mark", repair)

    done = restoration.restore(again(profile), made, key_of)

    assert done.documents == ()
    assert [(left.document, left.error.reason) for left in done.left] == [(ELITE, "fingerprint")]
    assert path.read_bytes() == repaired


@pytest.mark.parametrize("swept", [True, False])
def test_a_tombstone_of_a_conflict_copy_waits_for_nothing_and_stands_once(profile: Profile, swept: bool) -> None:  # noqa: FBT001
    stones = Tombstones(profile)
    copy = profile.root / "tombstones (conflicted copy).json"
    with profile.transaction() as transaction:
        stones.add(transaction, ["first"], "2026-03-02T09:30:00.000Z")
        shutil.copy(stones.document.path, copy)
        if swept:
            stones.mark_swept(transaction, ["first"])
        else:
            stones.document.path.unlink()
            stones.document.path.with_name("tombstones.json.bak").unlink(missing_ok=True)
    (found,) = cloud.conflict_copies(profile.root)

    assert cloud.merge(again(profile), found, key_of) is not None

    assert Tombstones(again(profile)).stands("first")
    assert len(Tombstones(again(profile)).document.read().rows) == 1
    assert "erase_unfinished" not in [finding.word for finding in doctor.examine(profile)]


def merge(profile: Profile, made: Path) -> None:
    shutil.copy(made / "documents" / ELITE, profile.root / "memory/ltm/elite (conflicted copy).json")
    (found,) = cloud.conflict_copies(profile.root)
    cloud.merge(profile, found, key_of)


def restore(profile: Profile, made: Path) -> None:
    restoration.restore(profile, made, key_of)


@pytest.mark.parametrize("act", [merge, restore])
@pytest.mark.parametrize("odd", [f'"source": "{HALF}"', f'"text": "{HALF}"', f'"deep": {"[" * 400}{"]" * 400}'])
def test_a_row_that_only_json_can_hold_ends_nothing(
    profile: Profile, tmp_path: Path, act: Callable[[Profile, Path], None], odd: str
) -> None:
    path = put(profile, ELITE, "something")
    path.write_text(path.read_text().replace('"text": "something"', f'"text": "something", {odd}'))
    made = backup.backup(again(profile), tmp_path / "made")
    put(profile, SECOND, PRIVATE)
    erase(again(profile), target(PRIVATE))
    for gone in (path, path.with_name(f"{path.name}.bak")):
        gone.unlink(missing_ok=True)

    act(again(profile), made)

    assert odd.encode() in path.read_bytes()
    assert erase(again(profile), target(PRIVATE)).complete


def test_a_text_in_a_row_nested_too_deep_is_erased(profile: Profile) -> None:
    path = put(profile, ELITE, "something")
    deep = f'{"[" * 400}"{PRIVATE}"{"]" * 400}'
    path.write_text(path.read_text().replace('"text": "something"', f'"text": "something", "deep": {deep}'))

    erased = erase(again(profile), target(PRIVATE))

    assert (erased.rows, erased.residue) == (1, ())
    assert PRIVATE.encode() not in path.read_bytes()


def test_a_report_names_no_file_that_has_gone(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer's passing file is gone again once it is looked into."""
    path = put(profile, ELITE, "something")
    passing = path.with_name(".elite.json.tmp-" + 32 * "0")
    real = os.walk

    def walk(top: Any, **keywords: Any) -> Any:  # noqa: ANN401 - passed on
        for directory, names, found in real(top, **keywords):
            yield directory, names, [*found, passing.name] if Path(directory) == path.parent else found

    monkeypatch.setattr(os, "walk", walk)

    assert erase(profile, target(PRIVATE)).residue == ()


def test_a_disk_that_lets_go_of_no_old_backup_takes_the_new_one_all_the_same(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing a folder that was emptied may fail, and Python then ignores no error, whatever it was asked."""
    put(profile, ELITE, "something")
    for day in range(1, 9):
        (profile.root / f"backups/daily-2026-01-0{day}").mkdir(parents=True)
    (profile.root / f"backups/.daily-2026-01-01.tmp-{32 * '0'}").mkdir()
    real = os.close

    def close(descriptor: int) -> None:
        kind = os.fstat(descriptor).st_mode
        real(descriptor)
        if stat.S_ISDIR(kind):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", close)

    assert backup.daily(profile) == profile.root / "backups/daily-2026-03-02"


def test_no_backup_brings_a_conflict_copy_back_that_somebody_removed_after_an_erasure(
    profile: Profile, tmp_path: Path
) -> None:
    path = put(profile, ELITE, "something", PRIVATE)
    copy = path.with_name("elite (conflicted copy).json")
    shutil.copy(path, copy)
    erase(profile, target(PRIVATE))
    copy.unlink()
    assert copy.with_name(f"{copy.name}.bak").exists()

    made = backup.backup(profile, tmp_path / "made")

    assert ELITE in backup_contents.contents(made).documents
    assert not [name for name in backup_contents.contents(made).documents if "conflicted" in name]


def test_a_change_of_a_file_older_than_its_previous_version_names_it_and_says_what_to_do(profile: Profile) -> None:
    path = put(profile, ELITE, "first")
    older = path.read_bytes()
    put(profile, ELITE, "second")
    path.with_name(f"{path.name}.bak").write_bytes(path.read_bytes())
    path.write_bytes(older)

    with pytest.raises(CorruptError) as caught:
        put(again(profile), ELITE, "third")

    said = f"{path} is older than its own previous version; nothing was changed, run 'persona doctor'"
    assert (str(caught.value), caught.value.details["path"]) == (said, str(path))


@pytest.mark.parametrize("size", [20, MAX_BYTES, MAX_BYTES + 1])
def test_an_unusable_file_is_put_aside_by_another_name_where_there_is_no_room_for_a_copy(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path = put(profile, ELITE, "first")
    path.write_bytes(b"{" * size)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.Directory, "copy", full)
    with pytest.raises(CorruptError) as caught:
        put(again(profile), ELITE, "second")

    (kept,) = caught.value.details["quarantined"]
    assert path.with_name(kept).samefile(path)


@pytest.mark.parametrize(("size", "copied"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_only_what_may_be_read_is_copied_where_another_name_does(profile: Profile, size: int, copied: bool) -> None:  # noqa: FBT001
    path = put(profile, ELITE, "first")
    path.write_bytes(b"{" * size)

    with pytest.raises(CorruptError) as caught:
        put(again(profile), ELITE, "second")

    (kept,) = caught.value.details["quarantined"]
    assert path.with_name(kept).samefile(path) != copied
