"""The cache on disk and in memory: bounded, whole or ignored, erased by text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from persona_mind.meaning import files, service
from persona_mind.meaning.files import VectorFiles
from persona_mind.meaning.segments import Record, decode, encode, said_of
from persona_mind.meaning.service import Meaning
from persona_mind.recall import Doc, Index
from persona_mind.recall.pool import Patience, Reading, key_of
from persona_store.transaction import Profile
from tests.meaning.conftest import busy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.clock import ManualClock

SECONDS = 60.0


def record(text: str, vector: bytes = b"\x00\x3c\x00\x00") -> Record:
    return Record(key_of(text), said_of(text), vector)


def texts(number: int, start: int = 0) -> list[Record]:
    return [record(f"text {at}") for at in range(start, start + number)]


@pytest.fixture
def kept(agent_dir: Path, clock: ManualClock) -> VectorFiles:
    return VectorFiles(Profile(agent_dir / "persona-mind", clock.now))


@pytest.fixture
def folder(kept: VectorFiles) -> Path:
    return kept.profile.root / "vectors"


def segments(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.vec"))


def test_looking_and_erasing_create_nothing(kept: VectorFiles) -> None:
    assert kept.load("a", "facts") == []
    assert kept.drop([said_of("text")]) == []
    assert not kept.others("a")
    kept.add("a", "facts", list)
    assert not segments(kept.profile.root)


def test_what_is_added_comes_back_in_order_and_once(kept: VectorFiles, folder: Path) -> None:
    for at in range(30):
        kept.add("a", "facts", partial(texts, 1, at))
    kept.add("a", "facts", lambda: [record("text 3", b"\x00\x40\x00\x00")])
    found = {one.key: one for one in kept.load("a", "facts")}
    assert set(found) == {one.key for one in texts(30)}
    assert found[key_of("text 3")].vector == b"\x00\x40\x00\x00"
    assert len(segments(folder)) <= 8
    assert kept.load("a", "turns") == kept.load("b", "facts") == []


def test_the_oldest_make_room(kept: VectorFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.LIMITS, "facts", 100)
    monkeypatch.setattr(files, "FULL", 16)
    for start in range(0, 300, 20):
        kept.add("a", "facts", partial(texts, 20, start))
    found = kept.load("a", "facts")
    assert 80 <= len(found) <= 100
    assert {one.key for one in found} == {one.key for one in texts(len(found), 300 - len(found))}


@pytest.mark.parametrize("damage", [b"", b"short", b"\x00" * 200])
def test_a_damaged_segment_is_ignored_and_gives_way(kept: VectorFiles, folder: Path, damage: bytes) -> None:
    kept.add("a", "facts", lambda: texts(3))
    (path,) = segments(folder)
    path.write_bytes(damage)
    assert kept.load("a", "facts") == []
    kept.add("a", "facts", lambda: texts(3))
    assert len(kept.load("a", "facts")) == 3
    assert len(segments(folder)) == 1


def test_any_changed_byte_makes_a_segment_void() -> None:
    data = encode(texts(3))
    assert list(decode(data)) == texts(3)
    for at in range(len(data)):
        spoiled = bytearray(data)
        spoiled[at] ^= 1
        assert list(decode(bytes(spoiled))) == []


def test_a_link_in_the_place_of_a_segment_is_not_followed(kept: VectorFiles, folder: Path, tmp_path: Path) -> None:
    kept.add("a", "facts", lambda: texts(3))
    (path,) = segments(folder)
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert kept.load("a", "facts") == []
    assert elsewhere.exists()


def test_erasing_takes_every_spelling_and_all_turns(kept: VectorFiles, folder: Path) -> None:
    kept.add("a", "facts", lambda: [*texts(3), record("Pin:  1234")])
    kept.add("a", "turns", lambda: texts(3))
    changed = kept.drop([said_of("pin: 1234")])
    assert len(changed) == 2
    assert [one.key for one in kept.load("a", "facts")] == [one.key for one in texts(3)]
    assert kept.load("a", "turns") == []
    assert kept.drop([said_of("nobody said this")]) == []
    assert kept.drop([said_of(f"text {at}") for at in range(3)])
    assert segments(folder) == []


def test_erasing_takes_what_an_interrupted_write_left(kept: VectorFiles, folder: Path) -> None:
    kept.add("a", "facts", lambda: [record("secret")])
    (path,) = segments(folder)
    left = path.with_name(f".{path.name}.tmp-{'0' * 32}")
    left.write_bytes(path.read_bytes())
    kept.drop([said_of("secret")])
    assert not [found for found in folder.rglob("*") if found.is_file()]


def test_what_is_read_while_it_is_erased_is_dropped(model: Path) -> None:
    meaning = Meaning(str(model))
    try:
        assert meaning.finish(SECONDS)
        pool = meaning.pool("facts", Patience.PASSING)
        assert pool is not None
        assert meaning._model is not None
        reading = Reading(key_of("a trip"), "a trip", "a trip")
        pool._queue[reading.key] = reading
        rows = meaning._model.embed([reading.text])
        meaning.drop([said_of("a trip")])
        pool.take([reading], rows)
        assert pool.get(reading.key) is None
        assert pool.pour(lambda _: True) == []
    finally:
        meaning.close()


def test_vectors_of_another_width_do_not_count(model: Path, kept: VectorFiles) -> None:
    first = Meaning(str(model), kept.profile)
    assert first.finish(SECONDS)
    assert first._model is not None
    kept.add(first._model.name, "facts", lambda: texts(3))
    first.close()
    second = Meaning(str(model), kept.profile)
    assert second.examine(SECONDS).held == (0, 0)
    second.close()


def test_many_texts_are_told_of_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LONG", 20)
    said: list[str] = []
    meaning = Meaning(str(model), tell=said.append)
    index = Index(meaning=lambda: meaning)
    try:
        assert meaning.finish(SECONDS)
        with busy(meaning):
            # So that nothing is read before all of it is wanted.
            index.sync(docs(60))
            index.prepare()
        assert meaning.finish(SECONDS)
        index.sync(docs(120))
        index.prepare()
        assert meaning.finish(SECONDS)
    finally:
        meaning.close()
    assert len(said) == 1
    assert "texts are being read in the background" in said[0]


def docs(number: int) -> list[Doc]:
    return [Doc(str(at), f"bread, number {at}") for at in range(number)]


def test_what_was_put_last_has_a_vector_and_no_more_are_held_than_there_is_room_for(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(files.LIMITS, "facts", 15)
    meaning = Meaning(str(model))
    index = Index(meaning=lambda: meaning)
    try:
        assert meaning.finish(SECONDS)
        index.sync(docs(40))
        index.prepare()
        assert meaning.finish(SECONDS)
        pool = meaning.pool("facts", Patience.PASSING)
        assert pool is not None
        assert index.search("bread", 3)
        assert index.compared is not None
        assert (index.compared.vectors, index.compared.rows) == (10, 40)
        assert all(pool.get(key_of(f"bread, number {at}")) is not None for at in range(30, 40))
        assert len(pool) <= 15
        index.sync(docs(60))
        index.prepare()
        assert meaning.finish(SECONDS)
        assert pool.get(key_of("bread, number 59")) is not None
        assert len(pool) <= 15
    finally:
        meaning.close()


def test_a_closed_model_answers_nothing_and_keeps_nobody_waiting(model: Path) -> None:
    meaning = Meaning(str(model))
    index = Index(meaning=lambda: meaning)
    index.sync(docs(3))
    assert meaning.finish(SECONDS)
    meaning.close()
    assert index.search("bread")
    assert index.compared is not None
    assert index.compared.state in {"unread", "late"}
