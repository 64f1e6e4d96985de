"""The companion as a plugin: events in, one call, value out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_companion.companion import Companion
from persona_hooks.specs import Block, hookimpl
from persona_hooks.speech import speaks
from persona_hooks.switches import is_set

speaks("persona_companion")

COMMANDS: Final = {
    "persona.list": "persona",
    "persona.use": "persona use",
    "persona.none": "persona none",
    "persona.show": "persona show",
    "persona.doctor": "persona doctor",
}

if TYPE_CHECKING:
    from persona_hooks.ports import Host, Session
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Registry

DISABLE: Final = "PI_PERSONA_DISABLE"


class CompanionPlugin:
    """Answers whose memory it is. With ``PI_PERSONA_DISABLE`` set it answers nothing, so that every verb refuses.

    Args:
        host: What the host lends.
    """

    def __init__(self, host: Host) -> None:
        # Whoever sets it to anything but a plain no wants it off; a misunderstanding must not open a memory.
        self._enabled = not is_set(host.environ.get(DISABLE))
        self._companion = Companion(host)
        if self._enabled:
            self._companion.ownership.answer()

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        """Register ``/persona`` and its verbs."""
        registry.late(COMMANDS, self._offer)

    def _offer(self, registry: Registry) -> None:
        from persona_companion.verbs import verbs  # noqa: PLC0415 - most commands are another plugin's

        registry.add(*verbs(self._companion))

    @hookimpl
    def session_start(self, session: Session, turn: Turn) -> None:
        """Find out who speaks, and open the memory."""
        if self._enabled:
            self._companion.start(session, turn)

    @hookimpl
    def session_shutdown(self, session: Session) -> None:
        """Close the memory."""
        self._companion.stop(session)

    @hookimpl
    def before_agent_start(self, session: Session) -> list[Block] | None:
        """Return the persona's prompt."""
        block = self._companion.block(session)
        return None if block is None else [block]
