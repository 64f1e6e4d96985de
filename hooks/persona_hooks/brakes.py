"""Brakes: while one may hold, no objective reaches the model, whoever wrote it down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from persona_hooks.errors import PersonaError
from persona_hooks.messages import BrakeQuery, BrakeReply

if TYPE_CHECKING:
    from persona_hooks.bus import BusClient, Reply
    from persona_hooks.ports import Session


def braked(bus: BusClient, session: Session, *, declared: bool) -> bool:
    """Return whether every objective must be withheld now: the brief's, facts' and notes'.

    A brake that is set withholds them. Where the brief declares brakes, so does whatever leaves that open: silence, an
    error, a malformed answer, one for another session or seat, and ``unknown``, since extraction is late or has failed.

    Args:
        bus: What asks; it answers at once and touches no file.
        session: The conversation.
        declared: Whether the owner's brief has brakes, so that somebody should know of them.
    """
    states = [_state(reply, session) for reply in bus.query(BrakeQuery(session_id=session.id, seat=session.seat))]
    if "set" in states:
        return True
    return declared and (not states or any(state != "clear" for state in states))


def _state(reply: Reply, session: Session) -> Literal["clear", "set", "unknown"]:
    try:
        answer = None if reply.error else BrakeReply.parse(reply.payload)
    except PersonaError:
        return "unknown"
    if answer is None or (answer.session_id, answer.seat) != (session.id, session.seat):
        return "unknown"
    return answer.state
