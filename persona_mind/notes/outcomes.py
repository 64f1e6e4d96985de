"""What the ``notes`` verbs return. Details hold ids and counts; what was noted stands in the card only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from persona_hooks.verbs import Outcome
from persona_mind.kernel.kinds import Kind
from persona_mind.notes.shown import ShownNote

Storage = Literal["session", "memory"]
"""Where a change is kept: in the session's file, or only in memory."""


class Line(Outcome):
    """One note of a list.

    Attributes:
        excerpt: What is shown of the text; empty where nothing could be shown without changing its meaning.
        whole: The excerpt is the whole text.
    """

    shown: ShownNote
    excerpt: str
    whole: bool


class NoteSaved(Outcome):
    """A note stands on this branch.

    Attributes:
        again: It stood there before.
        storage: Where the log is kept.
        durable: A file holds it; a restart finds it there.
    """

    id: str
    kind: Kind
    again: bool
    storage: Storage
    durable: bool


class NotesListed(Outcome):
    """The notes of this branch.

    Attributes:
        count: How many are listed.
        total: How many there are.
        withheld_unsafe: How many are listed as a placeholder, because their text breaks a rule now.
    """

    count: int
    total: int
    withheld_unsafe: int
    ids: tuple[str, ...]
    lines: tuple[Line, ...] = Field(default=(), exclude=True)


class NoteOpened(Outcome):
    """One note, whole."""

    id: str
    kind: Kind
    withheld: str | None = None
    saved_at: str
    origin: str
    origin_session_id: str
    shown: ShownNote = Field(exclude=True)


class NoteGone(Outcome):
    """A note is forgotten on this branch.

    Attributes:
        again: It was forgotten before.
        transcript: The file that still holds its text; None where no file does.
    """

    id: str
    again: bool
    storage: Storage
    durable: bool
    transcript: str | None = None
