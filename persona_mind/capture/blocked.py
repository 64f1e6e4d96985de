"""A delegated task that reports itself blocked suggests the backlog, once, and nothing is written by itself.

A report counts where a person or the model sees it: the result of a delegating tool, the message of a task that ended
later, or the result of an outer tool that relays what a nested one reported. What an outer tool keeps to itself counts
for nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import clip, one_line, sanitize
from persona_hooks.errors import PersonaError
from persona_hooks.speech import say

if TYPE_CHECKING:
    from persona_hooks.ports import Session, Ui
    from persona_mind.kernel.access import Access

TOOLS: Final = frozenset({"delegate", "council", "flow"})
COMPLETION: Final = "pi-persona"
"""The custom message in which a task that ran beside the conversation tells its end."""
SNIPPET: Final = 160
HINT: Final = (
    "A delegated task reports that it is blocked. If it should go on later, keep it with backlog add; otherwise ignore "
    "this line."
)
_MARKER: Final = re.compile(r"\[\s*BLOCKED\b[^\]\n]*\]?|\bFLAG\s*:\s*UNKNOWN\b", re.IGNORECASE)
_KEPT: Final = 256


def blocked(report: str) -> str | None:
    """Return what of a report says that it is blocked, safe for a terminal, at most 160 columns; None without one."""
    found = _MARKER.search(sanitize(report))
    return None if found is None else clip(one_line(found.group()), SNIPPET)


@dataclass(slots=True)
class _Heard:
    """What is kept of one session: whether a hint waits, and which outer calls a nested report may come out of."""

    generation: int
    waits: bool = False
    outer: dict[str, None] = field(default_factory=dict)


class Blocked:
    """The hints of one plugin instance."""

    def __init__(self, access: Access, ui: Ui) -> None:
        self._access = access
        self._ui = ui
        self._heard: dict[tuple[str, str], _Heard] = {}

    def result(self, session: Session, tool: str, call_id: str, text: str, parent: str | None) -> None:
        """Take the result of a tool; ``parent`` is the call that it is nested in."""
        heard = self._of(session)
        relays = call_id in heard.outer
        reason = blocked(text) if tool in TOOLS or relays else None
        if reason is None:
            return
        if parent is not None:
            heard.outer[parent] = None
            for old in list(heard.outer)[:-_KEPT]:
                del heard.outer[old]
        else:
            self._hint(session, reason)

    def message(self, session: Session, custom_type: str, text: str) -> None:
        """Take a custom message."""
        if custom_type == COMPLETION and (reason := blocked(text)) is not None:
            self._hint(session, reason)

    def lines(self, session: Session) -> list[str]:
        """Return what the next block should say, once."""
        heard = self._of(session)
        waits, heard.waits = heard.waits, False
        return [HINT] if waits else []

    def settled(self, session: Session) -> None:
        """Forget which calls were nested in which: their results are all in."""
        self._of(session).outer.clear()

    def forget(self, session: Session) -> None:
        """Let go of a session that begins anew or has ended."""
        self._heard.pop((session.id, session.seat), None)

    def _hint(self, session: Session, reason: str) -> None:
        if session.leg or not self._access.enabled(session) or not self._access.settings(session).nudge:
            return
        try:
            self._access.owner(session)
        except PersonaError:
            return  # without an owner there is no backlog to keep it in
        heard = self._of(session)
        if not heard.waits:
            # The report's own words are for the person alone: a worker's text must not find a way into the prompt.
            self._ui.notify(
                say("A delegated task is blocked: {reason}. `/mind backlog add` keeps it for later.", reason=reason)
            )
        heard.waits = True

    def _of(self, session: Session) -> _Heard:
        key = session.id, session.seat
        heard = self._heard.get(key)
        if heard is None or heard.generation != session.generation:
            heard = self._heard[key] = _Heard(session.generation)
        return heard
