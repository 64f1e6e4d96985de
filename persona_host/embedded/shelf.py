"""Where session logs are kept: one folder a working directory, one file a session, named by its id.

Nothing is created here; a log's file appears with its first message.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HEAD_BYTES = 65_536
"""How much of a log is read to list it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One session on the shelf.

    Attributes:
        first: What the person said first, or what of it stands in the log's beginning.
        changed: When the log was last written to, in seconds since the epoch.
    """

    id: str
    path: Path
    first: str
    changed: float


class Shelf:
    """The sessions of one working directory under one agent directory."""

    def __init__(self, agent_dir: Path, cwd: Path) -> None:
        self._cwd = cwd
        self.folder = agent_dir / "persona-host" / "sessions" / slug(cwd)

    def path(self, session_id: str) -> Path:
        """Return the file of a session, whether it exists or not."""
        return self.folder / f"{checked(session_id)}.jsonl"

    def shared(self, persona: str | None) -> str:
        """Return the id of the session that one-shot commands without ``--session`` share."""
        words = json.dumps([os.fspath(self._cwd), persona])
        return f"shared-{hashlib.sha256(words.encode()).hexdigest()[:16]}"

    def kept(self) -> list[Kept]:
        """Return the sessions, the latest first. Files that are no session logs are left out."""
        try:
            names = [entry for entry in os.scandir(self.folder) if entry.name.endswith(".jsonl")]
        except FileNotFoundError:
            return []
        found = [self._read(entry) for entry in names if entry.is_file(follow_symlinks=False)]
        return sorted((kept for kept in found if kept), key=lambda kept: (-kept.changed, kept.id))

    def find(self, word: str) -> Kept:
        """Return the session meant by a number of the list (from 1), an id or its unambiguous beginning.

        Raises:
            NotFoundError: There is none, or more than one.
        """
        sessions = self.kept()
        if word.isdecimal() and 1 <= int(word) <= len(sessions):
            return sessions[int(word) - 1]
        meant = [kept for kept in sessions if kept.id == word] or [
            kept for kept in sessions if kept.id.startswith(word)
        ]
        if len(meant) != 1:
            how = "no session" if not meant else f"{len(meant)} sessions"
            raise NotFoundError(f"There is {how} of that name here. /resume lists them.", reason="unknown_session")
        return meant[0]

    def _read(self, entry: os.DirEntry[str]) -> Kept | None:
        path = Path(entry.path)
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        rows = list(_rows(head))
        if not rows or rows[0].get("type") != "session":
            return None
        first = next((text for row in rows if (text := _said(row))), "")
        return Kept(entry.name.removesuffix(".jsonl"), path, first, entry.stat().st_mtime)


def new_id(now: datetime) -> str:
    """Return an id for a new session: when it began, and chance."""
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def checked(session_id: str) -> str:
    """Return a session's id if it can be a file's name.

    Raises:
        InvalidError: It cannot.
    """
    if not ID.fullmatch(session_id):
        raise InvalidError(
            "A session id is 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit.",
            field="session",
        )
    return session_id


def slug(cwd: Path) -> str:
    """Return a working directory's folder name: readable, and apart from that of a namesake."""
    text = os.fspath(cwd)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", cwd.name).strip("-.")[:40] or "root"
    return f"{name}-{hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()[:12]}"


def _rows(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:  # a line cut off at the end of what was read, or torn by a crash
            continue
        if isinstance(row, dict):
            yield row


def _said(row: dict[str, Any]) -> str:
    data = row.get("data")
    if row.get("type") != "message" or not isinstance(data, dict) or data.get("role") != "user":
        return ""
    text = data.get("content")
    return text if isinstance(text, str) else ""
