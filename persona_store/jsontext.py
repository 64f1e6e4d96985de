"""Taking a document apart into its envelope and the exact bytes of each row, and putting one together.

A document in the canonical layout, which is how every release writes it, is cut at the line that starts a row; the
cut is right because each piece is then parsed as one complete JSON object. Any other layout is walked value by
value. Both ways give the same rows for the same text.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from persona_hooks.errors import InvalidError, UnsupportedVersionError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from typing_extensions import TypeIs

VERSION: Final = 1
MAX_BYTES: Final = 4 * 1024 * 1024
MAX_ENTRIES: Final = 10_000
MAX_SEQUENCE: Final = 2**53 - 1

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]

_HEAD: Final = re.compile(
    rb'\{\n  "version": (0|[1-9]\d{0,15}),\n  "updatedAt": "([^"\\\x00-\x1f]{1,64})",\n'
    rb'  "sequence": (0|[1-9]\d{0,15}),\n  "entries": \['
)
_BETWEEN: Final = b",\n    "
_ROW_START: Final = _BETWEEN + b"{"
_TAIL: Final = b"\n  ]\n}\n"
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_FIELDS: Final = frozenset({"version", "updatedAt", "sequence", "entries"})
_SPACE: Final = re.compile(r"[ \t\n\r]*")


class DamageError(Exception):
    """The bytes are no document; ``reason`` is one stable word that never quotes them."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Envelope(NamedTuple):
    """A document without meaning: its head, and every row as it stands in the file."""

    updated_at: str
    sequence: int
    rows: list[bytes]


def split(data: bytes, known: Container[bytes] = frozenset()) -> Envelope:
    """Take a document apart.

    Args:
        data: The whole file.
        known: Rows already seen to be one JSON object each, which need no second look.

    Raises:
        DamageError: It is no document of any version.
        UnsupportedVersionError: A newer release wrote it; leave it untouched.
    """
    return _split_canonical(data, known) or _split_any(data)


def _split_canonical(data: bytes, known: Container[bytes]) -> Envelope | None:
    head = _HEAD.match(data)
    if head is None or int(head[1]) != VERSION:
        return None
    if data[head.end() :] == b"]\n}\n":
        rows: list[bytes] = []
    elif data.startswith(b"\n    {", head.end()) and data.endswith(_TAIL):
        first, *rest = data[head.end() + 5 : -len(_TAIL)].split(_ROW_START)
        rows = [first, *(b"{" + row for row in rest)]
        if not all(row in known or _is_object(row) for row in rows):
            return None
    else:
        return None
    return _envelope(head[2].decode("ascii", "replace"), int(head[3]), rows)


def _is_object(row: bytes) -> bool:
    from pydantic_core import from_json  # noqa: PLC0415 - reading an empty profile needs no parser

    if not row.endswith(b"}"):
        return False  # the parser would step over white space, which is no part of the row
    try:
        return isinstance(from_json(row, allow_inf_nan=False, cache_strings="keys"), dict)
    except ValueError:
        return False


def _split_any(data: bytes) -> Envelope:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise DamageError("not_utf8") from None
    if not text.strip(" \t\r\n"):
        raise DamageError("empty")
    try:
        fields = dict(_unique(_members(text)))
    except RecursionError:
        raise DamageError("too_deep") from None
    except ValueError:
        raise DamageError("not_json") from None
    return _check(fields)


def _check(fields: dict[str, JsonValue | list[bytes]]) -> Envelope:
    version = fields.get("version")
    if (_is_int(version) and version > VERSION) or (isinstance(version, str) and version):
        raise UnsupportedVersionError(
            phrase("the file was written by a newer release; it is read-only here and was left untouched"),
            found=str(version)[:20],
        )
    if not _is_int(version) or version != VERSION:
        raise DamageError("bad_version")
    updated_at, sequence, rows = fields.get("updatedAt"), fields.get("sequence"), fields.get("entries")
    if not isinstance(updated_at, str) or not _is_int(sequence):
        raise DamageError("bad_updated_at" if _is_int(sequence) else "bad_sequence")
    if not isinstance(rows, list) or not all(isinstance(row, bytes) for row in rows):
        raise DamageError("bad_entries")
    if unknown := sorted(fields.keys() - _FIELDS):
        raise UnsupportedVersionError(
            phrase("the file has a field this release does not know; it is read-only here and was left untouched"),
            reason="unknown_field",
            found=repr(unknown[0][:40]),
        )
    return _envelope(updated_at, sequence, [row for row in rows if isinstance(row, bytes)])


