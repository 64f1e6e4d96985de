"""What Claude Code says on a hook's standard input, checked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_hooks.wellformed import is_path, is_text

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreCompact", "SessionEnd")
"""The events that are answered."""
MAX_SESSION: Final = 57
"""Characters of a session's id at most; with what is put before it, it names a file."""
_SESSION: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_SESSION}}}")
_TEXTS: Final = ("prompt", "source", "command_name", "command_args")


class Event(NamedTuple):
    """One event of a Claude Code session. Fields that an event does not have are empty.

    Attributes:
        name: One of ``EVENTS``.
        session_id: Claude Code's own id.
        cwd: Where the session began, as far as that is known.
        prompt: What the person typed.
        source: How the session began, or where a prompt comes from.
        command_name: The command that expands.
        command_args: What follows it.
        settled: ``cwd`` is where Claude Code says that it was started, which no ``cd`` changes.
        interrupted: A server took the event and did not answer; a command is not done twice.
    """

    name: str
    session_id: str
    cwd: Path
    prompt: str = ""
    source: str = ""
    command_name: str = ""
    command_args: str = ""
    settled: bool = False
    interrupted: bool = False


def parse(name: str, payload: bytes, project: str = "") -> Event:
    """Return the event that ``payload`` tells of.

    Args:
        name: The event that the hook was run for.
        payload: The JSON.
        project: The directory that Claude Code was started in, where it says so. The one in ``payload`` follows every
            ``cd``, and a session must not lose its log by that, nor by that directory going away.

    Raises:
        InvalidError: It is no JSON object, tells of another event, or lacks what the event has.
    """
    values = _object(payload)
    if name not in EVENTS:
        raise InvalidError(
            phrase("There is no hook of that name. Known here: {names}.", names=", ".join(EVENTS)), field="event"
        )
    told = values.get("hook_event_name")
    if told != name:
        raise InvalidError(phrase("hook_event_name: this is of another event."), field="hook_event_name")
    needed = ("prompt",) if name == "UserPromptSubmit" else ()
    texts: dict[str, Any] = {
        field: _text(values, field) for field in _TEXTS if field in needed or values.get(field) is not None
    }
    cwd, settled = _directory(values, project)
    return Event(name, _session(values), cwd, settled=settled, **texts)


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


def _session(values: dict[str, Any]) -> str:
    session_id = _text(values, "session_id")
    if not _SESSION.fullmatch(session_id):
        raise InvalidError(
            phrase(
                "session_id must be 1 to {number} letters, digits, dots, dashes and underscores.", number=MAX_SESSION
            ),
            field="session_id",
        )
    return session_id


def _directory(values: dict[str, Any], project: str) -> tuple[Path, bool]:
    """Return where the session began, and whether Claude Code says so or is only there now."""
    here = _text(values, "cwd")
    try:
        if project and is_path(project) and Path(project).is_absolute():
            return Path(project).resolve(), True
        if is_path(here) and Path(here).is_absolute() and Path(here).is_dir():
            return Path(here).resolve(), False
    except (OSError, RuntimeError) as error:
        raise InvalidError(phrase("cwd: this directory cannot be looked at."), field="cwd") from error
    raise InvalidError(phrase("cwd: there is no such directory."), field="cwd")
