"""From a line of a session log to what was said in it. Two formats are known: the embedded host's, and Pi's.

Only what a person or a model said in words counts: no tool call and no tool output, no summary, no custom entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import InvalidError
from persona_hooks.logformat import MAX_LINE, UnreadableError, parse_entry
from persona_hooks.owner import SPEAKER
from persona_hooks.wellformed import is_id
from persona_mind.kernel import clock
from persona_mind.kernel.access import SWITCH

if TYPE_CHECKING:
    from persona_mind.kernel.past import Speaker

UNRECORDED: Final = object()
"""Stands for the persona in a log that did not yet say whose conversation it is: everybody may be shown it."""
NOBODY: Final = object()
"""Stands for the persona where a log says it and it cannot be told for this part: nobody may be shown it."""

_ROLES: Final[Mapping[object, Speaker]] = {"user": "user", "assistant": "model"}


@dataclass(frozen=True, slots=True)
class Said:
    """One message.

    Attributes:
        id: Its entry's id; forks and clones keep it.
        at: When, in seconds since the epoch; None where the log does not say.
        persona: Whose conversation it was: a name, None for no persona, ``UNRECORDED`` or ``NOBODY``.
        parent: The entry before it on its branch, which says whose it was where it does not say so itself.
    """

    id: str
    role: Speaker
    text: str
    at: float | None
    persona: object = UNRECORDED
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """An entry in which nobody speaks, on the way from one message to the next.

    Attributes:
        persona: Whose conversation it is from here on; ``UNRECORDED`` where it does not say so.
        doubted: Messages above it of which this entry says that they were not the persona's who was named then.
    """

    id: str
    parent: str | None
    persona: object = UNRECORDED
    doubted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Switched:
    """The person turned memory on or off for the conversation.

    Attributes:
        id: Its entry's id, empty where it plays no part; likewise ``parent``.
    """

    on: bool
    id: str = ""
    parent: str | None = None


_LOST: Final = Passed("", None, NOBODY)
"""A line that cannot be read. It may have named somebody, and what hangs from it hangs from an id unknown here."""
_HEAD: Final = re.compile(rb'\{"type":"message","id":"([\w.-]{1,128})","parentId":(?:null|"([\w.-]{1,128})"),')
"""How Pi begins a message's line: enough of one that cannot be read, such as a picture's, to follow the branch."""

Read = Said | Switched | Passed
Reader = Callable[[bytes], "Read | None"]
"""Returns what a line says; None where it says nothing that counts, or cannot be read."""


def embedded(line: bytes) -> Read | None:
    """Read a line of the embedded host's log."""
    try:
        entry = parse_entry(line)
    except UnreadableError:
        return None
    if entry.type != "message":
        return Switched(_is_on(entry.data)) if entry.custom_type == SWITCH else None
    persona = entry.data.get("persona", UNRECORDED)
    known = persona is None or isinstance(persona, str)
    return _said(entry.id, entry.timestamp, entry.data, persona if known or persona is UNRECORDED else NOBODY)


def pi(line: bytes) -> Read | None:
    """Read a line of Pi's log. Every entry counts as a step of its branch, since Pi's messages name no persona."""
    if not line:
        return None
    if len(line) > MAX_LINE:
        return _lost(line)
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return _lost(line)
    return _step(value) if isinstance(value, dict) else None


def _lost(line: bytes) -> Passed:
    """Return what is known of a line that cannot be read: a message's place on its branch, or nothing."""
    head = _HEAD.match(line)
    if head is None:
        return _LOST
    key, above = head.groups()
    return Passed(key.decode(), None if above is None else above.decode())


def _step(value: Mapping[str, Any]) -> Read | None:
    parent = value.get("parentId")
    above = parent if isinstance(parent, str) else None
    match value:
        case {"type": "message", "id": str(key), "timestamp": str(stamp), "message": Mapping() as message} if is_id(
            key
        ):
            return _said(key, stamp, message, UNRECORDED, above) or Passed(key, above)
        case {"type": "custom", "customType": str(name), "data": Mapping() as data} if name == SWITCH:
            return Switched(_is_on(data), str(value.get("id", "")), above)
        case {"type": "custom", "customType": str(name)} if name == SPEAKER:
            return _named(str(value.get("id", "")), above, value.get("data"))
        case {"id": str(key)}:
            return Passed(key, above)
        case _:
            return None


def _named(key: str, above: str | None, data: object) -> Passed:
    """Read whose conversation it is from here on; nobody's where that is not said, or in a form unknown here."""
    said = data if isinstance(data, dict) else {}
    persona, doubted = said.get("persona", NOBODY), said.get("doubted")
    known = persona is None or isinstance(persona, str)
    ids = doubted if isinstance(doubted, list) else []
    return Passed(key, above, persona if known else NOBODY, frozenset(item for item in ids if isinstance(item, str)))


def _is_on(data: Mapping[str, Any]) -> bool:
    return data.get("enabled") is not False


def _said(key: str, stamp: str, message: Mapping[str, Any], persona: object, parent: str | None = None) -> Said | None:
    role = message.get("role")
    text = _text(message.get("content"))
    if not isinstance(role, str) or role not in _ROLES or not text.strip():
        return None
    try:
        at = clock.parse(stamp).timestamp()
    except InvalidError:
        at = None
    return Said(key, _ROLES[role], text, at, persona, parent)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
