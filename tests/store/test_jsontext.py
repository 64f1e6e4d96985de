"""What is taken for a document is JSON to any other reader as well, to its last byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_hooks.errors import UnsupportedVersionError
from persona_store import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable

CANONICAL = jsontext.join("2026-03-01T00:00:00.000Z", 4, [b'{"id": "a"}', b'{"id": "b"}'])
LAYOUTS = {
    "canonical": CANONICAL,
    "one line": b"".join(line.strip() for line in CANONICAL.splitlines()),
    "another order": b'{"entries": [ 1 , [] ], "sequence": 4, "updatedAt": "2026-03-01T00:00:00Z", "version": 1 } ',
    "no rows": jsontext.join("2026-03-01T00:00:00.000Z", 4, []),
    "nothing in it": b" {} ",
}
STRAYS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"1", b"{}", b"[]", b"NaN", b"\0", b"\xc2\xa0", b"\v"]


def is_json(data: bytes) -> bool:
    def refuse(_: str) -> NoReturn:
        raise ValueError

    try:
        json.loads(data.decode("utf-8"), parse_constant=refuse)
    except ValueError:
        return False
    return True


def is_document(data: bytes) -> bool:
    try:
        jsontext.split(data)
    except jsontext.DamageError:
        return False
    except UnsupportedVersionError:
        return True
    return True


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_stray_byte_anywhere_is_stepped_over(layout: str) -> None:
    whole = LAYOUTS[layout]
    assert is_json(whole)
    assert is_document(whole) == (layout != "nothing in it")

    changed = [whole[:at] + stray + whole[at:] for at in range(len(whole) + 1) for stray in STRAYS]
    changed += [whole[:at] + whole[at + 1 :] for at in range(len(whole))]

    assert [data for data in changed if is_document(data) and not is_json(data)] == []


NUMBERS = [
    "0",
    "1",
    "7",
    "-1",
    "-0",
    "00",
    "01",
    "007",
    "1.0",
    "1e0",
    "9007199254740992",
    *("9" * digits for digits in (16, 17, 5000)),
    "+1",
    "",
]
ROWS = [
    '{"id": "a"}',
    '{"id": "a"} ',
    '{"id": "a"}\t',
    '{\n      "id": "a"\n    }',
    '{"id": "a"},',
    '{"id": "a"}{}',
    '{"id": "a", "id": "b"}',
    '{"id": 007}',
    '{"id": [{\n    {"b": 1}]}',
    '{"id": [1,\n    {"b": 1}]}',
    '{"id": NaN}',
    '{"id": 1e999}',
    '{"id": "\\ud800"}',
    '{"id": "\x01"}',
    '{"id": "é"}',
    f'{{"id": {"9" * 5000}}}',
    f'{{"id": {"[" * 300}{"]" * 300}}}',
    "{}",
    "{",
    "1",
]


def taken_apart(how: Callable[[], jsontext.Envelope | None]) -> jsontext.Envelope | str | None:
    try:
        return how()
    except jsontext.DamageError as damage:
        return damage.reason
    except UnsupportedVersionError as error:
        return error.reason


def mostly(usual: str, others: list[str]) -> st.SearchStrategy[str]:
    return st.booleans().flatmap(lambda odd: st.sampled_from(others) if odd else st.just(usual))


@settings(max_examples=500)
@given(
    mostly("1", NUMBERS),
    mostly("7", NUMBERS),
    mostly("2026-03-01T00:00:00Z", ["2026-02-30T00:00:00Z", "é", "", "x" * 65]),
    st.lists(mostly('{"id": "a"}', ROWS), max_size=3),
)
def test_cutting_a_document_at_its_rows_gives_what_walking_it_gives(
    version: str, sequence: str, moment: str, rows: list[str]
) -> None:
    """Each number as people and programs may write it: one with leading zeros is no JSON."""
    head = f'{{\n  "version": {version},\n  "updatedAt": "{moment}",\n  "sequence": {sequence},\n  "entries": ['
    body = "\n    " + ",\n    ".join(rows) + "\n  " if rows else ""
    data = f"{head}{body}]\n}}\n".encode()

    cut = taken_apart(lambda: jsontext._split_canonical(data, frozenset()))

    assert cut in (None, taken_apart(lambda: jsontext._split_any(data)))
    assert cut is not None or not (version == "1" and sequence == "7" and moment[:7] == "2026-03" and not rows)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_sequence_is_read_from_a_head_alone_as_from_the_whole(number: str) -> None:
    data = CANONICAL.replace(b'"sequence": 4', f'"sequence": {number}'.encode())
    head = jsontext.peek_sequence(data[:100])
    whole = taken_apart(lambda: jsontext._split_any(data))

    assert (
        head is None
        or head > jsontext.MAX_SEQUENCE
        or (isinstance(whole, jsontext.Envelope) and whole.sequence == head)
    )
