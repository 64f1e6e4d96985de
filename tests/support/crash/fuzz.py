"""Seeds and mutations for documents: the ways in which files really break, and some in which they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_store import jsontext

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_WHEN = "2026-03-01T00:00:00.000Z"
SEEDS = (
    jsontext.join(_WHEN, 3, [b'{"id": "a", "text": "x"}', b'{\n      "id": "b",\n      "text": "y"\n    }']),
    jsontext.join(_WHEN, 0, []),
    jsontext.join(_WHEN, 9, [b'{"id": "c", "text": "z", "more": [1, 2.5, {"k": null}]}', b"17", b'"s"']),
    b'{"entries":[{"id":"d","text":"w"}],"sequence":2,"updatedAt":"2026-03-01T00:00:00Z","version":1}',
)
_TOKENS = (
    b"null", b"true", b"-1", b"1e999", b"NaN", b'""', b"{}", b"[]", b",", b":", b'"', b"\\", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b'"version": 2', b'"sequence": true', b"\\ud800", b"9" * 400, b"[" * 300, b"\n    },\n    {",
    b",\n    {", b"  ]\n}\n",
)  # fmt: skip


def _flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _drop(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.randint(1, 30)]


def _insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(_TOKENS)


def _repeat(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    part = data[at : at + chance.randint(1, 60)]
    data[at:at] = part


def _zero(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at:] = bytes(len(data) - at)


_MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (_flip, _cut, _drop, _insert, _repeat, _zero)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Break a document in one to three of the ways."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        if changed:
            chance.choice(_MUTATIONS)(changed, chance)
    return bytes(changed)
