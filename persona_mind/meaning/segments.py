"""A segment: some vectors in one file that is written once. It holds hashes and numbers, and no word of any text.

Nothing here needs the extra, so that an erasure reaches vectors wherever they were made.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_mind.kernel.identity import normal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KEY: Final = 16
"""Bytes of a hash."""
_HEADER: Final = struct.Struct("<8sII32s")
_AT: Final = struct.Struct("<d")
_MAGIC: Final = b"pmvecs\x00\x02"


class Record(NamedTuple):
    """One vector.

    Attributes:
        key: Of what the model read; see ``recall.pool``.
        said: Of the text without its tags, however it is spelled: by this it is erased.
        vector: Little-endian half floats.
        at: When it was said, in seconds since the epoch: the oldest make room. Those without a time are older than all
            others.
    """

    key: bytes
    said: bytes
    vector: bytes
    at: float = 0.0


def said_of(text: str) -> bytes:
    """Return the hash by which a text is erased, the same for each of its spellings."""
    return hashlib.sha256(normal_text(text).encode("utf-8", "surrogatepass")).digest()[:KEY]


def encode(records: Iterable[Record]) -> bytes:
    """Return the bytes of a segment; all vectors are of one length."""
    kept = list(records)
    size = len(kept[0].vector) if kept else 0
    body = b"".join([part for key, said, vector, at in kept for part in (key, said, _AT.pack(at), vector)])
    return _HEADER.pack(_MAGIC, size, len(kept), hashlib.sha256(body).digest()) + body


def split(records: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    """Yield parts that make segments of so many bytes at most; all vectors are of one length."""
    if records:
        most = max(1, (size - _HEADER.size) // _step(len(records[0].vector)))
        for at in range(0, len(records), most):
            yield records[at : at + most]


def _step(size: int) -> int:
    return 2 * KEY + _AT.size + size


def decode(data: bytes) -> Iterator[Record]:
    """Yield the vectors of a segment; none where it is damaged, since what it held can be made again."""
    if len(data) < _HEADER.size:
        return
    magic, size, count, digest = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    step = _step(size)
    if magic != _MAGIC or len(body) != step * count or hashlib.sha256(body).digest() != digest:
        return
    for at in range(0, len(body), step):
        vector = at + step - size
        (said_at,) = _AT.unpack_from(body, vector - _AT.size)
        yield Record(body[at : at + KEY], body[at + KEY : at + 2 * KEY], body[vector : at + step], said_at)
