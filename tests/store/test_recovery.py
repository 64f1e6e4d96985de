"""A file that cannot be trusted is kept, its previous version carries on, and nothing is invented."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import CorruptError
from persona_store import diagnostics, doctor, files, jsontext
from persona_store.jsontext import MAX_BYTES
from tests.support.crash.documents import NOW, Item, add, ids, store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for identity in ("one", "two", "three"):
        add(tmp_path, identity)
    return tmp_path


def live(root: Path) -> Path:
    return store(root)[1].path


def previous(root: Path) -> Path:
    return live(root).with_name("elite.json.bak")


def kept(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(live(root).parent.glob("*.corrupt-*"))]


GOOD = jsontext.join("2026-03-01T00:00:00.000Z", 4, [b'{"id": "a", "text": "x"}'])

DAMAGED = {
    "empty": b"",
    "blank": b" \n",
    "second document": GOOD + b"{}",
    "second brace": GOOD + b"}",
    "second brace in one line": GOOD.replace(b"\n", b"") + b"}",
    "second bracket": GOOD.replace(b"]", b"]]"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "zeros at the end": GOOD[:-6] + bytes(6),
    "zeros throughout": bytes(len(GOOD)),
    "not UTF-8": GOOD.replace(b'"x"', b'"\xff"'),
    "not a number": GOOD.replace(b'"x"', b"NaN"),
    "a list": b"[]",
    "no entries": GOOD.replace(b'"entries"', b'"entry"'),
    "entries are an object": GOOD.replace(b"[", b'{"a": ').replace(b"]", b"}"),
    "entries are null": b'{"version": 1, "updatedAt": "2026-03-01T00:00:00Z", "sequence": 1, "entries": null}',
    "version nought": GOOD.replace(b'"version": 1', b'"version": 0'),
    "version negative": GOOD.replace(b'"version": 1', b'"version": -1'),
    "version true": GOOD.replace(b'"version": 1', b'"version": true'),
    "version a fraction": GOOD.replace(b'"version": 1', b'"version": 1.0'),
    "sequence true": GOOD.replace(b'"sequence": 4', b'"sequence": true'),
    "sequence a fraction": GOOD.replace(b'"sequence": 4', b'"sequence": 1.0'),
    "sequence a string": GOOD.replace(b'"sequence": 4', b'"sequence": "1"'),
    "sequence negative": GOOD.replace(b'"sequence": 4', b'"sequence": -1'),
    "sequence too large": GOOD.replace(b'"sequence": 4', b'"sequence": 9223372036854775808'),
    "sequence of 5,000 digits": GOOD.replace(b'"sequence": 4', b'"sequence": ' + b"9" * 5000),
    "two sequences": GOOD.replace(b'"sequence": 4', b'"sequence": 4, "sequence": 5'),
    "a date that is none": GOOD.replace(b"03-01T", b"13-01T"),
    "a week date": GOOD.replace(b"2026-03-01T", b"2026-W05-1T"),
    "a leap second": GOOD.replace(b"00:00:00", b"00:00:60"),
    "twenty-four o'clock": GOOD.replace(b"00:00:00", b"24:00:00"),
    "an impossible offset": GOOD.replace(b".000Z", b"+25:00"),
    "the year nought": GOOD.replace(b"2026", b"0000"),
    "too deep": GOOD.replace(b'"x"', b"[" * 100_000 + b"]" * 100_000),
    "too large": GOOD.replace(b'"x"', b'"' + b"x" * jsontext.MAX_BYTES + b'"'),
    "too many entries": jsontext.join("2026-03-01T00:00:00.000Z", 4, [b"1"] * 10_001),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_kept_and_its_previous_version_goes_on(root: Path, data: bytes) -> None:
    live(root).write_bytes(data)

    assert ids(root) == ["one", "two"]
    sequence = add(root, "four")

    assert ids(root) == ["one", "two", "four"]
    assert kept(root) == [data]
    assert sequence == int(NOW.timestamp() * 1000)


def test_a_file_cut_at_any_byte_is_never_taken_for_another(root: Path) -> None:
    whole = live(root).read_bytes()
    for length in range(len(whole) - 1):
        live(root).write_bytes(whole[:length])
        assert ids(root) == ["one", "two"]


def test_reading_damage_moves_and_writes_nothing(root: Path) -> None:
    live(root).write_bytes(b"{")
    before = sorted((path.name, path.read_bytes()) for path in live(root).parent.iterdir())

    snapshot = store(root)[1].read()

    assert snapshot.damage is not None
    assert sorted((path.name, path.read_bytes()) for path in live(root).parent.iterdir()) == before


def test_the_change_that_repairs_says_so_and_the_doctor_remembers(root: Path) -> None:
    live(root).write_bytes(b"{")
    mine, document = store(root)
    with mine.transaction() as transaction:
        done = transaction.update(document, lambda snapshot: snapshot.rows[:1])

    assert done.repaired is not None
    assert done.repaired.reason == "not_json"
    assert [note.word for note in diagnostics.history(mine.root)] == ["recovered_not_json"]
    assert {"quarantined", "history_recovered_not_json"} <= {finding.word for finding in doctor.examine(mine)}


def test_a_torn_head_keeps_the_sequence_going_when_the_clock_went_back(root: Path) -> None:
    data = jsontext.join("2026-03-01T00:00:00.000Z", 2**51, [b"1"])
    live(root).write_bytes(data[:-3])

    assert add(root, "four") == 2**51 + 1


def test_a_missing_file_is_brought_back_from_its_previous_version(root: Path) -> None:
    live(root).unlink()

    assert ids(root) == ["one", "two"]
    add(root, "four")
    assert ids(root) == ["one", "two", "four"]


@pytest.mark.parametrize("write", [True, False])
def test_two_damaged_versions_are_refused_until_a_person_decides(root: Path, *, write: bool) -> None:
    live(root).write_bytes(b"torn")
    previous(root).write_bytes(b"torn as well")

    for _ in range(3):
        with pytest.raises(CorruptError):
            add(root, "four") if write else ids(root)

    assert live(root).read_bytes() == b"torn"
    assert previous(root).read_bytes() == b"torn as well"
    copies = sorted(path.read_bytes() for path in live(root).parent.glob("*.corrupt-*"))
    assert copies == ([b"torn", b"torn as well"] if write else [])


def test_a_file_older_than_its_own_previous_version_is_not_written_over(root: Path) -> None:
    newer = json.loads(previous(root).read_bytes()) | {"sequence": 50}
    previous(root).write_text(json.dumps(newer, indent=2) + "\n")
    before = live(root).read_bytes()

    with pytest.raises(CorruptError) as caught:
        add(root, "four")

    assert caught.value.reason == "backup_newer"
    assert live(root).read_bytes() == before
    assert ids(root) == ["one", "two", "three"]


def test_the_same_damage_is_kept_once_and_other_damage_beside_it(root: Path) -> None:
    for data in (b"first", b"first", b"second"):
        live(root).write_bytes(data)
        add(root, "next")

    assert kept(root) == [b"first", b"second"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o666, 0o640, 0o600])
@pytest.mark.parametrize("links", [True, False])
def test_what_is_put_aside_is_readable_by_its_owner_only(
    root: Path, monkeypatch: pytest.MonkeyPatch, mode: int, *, links: bool
) -> None:
    live(root).write_bytes(b"first")
    live(root).chmod(mode)
    if not links:
        monkeypatch.setattr(files.Directory, "link", lambda *_: False)

    add(root, "next")

    assert kept(root) == [b"first"]
    assert [path.stat().st_mode & 0o777 for path in live(root).parent.iterdir()] == [0o600] * 3


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_what_nobody_can_put_right_is_put_aside_for_its_owner_only(root: Path, mode: int) -> None:
    both = (live(root), live(root).with_name("elite.json.bak"))
    for path in both:
        path.write_bytes(b"first" + b" " * MAX_BYTES)
        path.chmod(mode)

    with pytest.raises(CorruptError):
        add(root, "next")

    aside = [path for path in live(root).parent.iterdir() if path not in both]
    assert [path.stat().st_mode & 0o777 for path in aside] == [0o600] * 2


def test_a_thousand_leftovers_go_and_other_files_stay(root: Path) -> None:
    directory = live(root).parent
    for number in range(1000):
        (directory / f".elite.json.tmp-{number:032x}").touch(mode=0o600)
    others = [".other.json.tmp-" + "0" * 32, ".elite.json.tmp-short", "elite.json.tmp-" + "0" * 32, ".elite.json.swp"]
    for name in others:
        (directory / name).touch(mode=0o600)

    add(root, "four")

    names = {path.name for path in directory.iterdir()}
    assert names == {"elite.json", "elite.json.bak", *others}


def test_names_of_prototypes_are_plain_data(root: Path) -> None:
    row = b'{"id": "x", "text": "t", "__proto__": 1, "__class__": 2, "constructor": {"a": 1}}'
    live(root).write_bytes(jsontext.join("2026-03-01T00:00:00.000Z", 9, [row]))

    add(root, "four")

    assert store(root)[1].read().rows[0].raw == row


def test_diagnostics_stay_small(tmp_path: Path) -> None:
    for _ in range(400):
        diagnostics.flush(tmp_path, [diagnostics.Note("2026-03-02T09:30:00.000Z", "recovered_empty", "x" * 400)] * 2)

    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < 2 * diagnostics.MAX_BYTES
    assert len(diagnostics.history(tmp_path)) > 100


def test_the_item_model_is_the_only_thing_the_engine_knows_of_a_faculty(root: Path) -> None:
    assert isinstance(store(root)[1].read().values[0], Item)
