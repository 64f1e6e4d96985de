"""A real sentence model of a few words: an ONNX graph that looks rows up in a table, and a tokenizer for it.

Written byte by byte in ONNX's wire format, so that onnxruntime runs it without a further package to make it.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = {
    "travel": ("trip", "suitcase", "flight", "passport", "lisbon", "luggage"),
    "food": ("coffee", "bread", "dinner", "recipe", "bakery"),
    "code": ("pytest", "parser", "deploy", "branch"),
}
"""Words of one topic lie close to each other; the rest of a text points nowhere in particular."""


def write(folder: Path, name: str = "tiny") -> Path:
    """Write ``model.onnx`` and ``tokenizer.json`` into a folder, and return it; models differ by their names."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["[UNK]", *(word for topic in TOPICS.values() for word in topic)]
    rows = [[0.1, 0.1, 0.1, 1.0]]
    for at, topic in enumerate(TOPICS.values()):
        rows += [[1.0 if axis == at else 0.02 * place for axis in range(4)] for place in range(len(topic))]
    (folder / "model.onnx").write_bytes(_model(rows, name))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(words)), encoding="utf-8")
    return folder


def _tokenizer(words: list[str]) -> dict[str, object]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "[UNK]"},
    }


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _tensor_type(element: int, *dims: str | int) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, dim) if isinstance(dim, str) else _number(1, dim)) for dim in dims)
    return _bytes(1, _number(1, element) + _bytes(2, shape))


def _value(name: str, element: int, *dims: str | int) -> bytes:
    return _bytes(1, name) + _bytes(2, _tensor_type(element, *dims))


def shapeless() -> bytes:
    """Return a graph that answers any texts with the number of their rows and columns."""
    shape = _bytes(1, "input_ids") + _bytes(2, "last_hidden_state") + _bytes(4, "Shape")
    graph = _bytes(1, shape) + _bytes(2, "shapeless") + _bytes(11, _value("input_ids", 7, "texts", "tokens"))
    return _whole(graph + _bytes(12, _value("last_hidden_state", 7, 2)))


def _model(rows: list[list[float]], name: str) -> bytes:
    flat = [number for row in rows for number in row]
    width = len(rows[0])
    table = _number(1, len(rows)) + _number(1, width) + _number(2, 1) + _bytes(8, "table")
    table += _bytes(9, struct.pack(f"<{len(flat)}f", *flat))
    gather = _bytes(1, "table") + _bytes(1, "input_ids") + _bytes(2, "last_hidden_state") + _bytes(4, "Gather")
    graph = _bytes(1, gather) + _bytes(2, name) + _bytes(5, table)
    graph += _bytes(11, _value("input_ids", 7, "texts", "tokens"))
    graph += _bytes(12, _value("last_hidden_state", 1, "texts", "tokens", width))
    return _whole(graph)


def _whole(graph: bytes) -> bytes:
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
