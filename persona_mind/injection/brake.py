"""Brakes: while one may hold, no objective reaches the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.errors import PersonaError
from persona_hooks.messages import BrakeQuery, BrakeReply
from persona_mind.kernel.settings import has_brakes

if TYPE_CHECKING:
    from persona_hooks.bus import BusClient, Reply
    from persona_hooks.ports import Session


def braked(bus: BusClient, session: Session) -> bool:
    """Return whether every objective must be withheld now.

    Where nobody answers, none is: unless the owner's brief declares brakes, since then somebody should have.
    """
    replies = bus.query(BrakeQuery(session_id=session.id, seat=session.seat))
    if not replies:
        return has_brakes(bus, session.id)
    return any(_holds(reply, session) for reply in replies)


def _holds(reply: Reply, session: Session) -> bool:
    """Return whether one answer withholds: a brake that is set, or an answer that cannot be relied on."""
    if reply.error is not None:
        return True
    try:
        answer = BrakeReply.parse(reply.payload)
    except PersonaError:
        return True
    return answer.state != "clear" or (answer.session_id, answer.seat) != (session.id, session.seat)
