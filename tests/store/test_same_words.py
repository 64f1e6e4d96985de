"""A text that was written another way is the same text, also in files that nobody can parse."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_store import backup, backup_contents
from persona_store.erase import Target, erase
from persona_store.same_words import SameWords, any_in_bytes
from persona_store.transaction import Profile
from tests.support.crash.documents import Item

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from _pytest.mark import ParameterSet

PRIVATE = 'The café\'s "back door" is 🔑 open/shut at Müllerstraße 5'
TARGET = Target((PRIVATE,), ("a key",))
SHORT = "Tea, café"
DOCUMENT = "memory/ltm/elite.json"

WAYS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "small letters": str.lower,
    "apart": lambda text: text.replace(" ", " \n\t  "),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "all of it": lambda text: unicodedata.normalize("NFD", text.upper().replace(" ", "\r\n ")),
}
WRITTEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "ascii json": lambda text: json.dumps(text)[1:-1],
    "with slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "nested json": lambda text: json.dumps(json.dumps(text))[1:-1],
}


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    found = Profile(agent_dir / "persona-mind", lambda: datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    document = found.document(DOCUMENT, Item)
    for number in range(2):
        with found.transaction() as transaction:
            row = document.row(Item(id=str(number), text=f"kept {number}"))
            transaction.update(document, lambda snapshot, row=row: [*snapshot.rows, row])  # type: ignore[misc]
    return found


def disguises() -> list[ParameterSet]:
    return [
        pytest.param(write(change(PRIVATE)).encode(), id=f"{way}, {how}")
        for way, change in WAYS.items()
        for how, write in WRITTEN.items()
    ]


def torn(data: bytes) -> bytes:
    return b'{\n  "version": 1,\n  "entries": [\n    {"id": "x", "text": "' + data + b'", "no'


@pytest.mark.parametrize("data", disguises())
def test_a_copy_put_aside_goes_however_the_words_are_written(profile: Profile, data: bytes) -> None:
    aside = profile.root / f"{DOCUMENT}.corrupt-0"
    aside.write_bytes(torn(data))

    erased = erase(profile, TARGET)

    assert erased.changed == (f"{DOCUMENT}.corrupt-0",)
    assert not aside.exists()
    assert erased.residue == ()


UTF_16: dict[str, Callable[[str], bytes]] = {
    "little endian": lambda text: text.encode("utf-16-le"),
    "big endian": lambda text: text.encode("utf-16-be"),
    "little endian with its mark": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "big endian with its mark": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
}


@pytest.mark.parametrize("saved", UTF_16)
@pytest.mark.parametrize("data", disguises())
def test_a_copy_that_an_editor_saved_as_utf_16_goes_however_the_words_are_written(
    profile: Profile, data: bytes, saved: str
) -> None:
    aside, harmless = (profile.root / f"{DOCUMENT}.corrupt-{number}" for number in range(2))
    aside.write_bytes(UTF_16[saved](torn(data).decode()))
    harmless.write_bytes(UTF_16[saved](torn(b"kept").decode()))

    erased = erase(profile, TARGET)

    assert erased.changed == (f"{DOCUMENT}.corrupt-0",)
    assert (aside.exists(), harmless.exists()) == (False, True)


@pytest.mark.parametrize("saved", UTF_16)
@pytest.mark.parametrize("text", ["雨の日は屋根裏の窓から金庫の部屋に入れる", "Ключ от сейфа под половицей"])
def test_words_of_any_script_are_found_in_utf_16(text: str, saved: str) -> None:
    document = json.dumps({"version": 1, "entries": [{"id": "x", "text": text * 40}]}, ensure_ascii=False, indent=2)

    assert any_in_bytes([SameWords.of(text)], UTF_16[saved](document))
    assert not any_in_bytes([SameWords.of(text + "!")], UTF_16[saved](document))


@pytest.mark.parametrize("saved", UTF_16)
@pytest.mark.parametrize("before", [(1 << 19) - 7, (1 << 19) - 1, 1 << 19, 3 << 20])
def test_words_in_utf_16_are_found_wherever_a_big_file_is_cut(before: int, saved: str) -> None:
    data = UTF_16[saved]("x" * before + json.dumps(PRIVATE.upper()) + "x" * before)

    assert any_in_bytes([SameWords.of(PRIVATE)], data)
    assert not any_in_bytes([SameWords.of(f"{PRIVATE}!")], data)


@pytest.mark.parametrize("data", disguises())
def test_what_nobody_can_parse_goes_from_a_backup_or_is_named(profile: Profile, tmp_path: Path, data: bytes) -> None:
    live, previous = profile.root / DOCUMENT, profile.root / f"{DOCUMENT}.bak"
    live.write_bytes(torn(data))
    previous.write_bytes(torn(data)[:-1])
    daily = backup.daily(profile)
    assert daily is not None
    elsewhere = tmp_path / "log.jsonl"
    elsewhere.write_bytes(b'{"said": "' + data + b'"}\n')

    erased = erase(profile, TARGET, outside=[elsewhere])

    assert not erased.complete
    assert {found.path for found in erased.residue} == {str(live), str(previous), str(elsewhere)}
    assert not (daily / "documents" / DOCUMENT).exists()
    assert backup_contents.verify(daily) == {}


@pytest.mark.parametrize("way", WAYS)
def test_a_row_that_is_no_object_goes_however_the_words_are_written(profile: Profile, way: str) -> None:
    live = profile.root / DOCUMENT
    document = json.loads(live.read_text())
    document["entries"].append([WAYS[way](PRIVATE)])
    live.write_text(json.dumps(document, indent=2) + "\n")

    assert erase(profile, TARGET).rows == 1

    assert len(json.loads(live.read_text())["entries"]) == 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["json", "ascii json", "nested json"])
def test_a_short_text_is_the_whole_value_of_a_field(way: str, how: str) -> None:
    value = json.dumps({"text": WAYS[way](SHORT)}, ensure_ascii=how == "ascii json")
    data = (json.dumps(value) if how == "nested json" else value).encode()
    sought = [SameWords.of(SHORT)]

    assert any_in_bytes(sought, b"torn, " + data)
    assert not any_in_bytes(sought, data.replace(b"text", b"kind"))
    assert not any_in_bytes(sought, data.replace(b"ea", b"eaea").replace(b"EA", b"EAEA"))


@given(
    text=st.text(min_size=1).filter(str.strip),
    way=st.sampled_from(list(WAYS)),
    how=st.sampled_from(["json", "ascii json", "with slashes"]),
    around=st.text(max_size=3),
    nested=st.booleans(),
)
def test_what_is_found_in_data_is_found_in_its_bytes(
    text: str, way: str, how: str, around: str, *, nested: bool
) -> None:
    value = around + WAYS[way](text) + around
    one = SameWords.of(text)
    written = f'{{"text": "{WRITTEN[how](value)}"}}'

    if one.in_value(value, "text"):
        assert any_in_bytes([one], (json.dumps(written) if nested else written).encode())


@pytest.mark.parametrize("before", [(1 << 20) - 7, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_words_are_found_wherever_a_big_file_is_cut(before: int) -> None:
    sought = [SameWords.of(PRIVATE)]
    data = b"x" * before + json.dumps(PRIVATE.upper()).encode() + b"x" * before

    assert any_in_bytes(sought, data)
    assert not any_in_bytes(sought, data.replace(b"SHUT", b"SHOT"))
