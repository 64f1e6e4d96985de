"""Files that somebody else leaves behind: links, files that grow, previous versions that are no help."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import CorruptError, RefusedError
from persona_store import doctor, jsontext
from tests.support.crash.documents import add, ids, profile, store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    add(tmp_path, "one")
    add(tmp_path, "two")
    return tmp_path


def live(root: Path) -> Path:
    return store(root)[1].path


def previous(root: Path) -> Path:
    return live(root).with_name("elite.json.bak")


def test_a_previous_version_that_is_a_link_is_refused_and_its_target_left(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    previous(root).unlink()
    previous(root).symlink_to(target)
    before = live(root).read_bytes()
    with pytest.raises(RefusedError) as caught:
        add(root, "three")
    assert str(previous(root)) in caught.value.message
    assert (target.read_bytes(), live(root).read_bytes()) == (b"mine", before)
    assert ids(root) == ["one", "two"]


def test_a_damaged_file_without_a_previous_version_is_refused_and_kept_until_a_person_decides(root: Path) -> None:
    live(root).write_bytes(b"not json")
    previous(root).unlink()
    with pytest.raises(CorruptError):
        ids(root)
    assert live(root).read_bytes() == b"not json"
    live(root).rename(root / "kept aside")
    assert ids(root) == []


def test_a_previous_version_beyond_the_limit_is_no_way_out_of_damage(root: Path) -> None:
    live(root).write_bytes(b"{")
    previous(root).write_bytes(b" " * (jsontext.MAX_BYTES + 1))
    with pytest.raises(CorruptError):
        ids(root)
    with pytest.raises(CorruptError):
        add(root, "three")
    assert live(root).read_bytes() == b"{"


def test_no_more_is_read_than_the_file_holds_and_one_byte(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = os.read

    def counted(descriptor: int, length: int) -> bytes:
        asked.append(length)
        return read(descriptor, length)

    monkeypatch.setattr(os, "read", counted)
    assert ids(root) == ["one", "two"]
    assert asked
    assert max(asked) <= live(root).stat().st_size + 1


def test_a_file_that_grows_while_it_is_read_is_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, grown = os.read, list[bool]()

    def growing(descriptor: int, length: int) -> bytes:
        data = read(descriptor, length)
        if not grown and data.startswith(b'{\n  "version"'):
            grown.append(True)
            with live(root).open("ab") as file:
                file.write(b"\n")
        return data

    monkeypatch.setattr(os, "read", growing)
    assert ids(root) == ["one", "two"]
    assert grown


def test_a_good_file_that_comes_before_a_bad_one_is_put_aside_survives(root: Path) -> None:
    good = live(root).read_bytes()
    live(root).write_bytes(b"bad")
    mine, document = store(root)
    assert document.read().damage is not None
    live(root).write_bytes(good)
    with mine.transaction() as transaction:
        transaction.update(document, lambda snapshot: snapshot.rows[:1])
    assert ids(root) == ["one"]
    assert not list(live(root).parent.glob("*.corrupt-*"))


def test_a_store_with_too_many_rows_is_refused_for_that_reason(root: Path) -> None:
    live(root).write_bytes(jsontext.join("2026-03-01T00:00:00.000Z", 4, [b"1"] * (jsontext.MAX_ENTRIES + 1)))
    previous(root).unlink()
    with pytest.raises(CorruptError) as caught:
        ids(root)
    assert caught.value.reason == "too_many_entries"


def test_a_damaged_head_is_shown_by_the_doctor_and_stays(root: Path) -> None:
    for head in (b'"version": 0', b'"version": -1', b'"version": 1.5', b'"version": NaN'):
        data = live(root).read_bytes()
        broken = data.replace(b'"version": 1', head)
        live(root).write_bytes(broken)
        assert doctor.examine(profile(root))
        assert live(root).read_bytes() == broken
        live(root).write_bytes(data)
