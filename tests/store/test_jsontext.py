"""What is taken for a document is JSON to any other reader as well, to its last byte."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest

from persona_hooks.errors import UnsupportedVersionError
from persona_store import jsontext

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
