"""The persona's part of the model's request: its prompt, and its objective unless a brake may hold."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_hooks.messages import BrakeQuery, BrakeReply
from persona_hooks.specs import Block

if TYPE_CHECKING:
    from persona_companion.briefs import Brief
    from persona_hooks.bus import BusClient, Reply
    from persona_hooks.ports import Session

BLOCK: Final = "persona"
ORDER: Final = 10

# The prompt may use markup of its own, but neither close our block nor open one that passes for the mind's.
_OURS: Final = re.compile(r"<(?=\s*/?\s*persona\b)", re.IGNORECASE)


def persona_block(brief: Brief, *, objective: bool) -> Block | None:
    """Return the block for ``brief``, with its objective or without; None where that leaves nothing to say."""
    parts = [brief.prompt]
    if objective and brief.objective:
        parts.append(f"Objective: {brief.objective}")
    text = _OURS.sub("&lt;", "\n\n".join(part for part in parts if part))
    if not text:
        return None
    return Block(BLOCK, f'<persona name="{escape(brief.name)}">\n{text}\n</persona>', ORDER)


def objective_allowed(bus: BusClient, session: Session, brief: Brief) -> bool:
    """Return whether the objective may be told: no brake is set, and none may be set unseen.

    Where the brief keeps a notebook, silence, an error, a malformed answer and one for another seat count as a brake.
    """
    states = [_state(reply, session) for reply in bus.query(BrakeQuery(session_id=session.id, seat=session.seat))]
    if "set" in states:
        return False
    return not brief.may_brake or (bool(states) and all(state == "clear" for state in states))


def _state(reply: Reply, session: Session) -> str:
    try:
        answer = None if reply.error else BrakeReply.parse(reply.payload)
    except PersonaError:
        return "unknown"
    if answer is None or (answer.session_id, answer.seat) != (session.id, session.seat):
        return "unknown"
    return answer.state
