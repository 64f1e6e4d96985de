"""The session logs of one folder, for a person who wants to go on with one."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_hooks.cards import one_line
from persona_hooks.errors import CorruptError
from persona_hooks.logformat import UnreadableError, parse_entry, parse_header

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX = ".jsonl"
_PEEK = 64 * 1024
_WORDS = 80


class SessionSummary(NamedTuple):
    """One log of a folder.

    Attributes:
        path: The file.
        session_id: The session's id; empty where the file cannot be read.
        started: When it began; RFC 3339, UTC.
        changed: When it was last written to.
        cwd: Where the person worked.
        title: The first words of the first message of the person.
        problem: Why it cannot be read, in one line; empty where it can.
    """

    path: Path
    session_id: str
    started: str
    changed: datetime
    cwd: str = ""
    title: str = ""
    problem: str = ""


def sessions(folder: Path) -> list[SessionSummary]:
    """Return the logs in ``folder``, those that were written to last first; none where there is no such folder.

    At most the first 64 KiB of each are read. One that cannot be read is listed with its problem.
    """
    found: list[SessionSummary] = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        logs = [item for item in entries if item.name.endswith(SUFFIX) and item.is_file(follow_symlinks=False)]
        found = [_summary(Path(item.path), item.stat(follow_symlinks=False).st_mtime) for item in logs]
    return sorted(found, key=lambda item: (item.changed, item.path.name), reverse=True)


def _summary(path: Path, modified: float) -> SessionSummary:
    changed = datetime.fromtimestamp(modified, UTC)
    try:
        with path.open("rb") as file:
            first, *rest = file.read(_PEEK).split(b"\n")
        header = parse_header(first, path.name)
    except OSError as error:
        return SessionSummary(path, "", "", changed, problem=os.strerror(error.errno or 0))
    except CorruptError as error:
        return SessionSummary(path, "", "", changed, problem=error.message)
    return SessionSummary(path, header.session_id, header.timestamp, changed, header.cwd, _title(rest))


def _title(lines: Iterable[bytes]) -> str:
    for line in lines:
        with suppress(UnreadableError):
            entry = parse_entry(line)
            if entry.type == "message" and entry.data.get("role") == "user":
                return one_line(_text(entry.data.get("content")))[:_WORDS]
    return ""


def _text(content: Any) -> str:  # noqa: ANN401 - JSON
    """Return a message's text: it is one, or a list of parts of which some hold one."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") or part.get("content") for part in parts if isinstance(part, dict)]
    return " ".join(text for text in texts if isinstance(text, str))
