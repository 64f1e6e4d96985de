"""A note: a pure value, and the two events of the session log that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - outcomes hold notes, and pydantic reads this
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, Field

from persona_mind.kernel.approvals import RowApprovals
from persona_mind.kernel.entries import NOTE
from persona_mind.kernel.kinds import Kind
from persona_mind.kernel.rowfields import ROW, RowId, RowOrigin, RowPersona, RowSession, units

TYPE: Final = NOTE
"""The custom entry that holds one event."""
VERSION: Final = 1

MAX_ACTIVE: Final = 64
"""Notes on one branch, all personas together."""
MAX_TEXT: Final = 8_000
MAX_SOURCE: Final = 1_000
MAX_EVENTS: Final = 256
"""Events of one session, forgotten notes and other branches included."""
MAX_BYTES: Final = 512 * 1024
"""Bytes of all events of one session, as JSON in UTF-8."""


def _fits(most: int) -> AfterValidator:
    def check(text: str) -> str:
        if units(text) > most:
            raise ValueError(f"at most {most} UTF-16 units")
        return text

    return AfterValidator(check)


class Event(BaseModel):
    """What both events hold.

    Attributes:
        note_id: The note that it is about.
        origin_session_id: The session in which it happened; forks and clones keep it.
        persona: The segment of the persona whose note it is; nobody else reads or forgets it.
    """

    model_config = ROW

    version: Literal[1] = VERSION
    note_id: RowId
    origin_session_id: RowSession
    persona: RowPersona


class Save(Event):
    """A note was saved."""

    kind: Literal["save"] = "save"
    note_kind: Kind
    text: Annotated[str, Field(min_length=1), _fits(MAX_TEXT)]
    source: Annotated[str, _fits(MAX_SOURCE)] | None = None
    origin: RowOrigin
    approvals: RowApprovals | None = None


class Forget(Event):
    """A note was forgotten on this branch. What the log held before stays in it."""

    kind: Literal["forget"] = "forget"


@dataclass(frozen=True, slots=True)
class Note:
    """An active note.

    Attributes:
        id: Its handle, unique in its session.
        persona: The segment of the persona whose note it is.
        origin: Who brought the words.
        origin_session_id: The session in which it was saved.
        saved: When.
        approvals: What a person approved of it, where a stranger's words needed that.
    """

    id: str
    kind: Kind
    text: str
    source: str
    persona: str
    origin: RowOrigin
    origin_session_id: str
    saved: datetime
    approvals: RowApprovals | None = None
