"""The owner: the live answer to "whose memory is this?".

It is asked for at every call and never remembered in its place. Exactly one companion of a known contract must be
loaded, and exactly one provider must answer for this session and seat, and be ready. Everything else refuses, with a
reason and before any file is touched: a missing companion, two of them, one that is late, one that raises, one of
another version, one that answers for another session.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from persona_hooks.errors import PersonaError, RefusedError
from persona_hooks.messages import CompanionQuery, CompanionReply, Message, OwnerQuery, OwnerReply
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from persona_hooks.bus import BusClient, Reply

SPEAKER: Final = "persona-speaker"
"""The type of a session log's custom entry ``{"persona": name or null}``: whose conversation it is from there on.

It stands in logs whose messages cannot say it themselves, and counts for what comes after it on its branch. Without
``persona`` it is not known whose, and nobody is shown it. ``doubted`` lists messages above it that the entry came too
late for, by their ids: these are not the persona's who was named before."""

M = TypeVar("M", bound=Message)


class Owner(NamedTuple):
    """Whose memory it is.

    Attributes:
        provider: The companion that said so.
        session_id: The session it is true for.
        seat: The persona's place in that session.
        persona: The persona's name; None where none is selected, which is an owner of its own.
        leg: True in a delegated worker session.
    """

    provider: str
    session_id: str
    seat: str
    persona: str | None
    leg: bool = False


def live_owner(bus: BusClient, session_id: str, seat: str, *, before_ready: bool = False) -> Owner:
    """Return the owner of ``seat`` in a session, as it is now.

    Args:
        bus: Any plugin's handle.
        session_id: The session.
        seat: The place in it.
        before_ready: Accept an owner that is not ready, for verbs that touch no memory. Every other rule stands.

    Raises:
        RefusedError: There is none to rely on; ``reason`` is ``no_companion``, ``ambiguous_companion``,
            ``incompatible_companion``, ``companion_failed``, ``no_owner``, ``ambiguous_owner``, ``foreign_owner`` or
            ``owner_not_ready``.
    """
    who, whose = _questions(session_id, seat)
    plugin, companion = _one_companion(bus.query(who))
    if companion.session_id != session_id:
        raise RefusedError(phrase("The companion answers for another session."), reason="foreign_owner")
    reply = _one_owner(bus.query(whose), plugin, companion)
    if (reply.session_id, reply.seat) != (session_id, seat):
        raise RefusedError(phrase("The memory owner answers for another session."), reason="foreign_owner")
    if not (reply.ready or before_ready):
        why = reply.reason or phrase("The companion has not finished starting. Try again in a moment.")
        raise RefusedError(why, reason="owner_not_ready")
    return Owner(reply.provider, reply.session_id, reply.seat, reply.persona, reply.leg)


@lru_cache(maxsize=64)
def _questions(session_id: str, seat: str) -> tuple[CompanionQuery, OwnerQuery]:
    """Return what is asked. A change asks several times; the questions stay the same, the answers are never kept."""
    return CompanionQuery(session_id=session_id), OwnerQuery(session_id=session_id, seat=seat)


def _one_companion(replies: list[Reply]) -> tuple[str, CompanionReply]:
    if not replies:
        raise RefusedError(
            phrase(
                "Memory is off: no companion is loaded (persona_companion is missing or PI_PERSONA_DISABLE=1 is set)."
            ),
            reason="no_companion",
        )
    if len(replies) > 1:
        names = ", ".join(sorted(reply.plugin for reply in replies))
        raise RefusedError(
            phrase("Memory is off: more than one companion answers ({names}). Remove all but one.", names=names),
            reason="ambiguous_companion",
        )
    return replies[0].plugin, _parsed(replies[0], CompanionReply)


def _one_owner(replies: list[Reply], plugin: str, companion: CompanionReply) -> OwnerReply:
    if not replies:
        raise RefusedError(phrase("Memory is off: the companion names no owner for this session."), reason="no_owner")
    if len(replies) > 1:
        raise RefusedError(phrase("Memory is off: more than one plugin claims this session."), reason="ambiguous_owner")
    reply = _parsed(replies[0], OwnerReply)
    # What a reply says of itself any plugin can say; who registered it is known to the bus alone.
    if replies[0].plugin != plugin or reply.provider != companion.provider:
        raise RefusedError(phrase("Memory is off: the owner is not named by the companion."), reason="foreign_owner")
    return reply


def _parsed(reply: Reply, kind: type[M]) -> M:
    if reply.error is not None:
        raise RefusedError(
            phrase(
                "Memory is off: {plugin} failed when asked for the owner. See `persona doctor`.", plugin=reply.plugin
            ),
            reason="companion_failed",
        )
    try:
        return kind.parse(reply.payload)
    except PersonaError as error:
        raise RefusedError(
            phrase(
                "Memory is off: {plugin} speaks another contract ({error}).", plugin=reply.plugin, error=error.message
            ),
            reason="incompatible_companion",
        ) from None
