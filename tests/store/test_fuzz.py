"""Whatever bytes lie in a document's place, they are read, or refused and kept; nothing else ever happens."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import CorruptError, PersonaError, UnsupportedVersionError
from persona_store import jsontext
from persona_store.pages import Rows
from tests.support.crash.documents import Item, add, ids, store
from tests.support.crash.fuzz import SEEDS, mutate

if TYPE_CHECKING:
    from pathlib import Path

    from persona_store.document import Document, Snapshot

MANY = int(os.environ.get("PERSONA_TEST_FUZZ", "4000"))


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document[Item]:
    return store(tmp_path_factory.mktemp("fuzz"))[1]


def parsed(document: Document[Item], data: bytes) -> Snapshot[Item] | None:
    try:
        return document.parse(data)
    except (jsontext.DamageError, UnsupportedVersionError):
        return None


def test_mutated_documents_are_read_or_refused_and_what_is_read_can_be_written(document: Document[Item]) -> None:
    chance = random.Random(20260302)
    read = 0
    for _ in range(MANY):
        data = mutate(chance.choice(SEEDS), chance)
        snapshot = parsed(document, data)
        if snapshot is None:
            continue
        read += 1
        again = b"".join(document.encode(snapshot.rows, snapshot.sequence, snapshot.updated_at))
        assert [row.raw for row in document.parse(again).rows] == [row.raw for row in snapshot.rows]
    assert MANY / 100 < read < MANY


def test_a_mutated_file_is_put_aside_and_never_written_over(tmp_path: Path) -> None:
    chance = random.Random(20260303)
    path = store(tmp_path)[1].path
    add(tmp_path, "one")
    add(tmp_path, "two")
    for number in range(max(60, MANY // 100)):
        data = mutate(path.read_bytes(), chance)
        path.write_bytes(data)
        path.with_name("elite.json.bak").unlink(missing_ok=True)
        try:
            add(tmp_path, f"n{number}")
        except CorruptError:
            assert path.read_bytes() == data
            assert data in {kept.read_bytes() for kept in path.parent.glob("*.corrupt-*")}
        except UnsupportedVersionError:
            assert path.read_bytes() == data
        else:
            assert f"n{number}" in ids(tmp_path)
        _start_over(tmp_path, path)


def _start_over(root: Path, path: Path) -> None:
    for kept in path.parent.iterdir():
        kept.unlink()
    add(root, "one")
    add(root, "two")


@given(st.binary(max_size=300))
def test_any_bytes_at_all(document: Document[Item], data: bytes) -> None:
    assert parsed(document, data) is None


ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(ROWS, max_size=8), st.integers(0, jsontext.MAX_SEQUENCE))
def test_what_is_written_is_what_is_read(
    document: Document[Item], values: list[jsontext.JsonValue], sequence: int
) -> None:
    rows = []
    for value in values:
        try:
            rows.append(jsontext.encode_row(value))
        except PersonaError:
            continue
    data = jsontext.join("2026-03-02T09:30:00.000Z", sequence, rows)

    snapshot = document.parse(data)

    assert [row.raw for row in snapshot.rows] == rows
    assert snapshot.sequence == sequence
    assert b"".join(document.encode(snapshot.rows, snapshot.sequence, snapshot.updated_at)) == data


@given(st.lists(st.builds(Item, id=st.text(min_size=1), text=st.text()), max_size=12))
def test_values_come_back_as_they_were(document: Document[Item], items: list[Item]) -> None:
    rows = Rows.of(document.row(item) for item in items)
    data = b"".join(document.encode(rows, 1, "2026-03-02T09:30:00.000Z"))

    assert list(document.parse(data).values) == items
