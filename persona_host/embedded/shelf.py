"""Where session logs are kept: one folder a working directory, one file a session, named by its id.

Nothing is created here; a log's file appears with its first message.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from typing import TYPE_CHECKING

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.session_logs import SUFFIX, SessionSummary, sessions
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Shelf:
    """The sessions of one working directory under one agent directory."""

    def __init__(self, agent_dir: Path, cwd: Path) -> None:
        self._cwd = cwd
        self.folder = agent_dir / "persona-host" / "sessions" / slug(cwd)

    def path(self, session_id: str) -> Path:
        """Return the file of a session, whether it exists or not.

        Raises:
            InvalidError: The id cannot be a file's name.
        """
        if not _ID.fullmatch(session_id):
            raise InvalidError(
                phrase(
                    "A session id is 1 to 64 letters, digits, dots, dashes and underscores, and begins with a "
                    "letter or digit."
                ),
                field="session",
            )
        return self.folder / f"{session_id}{SUFFIX}"

    def shared(self, persona: str | None) -> str:
        """Return the id of the session that one-shot commands without ``--session`` share."""
        words = json.dumps([os.fspath(self._cwd), persona])
        return f"shared-{hashlib.sha256(words.encode()).hexdigest()[:16]}"

    def kept(self) -> list[SessionSummary]:
        """Return the conversations that can be gone on with, the latest first."""
        return [found for found in sessions(self.folder) if found.title and found.path == self._named(found.session_id)]

    def find(self, word: str) -> SessionSummary:
        """Return the session meant by a number of the list (from 1), an id or its unambiguous beginning.

        Raises:
            NotFoundError: There is none, or more than one.
        """
        kept = self.kept()
        if word.isdecimal() and 1 <= int(word) <= len(kept):
            return kept[int(word) - 1]
        meant = [item for item in kept if item.session_id == word]
        meant = meant or [item for item in kept if item.session_id.startswith(word)]
        if len(meant) != 1:
            what = phrase("There is no session of that name here. /resume lists them.")
            if meant:
                what = phrase("There are {number} sessions of that name here. /resume lists them.", number=len(meant))
            raise NotFoundError(what, reason="unknown_session")
        return meant[0]

    def _named(self, session_id: str) -> Path:
        return self.folder / f"{session_id}{SUFFIX}"


def new_id(now: datetime) -> str:
    """Return an id for a new session: when it began, and chance."""
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def slug(cwd: Path) -> str:
    """Return a working directory's folder name: readable, and apart from that of a namesake."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", cwd.name).strip("-.")[:40] or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(cwd)).hexdigest()[:12]}"
