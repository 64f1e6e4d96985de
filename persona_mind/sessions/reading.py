"""From a line of a session log to what was said in it. Two formats are known: the embedded host's, and Pi's.

Only what a person or a model said in words counts: no tool call and no tool output, no summary, no custom entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import InvalidError
from persona_hooks.logformat import MAX_LINE, UnreadableError, parse_entry
from persona_hooks.wellformed import is_id
from persona_mind.kernel import clock
from persona_mind.kernel.access import SWITCH

if TYPE_CHECKING:
    from persona_mind.kernel.past import Speaker

UNRECORDED: Final = object()
"""Stands for the persona where a log does not say whose conversation it is."""

_ROLES: Final[Mapping[object, Speaker]] = {"user": "user", "assistant": "model"}


@dataclass(frozen=True, slots=True)
class Said:
    """One message.

    Attributes:
        id: Its entry's id; forks and clones keep it.
        at: When, in seconds since the epoch; None where the log does not say.
        persona: Whose conversation it was: a name, None for no persona, or ``UNRECORDED``.
    """

    id: str
    role: Speaker
    text: str
    at: float | None
    persona: object = UNRECORDED


@dataclass(frozen=True, slots=True)
class Switched:
    """The person turned memory on or off for the conversation."""

    on: bool


Reader = Callable[[bytes], Said | Switched | None]
"""Returns what a line says; None where it says nothing that counts, or cannot be read."""


def embedded(line: bytes) -> Said | Switched | None:
    """Read a line of the embedded host's log."""
    try:
        entry = parse_entry(line)
    except UnreadableError:
        return None
    if entry.type != "message":
        return Switched(_is_on(entry.data)) if entry.custom_type == SWITCH else None
    persona = entry.data.get("persona", UNRECORDED)
    known = persona is None or isinstance(persona, str)
    return _said(entry.id, entry.timestamp, entry.data, persona if known else UNRECORDED)


def pi(line: bytes) -> Said | Switched | None:
    """Read a line of Pi's log."""
    if len(line) > MAX_LINE or not (b'"message"' in line or SWITCH.encode() in line):
        return None
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    match value:
        case {"type": "message", "id": str(key), "timestamp": str(stamp), "message": Mapping() as message} if is_id(
            key
        ):
            return _said(key, stamp, message, UNRECORDED)
        case {"type": "custom", "customType": str(name), "data": Mapping() as data} if name == SWITCH:
            return Switched(_is_on(data))
        case _:
            return None


def _is_on(data: Mapping[str, Any]) -> bool:
    return data.get("enabled") is not False


def _said(key: str, stamp: str, message: Mapping[str, Any], persona: object) -> Said | None:
    role = message.get("role")
    text = _text(message.get("content"))
    if not isinstance(role, str) or role not in _ROLES or not text.strip():
        return None
    try:
        at = clock.parse(stamp).timestamp()
    except InvalidError:
        at = None
    return Said(key, _ROLES[role], text, at, persona)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
