"""A turn: one thing that somebody said in a conversation, as recall sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from persona_mind.kernel.past import Speaker

EMBEDDED: Final = "persona-host/sessions"
"""Where the embedded host keeps its logs, below the agent directory: a folder a working directory."""
PI: Final = "sessions"
"""Where Pi keeps its own, likewise."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, or a piece of a long one.

    Attributes:
        key: Unique among all turns that are searched together.
        session: The session that it belongs to; turns of one session stand in order.
        id: The id of its entry in the session's log.
        text: What was said.
        place: Its place in the session.
        at: When, in seconds since the epoch (UTC); None when unknown.
        role: Who said it.
        speaker: A name to find it by; empty where nobody is named.
    """

    key: str
    session: str
    id: str
    text: str
    place: int = 0
    at: float | None = None
    role: Speaker = "user"
    speaker: str = ""
