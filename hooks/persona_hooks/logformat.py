"""The session log's format: one JSON object a line, a header first, then entries that name the entry before them.

    {"type":"session","version":1,"id":…,"timestamp":…,"cwd":…,"parentSession":…?}
    {"type":"message","id":…,"parentId":…,"timestamp":…,"data":{"role":…,"content":…}}
    {"type":"custom","id":…,"parentId":…,"timestamp":…,"customType":…,"data":{…}}

Lines end with LF and hold ASCII only (``ensure_ascii``), so that no character inside a text, U+2028 among them, can end
one. A line that cannot be read is isolated: it is reported with its number, kept where it stands, and never written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from persona_hooks.errors import CapacityError, CorruptError, InvalidError
from persona_hooks.ports import Entry
from persona_hooks.speech import phrase, thousands
from persona_hooks.wellformed import is_id, is_path

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
MAX_LINE = 4 * 1024 * 1024
"""Bytes of one entry."""
MAX_LOG = 64 * 1024 * 1024
"""Bytes of one log; a longer conversation goes on in a fork."""

_MAX_WORD = 128


class Header(NamedTuple):
    """The first line of a log.

    Attributes:
        session_id: The session's id.
        timestamp: When it began; RFC 3339, UTC.
        cwd: Where the person worked.
        parent: The log that this one was forked from, as a path or an id.
        version: The format's version.
    """

    session_id: str
    timestamp: str
    cwd: str
    parent: str | None = None
    version: int = VERSION


class Damage(NamedTuple):
    """A line that was isolated.

    Attributes:
        line: Its number in the file, from 1.
        reason: ``torn``, ``not_json``, ``not_an_entry``, ``too_long``, ``doubled_id`` or ``unknown_parent``; an entry
            with an unknown parent is kept, attached to the entry that stands before it.
    """

    line: int
    reason: str


class UnreadableError(Exception):
    """A line is no entry; ``reason`` is one of those of ``Damage``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def encode_header(header: Header) -> bytes:
    """Return the header's line."""
    line: dict[str, Any] = {
        "type": "session",
        "version": header.version,
        "id": header.session_id,
        "timestamp": header.timestamp,
        "cwd": header.cwd,
    }
    if header.parent is not None:
        line["parentSession"] = header.parent
    return _dumps(line)


def parse_header(line: bytes, path: str) -> Header:
    """Return the header in ``line``.

    Raises:
        CorruptError: It is no header; ``path`` is named.
    """
    try:
        value = _loads(line)
    except UnreadableError:
        value = {}
    version, parent = value.get("version"), value.get("parentSession")
    texts = [value.get(name) for name in ("id", "timestamp", "cwd")]
    valid = (
        value.get("type") == "session"
        and isinstance(version, int)
        and not isinstance(version, bool)
        and version >= 1
        and all(isinstance(text, str) for text in texts)
        and is_id(texts[0])
        and is_path(str(texts[2]))
        and (parent is None or isinstance(parent, str))
    )
    if not valid:
        raise CorruptError(phrase("{path} does not begin with the header of a session log.", path=path), path=path)
    return Header(str(texts[0]), str(texts[1]), str(texts[2]), parent, int(str(version)))


def encode_entry(entry: Entry) -> bytes:
    """Return the entry's line.

    Raises:
        InvalidError: Its data is not JSON.
        CapacityError: It is longer than ``MAX_LINE``.
    """
    line: dict[str, Any] = {
        "type": entry.type,
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": entry.timestamp,
    }
    if entry.custom_type is not None:
        line["customType"] = entry.custom_type
    line["data"] = entry.data
    encoded = _dumps(line)
    if len(encoded) > MAX_LINE:
        raise CapacityError(
            phrase(
                "An entry of the session log may be {limit} bytes long, not {encoded}.",
                limit=thousands(MAX_LINE),
                encoded=thousands(len(encoded)),
            ),
            limit="log_line",
        )
    return encoded


def parse_entry(line: bytes) -> Entry:
    """Return the entry in ``line``.

    Raises:
        UnreadableError: There is none.
    """
    if len(line) > MAX_LINE:
        raise UnreadableError("too_long")
    value = _loads(line)
    kind, key, parent = value.get("type"), value.get("id"), value.get("parentId")
    custom, data, stamp = value.get("customType"), value.get("data", {}), value.get("timestamp")
    valid = (
        _is_word(kind, _MAX_WORD)
        and is_id(key)
        and (parent is None or is_id(parent))
        and (custom is None or _is_word(custom, _MAX_WORD))
        and (kind != "custom" or custom is not None)
        and isinstance(stamp, str)
        and isinstance(data, dict)
    )
    if not valid:
        raise UnreadableError("not_an_entry")
    return Entry(str(key), parent, str(stamp), str(kind), custom, data)


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of ``data`` as JSON values, so that a later change by the caller cannot reach the log.

    Raises:
        InvalidError: It is not a JSON object.
    """
    copy: dict[str, Any] = json.loads(_dumps(dict(data)))
    return copy


def _is_word(value: object, longest: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest


def _dumps(value: dict[str, Any]) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError):
        raise InvalidError(phrase("An entry of the session log must be made of JSON values."), field="data") from None


def _loads(line: bytes) -> dict[str, Any]:
    try:
        # Decoded here, since json.loads would guess at UTF-16 and UTF-32.
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise UnreadableError("not_json") from None
    if not isinstance(value, dict):
        raise UnreadableError("not_an_entry")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")
