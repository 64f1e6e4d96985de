"""What Claude Code says on a hook's standard input, checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_hooks.wellformed import is_path, is_text

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreCompact", "SessionEnd")
"""The events that are answered."""
_TEXTS: Final = ("prompt", "source", "command_name", "command_args")


class Event(NamedTuple):
    """One event of a Claude Code session. Fields that an event does not have are empty.

    Attributes:
        name: One of ``EVENTS``.
        session_id: Claude Code's own id.
        cwd: Where the session began, as far as that is known; a directory that exists.
        prompt: What the person typed.
        source: How the session began, or where a prompt comes from.
        command_name: The command that expands.
        command_args: What follows it.
    """

    name: str
    session_id: str
    cwd: Path
    prompt: str = ""
    source: str = ""
    command_name: str = ""
    command_args: str = ""


def parse(name: str, payload: bytes, project: str = "") -> Event:
    """Return the event that ``payload`` tells of.

    Args:
        name: The event that the hook was run for.
        payload: The JSON.
        project: The directory that Claude Code was started in, where it says so. The one in ``payload`` follows every
            ``cd``, and a session must not lose its log by that.

    Raises:
        InvalidError: It is no JSON object, tells of another event, or lacks what every event has.
    """
    values = _object(payload)
    if name not in EVENTS:
        raise InvalidError(
            phrase("There is no hook of that name. Known here: {names}.", names=", ".join(EVENTS)), field="event"
        )
    told = values.get("hook_event_name")
    if told != name:
        raise InvalidError(phrase("hook_event_name: this is of another event."), field="hook_event_name")
    texts = {field: _text(values, field) for field in _TEXTS if field in values}
    return Event(name, _text(values, "session_id"), _directory(values, project), **texts)


def _object(payload: bytes) -> dict[str, Any]:
    try:
        values = json.loads(payload)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise InvalidError(phrase("Standard input is not a JSON object."), field="stdin")
    return values


def _text(values: dict[str, Any], field: str) -> str:
    value = values.get(field)
    if not isinstance(value, str):
        raise InvalidError(phrase("{field} must be a string.", field=field), field=field)
    if not is_text(value):
        raise InvalidError(phrase("{field} holds half a character (a lone surrogate).", field=field), field=field)
    return value


def _directory(values: dict[str, Any], project: str) -> Path:
    for text in (project, _text(values, "cwd")):
        if text and is_path(text):
            path = Path(text)
            try:
                if path.is_absolute() and path.is_dir():
                    return path.resolve()
            except (OSError, RuntimeError) as error:
                raise InvalidError(phrase("cwd: this directory cannot be looked at."), field="cwd") from error
    raise InvalidError(phrase("cwd: there is no such directory."), field="cwd")
