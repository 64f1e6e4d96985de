"""A segment: some vectors in one file that is written once. It holds hashes and numbers, and no word of any text.

Nothing here needs the extra, so that an erasure reaches vectors wherever they were made.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_mind.kernel.identity import normal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEY: Final = 16
"""Bytes of a hash."""
_HEADER: Final = struct.Struct("<8sII32s")
_MAGIC: Final = b"pmvecs\x00\x01"


class Record(NamedTuple):
    """One vector.

    Attributes:
        key: Of what the model read; see ``recall.pool``.
        said: Of the text without its tags, however it is spelled: by this it is erased.
        vector: Little-endian half floats.
    """

    key: bytes
    said: bytes
    vector: bytes


def said_of(text: str) -> bytes:
    """Return the hash by which a text is erased, the same for each of its spellings."""
    return hashlib.sha256(normal_text(text).encode("utf-8", "surrogatepass")).digest()[:KEY]


def encode(records: Iterable[Record]) -> bytes:
    """Return the bytes of a segment; all vectors are of one length."""
    kept = list(records)
    size = len(kept[0].vector) if kept else 0
    body = b"".join([part for record in kept for part in record])
    return _HEADER.pack(_MAGIC, size, len(kept), hashlib.sha256(body).digest()) + body


def decode(data: bytes) -> Iterator[Record]:
    """Yield the vectors of a segment; none where it is damaged, since what it held can be made again."""
    if len(data) < _HEADER.size:
        return
    magic, size, count, digest = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    step = 2 * KEY + size
    if magic != _MAGIC or len(body) != step * count or hashlib.sha256(body).digest() != digest:
        return
    for at in range(0, len(body), step):
        yield Record(body[at : at + KEY], body[at + KEY : at + 2 * KEY], body[at + 2 * KEY : at + step])
