"""What the cache keeps when there is more than fits, and what it makes of files that are none of its own."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_mind.meaning import files
from persona_mind.meaning.files import VectorFiles
from persona_mind.meaning.keeping import Kept
from persona_mind.meaning.segments import Record, said_of
from persona_mind.recall.pool import Kind, Reading, key_of
from persona_mind.recall.vectors import Vectors
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.support.clock import ManualClock

LIMIT = 16
ROOM = LIMIT - LIMIT // 8
"""So many are kept at least, once there were more than fit."""
VECTOR = b"\x00\x3c\x00\x00"


def pool(limit: int = LIMIT) -> Kept:
    return Kept(limit, wanted=lambda: None, ask=lambda *_: None, question=lambda *_: None)


def said(at: float | None, name: object = None) -> Reading:
    text = f"said {at if name is None else name}"
    return Reading(key_of(text), text, text, at)


def read(kept: Kept, most: int = 4) -> None:
    while some := kept.next(most):
        kept.take(some, np.ones((len(some), 2), np.float32))


def held(kept: Kept, readings: Iterable[Reading]) -> list[Reading]:
    return [one for one in readings if kept.get(one.key) is not None]


def record(at: float, vector: bytes = VECTOR) -> Record:
    return Record(key_of(f"text {at}"), said_of(f"text {at}"), vector, at)


@pytest.fixture
def kept(agent_dir: Path, clock: ManualClock) -> VectorFiles:
    return VectorFiles(Profile(agent_dir / "persona-mind", clock.now))


@given(st.lists(st.lists(st.integers(1, 200), max_size=LIMIT), max_size=12))
def test_whatever_the_order_of_reading_the_latest_said_are_in_memory(quiet: list[list[int]]) -> None:
    kept = pool()
    for moment in quiet:
        for at in moment:
            kept.want(said(float(at)))
        read(kept)
    wanted = sorted({at for moment in quiet for at in moment})
    assert len(kept) <= LIMIT
    latest = [said(float(at)) for at in (wanted if len(wanted) <= LIMIT else wanted[-ROOM:])]
    assert held(kept, latest) == latest


def test_without_times_what_was_wanted_last_stays() -> None:
    kept = pool()
    for name in "AB":
        for at in range(10):
            kept.want(said(None, f"{name}{at}"))
        read(kept)
    assert len(held(kept, [said(None, f"B{at}") for at in range(10)])) == 10
    assert [one.said for one in held(kept, [said(None, f"A{at}") for at in range(10)])] == [
        f"said A{at}" for at in range(4, 10)
    ]


def test_what_had_to_make_room_is_not_read_ever_anew() -> None:
    kept = pool()
    for at in range(1, 40):
        kept.want(said(float(at)))
        read(kept)
    kept.want(said(1.0))
    assert kept.waiting == 0
    kept.drop([said_of(f"said {at}.0") for at in range(30, 40)])
    kept.want(said(1.0))
    assert kept.waiting == 1


def test_one_index_takes_part_with_less_than_is_held() -> None:
    kept = pool()
    index = Vectors(kept)
    for _ in range(3):
        for slot in range(40):
            index.put(slot, said(float(slot)))
        read(kept)
    assert kept.most < ROOM
    index._take_over()
    assert index.held == kept.most


def test_news_are_bounded_and_whoever_comes_late_still_gets_them() -> None:
    kept = pool()
    mark, _ = kept.news(0)
    for at in range(1, 200):
        kept.want(said(float(at)))
        read(kept)
        assert len(kept._news) <= 2 * LIMIT
    now, missed = kept.news(mark)
    assert set(missed) == set(kept._known)
    assert kept.news(now) == (now, [])
    kept.want(said(200.0))
    read(kept)
    assert kept.news(now) == (now + 1, [said(200.0).key])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_a_row_that_is_no_vector_is_like_nothing_in_memory_and_on_disk(value: float) -> None:
    kept = pool()
    kept.want(said(1.0))
    kept.want(said(2.0))
    some = kept.next(2)
    kept.take(some, np.array([[value, 0.5], [0.5, 0.5]], np.float32))
    rows = {one.at: kept.get(one.key) for one in some}
    spoiled, sound = rows[some[0].at], rows[some[1].at]
    assert spoiled is not None
    assert sound is not None
    assert spoiled.tolist() == [0.0, 0.0]
    assert sound.tolist() == [0.5, 0.5]
    assert all(np.isfinite(np.frombuffer(one.vector, "<f2")).all() for one in kept.pour(lambda _: True))


def test_a_vector_that_was_kept_spoiled_is_like_nothing() -> None:
    kept = pool()
    kept.load([record(1.0), record(2.0, np.array([np.nan, 1.0], "<f2").tobytes())])
    row = kept.get(record(2.0).key)
    assert row is not None
    assert row.tolist() == [0.0, 0.0]
    assert kept.get(record(1.0).key) is not None


def test_whatever_the_order_of_reading_the_latest_said_are_on_disk(
    kept: VectorFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(files.LIMITS, "turns", LIMIT)
    ages = random.Random(5).sample(range(1, 500), 90)
    for start in range(0, len(ages), 5):
        kept.add("a", "turns", lambda part=ages[start : start + 5]: [record(float(at)) for at in part])  # type: ignore[misc]
        there = sorted(one.at for one in kept.load("a", "turns"))
        seen = sorted(ages[: start + 5])
        assert len(there) <= LIMIT
        assert there[-ROOM:] == seen[-ROOM:]


def test_no_segment_is_larger_than_can_be_read(kept: VectorFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 2_000)
    records = [record(float(at)) for at in range(300)]
    kept.add("a", "facts", lambda: records)
    assert sorted(kept.load("a", "facts")) == sorted(records)
    paths = list((kept.profile.root / "vectors").rglob("*.vec"))
    assert len(paths) > 1
    assert all(path.stat().st_size <= 2_000 for path in paths)


def test_a_segment_that_is_too_large_goes_with_the_next_erasure(
    kept: VectorFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.add("a", "facts", lambda: [record(float(at)) for at in range(300)])
    monkeypatch.setattr(files, "MAX_BYTES", 2_000)
    assert kept.load("a", "facts") == []
    assert len(kept.drop([said_of("text 3.0")])) == 1
    assert not list((kept.profile.root / "vectors").rglob("*.vec"))


STRANGE = (
    "vectors/.DS_Store",
    "vectors/{model}/.DS_Store",
    "vectors/{model}/{kind}/.DS_Store",
    "vectors/{model}/{kind}/sub.vec/",
    "vectors/{model}/{kind}/.sub.vec.tmp/",
    "vectors/{model}/{kind}/00000002.vec/",
    "vectors/{model}/{kind}/link.vec@",
    "vectors/{model}/{kind}/²³.vec",
    f"vectors/{{model}}/{{kind}}/{'9' * 251}.vec",
    "vectors/{model}/sub.vec/",
    "vectors/another.vec",
    "vectors/another/",
    "vectors/another/{kind}/",
    "vectors/another/{kind}/sub.vec/",
)


@pytest.mark.parametrize("kind", ["facts", "turns"])
@pytest.mark.parametrize("where", STRANGE)
def test_no_strange_file_stops_keeping_or_erasing_or_passes_for_another_model(
    kept: VectorFiles, tmp_path: Path, where: str, kind: Kind
) -> None:
    add = partial(kept.add, "a", kind)
    add(lambda: [record(1.0)])
    root = kept.profile.root
    (folder,) = (root / "vectors").iterdir()
    path = root / where.format(model=folder.name, kind=kind).rstrip("@")
    path.parent.mkdir(parents=True, exist_ok=True)
    if where.endswith("/"):
        path.mkdir()
    elif where.endswith("@"):
        path.symlink_to(tmp_path)
    else:
        path.write_bytes(b"x")
    assert not kept.others("a")
    add(lambda: [record(2.0)])
    assert sorted(one.at for one in kept.load("a", kind)) == [1.0, 2.0]
    assert kept.drop([said_of("text 1.0")])
    assert [one.at for one in kept.load("a", kind)] == ([2.0] if kind == "facts" else [])


def test_another_model_is_another_only_while_it_has_vectors(kept: VectorFiles) -> None:
    kept.add("a", "facts", lambda: [record(1.0)])
    kept.add("a", "turns", lambda: [record(1.0)])
    assert kept.others("b")
    kept.add("b", "facts", lambda: [record(1.0)])
    assert not kept.others("b")
    assert kept.load("a", "turns") == kept.load("a", "facts") == []