def _is_int(value: object) -> TypeIs[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _envelope(updated_at: str, sequence: int, rows: list[bytes]) -> Envelope:
    if not is_date(updated_at):
        raise DamageError("bad_updated_at")
    if not 0 <= sequence <= MAX_SEQUENCE:
        raise DamageError("bad_sequence")
    if len(rows) > MAX_ENTRIES:
        raise DamageError("too_many_entries")
    return Envelope(updated_at, sequence, rows)


def is_date(text: str) -> bool:
    """Whether this is an RFC 3339 instant with an offset, on a real day."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def refuse_constant(_name: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, for the ``parse_constant`` of Python's own parser."""
    raise ValueError("not a JSON number")


_decode: Final = json.JSONDecoder(parse_constant=refuse_constant).raw_decode


def _members(text: str) -> Iterator[tuple[str, JsonValue | list[bytes]]]:
    """Walk the outermost object; the rows of ``entries`` come as bytes, everything else as a value."""
    at = _expect(text, 0, "{")
    closing = text.startswith("}", at)
    if closing:
        at += 1
    while not closing:
        key, at = _decode(text, at)
        if not isinstance(key, str):
            raise DamageError("not_json")
        at = _expect(text, at, ":")
        if key == "entries" and text.startswith("[", at):
            rows, at = _elements(text, at + 1)
            yield key, rows
        else:
            value, at = _decode(text, at)
            yield key, value
        closing, at = _more(text, at, "}")
    if _skip(text, at) != len(text):
        raise DamageError("trailing_bytes")


def _elements(text: str, at: int) -> tuple[list[bytes], int]:
    rows: list[bytes] = []
    at = _skip(text, at)
    if text.startswith("]", at):
        return rows, at + 1
    closing = False
    while not closing:
        _, end = _decode(text, at)
        rows.append(text[at:end].encode())
        closing, at = _more(text, end, "]")
    return rows, at


def _more(text: str, at: int, closer: str) -> tuple[bool, int]:
    """Step over a comma (False) or the closing bracket (True)."""
    at = _skip(text, at)
    if text.startswith(closer, at):
        return True, at + 1
    return False, _expect(text, at, ",")


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if not text.startswith(mark, at):
        raise DamageError("not_json")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _unique(
    members: Iterable[tuple[str, JsonValue | list[bytes]]],
) -> Iterator[tuple[str, JsonValue | list[bytes]]]:
    seen: set[str] = set()
    for key, value in members:
        if key in seen:
            raise DamageError("duplicate_field")
        seen.add(key)
        yield key, value


def frame(updated_at: str, sequence: int, *, empty: bool) -> tuple[bytes, bytes, bytes]:
    """Return what stands before, between and after the rows in the canonical layout."""
    head = (
        f'{{\n  "version": {VERSION},\n  "updatedAt": "{updated_at}",\n  "sequence": {sequence},\n  "entries": ['
    ).encode()
    return (head, b"", b"]\n}\n") if empty else (head + b"\n    ", _BETWEEN, _TAIL)


def join_rows(rows: Iterable[bytes]) -> bytes:
    """Put rows together as they stand in a document, as they are."""
    return _BETWEEN.join(rows)


def join(updated_at: str, sequence: int, rows: Sequence[bytes]) -> bytes:
    """Put a whole document together in the canonical layout."""
    head, _, tail = frame(updated_at, sequence, empty=not rows)
    return b"".join([head, join_rows(rows), tail])


def peek_sequence(head: bytes) -> int | None:
    """Return the sequence from the first bytes of a canonical document, or None."""
    match = _HEAD.match(head)
    return int(match[3]) if match else None


def encode_row(fields: JsonValue) -> bytes:
    """Write one row as it stands in a document, nested lines indented to their place.

    Raises:
        InvalidError: The value holds something JSON or UTF-8 cannot, such as NaN or half a surrogate pair.
    """
    from pydantic_core import from_json, to_json  # noqa: PLC0415 - reading an empty profile needs no parser

    try:
        raw = to_json(fields, indent=2)
        from_json(raw, allow_inf_nan=False, cache_strings="keys")
    except (ValueError, RecursionError):
        raise InvalidError(
            phrase("a row holds a value that JSON cannot carry"), reason="not_json", field="row"
        ) from None
    return raw.replace(b"\n", b"\n    ")


def decode_row(raw: bytes) -> JsonValue:
    """Read one row's bytes as plain data."""
    value: JsonValue = json.loads(raw)
    return value
