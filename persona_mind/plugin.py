"""The mind as a plugin: it wires, and nothing else. An event comes in, one call is made, a value goes out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from persona_hooks.errors import PersonaError
from persona_hooks.messages import (
    MEMORY_OWNER_CHANGED,
    SETTINGS_COLLECT,
    Message,
    OwnerChanged,
    SettingsQuery,
    SettingsReply,
)
from persona_hooks.specs import hookimpl
from persona_hooks.speech import speaks
from persona_mind.kernel.entries import CARD, WAKE
from persona_mind.offered import offer
from persona_mind.services import Services
from persona_mind.settling import Settling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.cards import Card
    from persona_hooks.ports import Host, Session
    from persona_hooks.specs import Block, InputSource, Renderers, Room
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Registry

speaks("persona_mind")


class MindPlugin:
    """One plugin instance. Building it touches no disk and reads no clock."""

    requires: ClassVar[tuple[str, ...]] = ("persona_companion",)

    def __init__(self, host: Host) -> None:
        self._host = host
        self.services = Services(host)
        self._settling = Settling(self.services)
        self._open: Session | None = None
        host.bus.provide(SETTINGS_COLLECT, self._settings)
        host.bus.on(MEMORY_OWNER_CHANGED, self._owned)

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        """Offer the verbs and say when a model should use them."""
        offer(self.services, registry)

    @hookimpl
    def register_renderers(self, renderers: Renderers) -> None:
        """Render our entries live, from the ids they hold."""
        renderers.add(CARD, self._card)
        renderers.add(WAKE, self._reminder)

    @hookimpl
    def session_start(self, session: Session) -> None:
        """Begin afresh: nothing of the session before leaks into this one."""
        services, capabilities = self.services, self._host.capabilities
        services.begin(session)
        self._open = session
        services.moving.start(session)
        # Without timers nothing is shown before a turn begins, and most one-shot commands begin none.
        if capabilities.scheduler:
            services.reminders.start(session)
        if capabilities.ui and capabilities.scheduler and not session.leg:
            services.capture.warm()
        services.count(session)

    @hookimpl
    def session_shutdown(self, session: Session) -> None:
        """Let go of the session."""
        services = self.services
        self._open = None
        services.moving.stop()
        if services.made("reminders"):
            services.reminders.stop()
        if services.made("recorder"):
            with suppress(PersonaError):  # a session must end; what is lost is the record of its last turn
                services.recorder.close(session)
        services.end()
        services.forget(session)

    @hookimpl
    def room_changed(self, session: Session, room: Room) -> None:
        """Read and write nothing in an incognito room."""
        self.services.access.room(session, room)

    @hookimpl
    def input(self, session: Session, text: str, source: InputSource, turn: Turn) -> None:
        """Capture what a person asks to be remembered."""
        self.services.capture.input(session, text, source, turn)

    @hookimpl
    def message_start(self, session: Session, custom_type: str, text: str, turn: Turn) -> None:
        """Capture from a person's own input that is replayed."""
        self.services.capture.message(session, custom_type, text, turn)
        self.services.blocked.message(session, custom_type, text)

    @hookimpl
    def tool_result(
        self, session: Session, tool: str, call_id: str, text: str, parent_tool_call_id: str | None
    ) -> None:
        """Suggest the backlog where a delegated task reports itself blocked."""
        self.services.blocked.result(session, tool, call_id, text, parent_tool_call_id)

    @hookimpl
    def before_agent_start(self, session: Session, prompt: str, turn: Turn) -> list[Block]:
        """Give the model what is remembered."""
        services = self.services
        services.moving.turn(session)
        notes = [*services.capture.lines(session, prompt), *services.blocked.lines(session)]
        return services.injection.blocks(session, prompt, notes, turn)

    @hookimpl
    def agent_start(self, session: Session) -> None:
        """Show what is due where no timer could."""
        self.services.reminders.turn(session)

    @hookimpl
    def agent_settled(self, session: Session, turn: Turn) -> None:
        """Do what can wait, now that nobody does."""
        self._settling.settled(session, turn)

    def _owned(self, message: Message) -> None:
        # Another persona's memory is counted from now on.
        session = self._open
        if session is not None and isinstance(message, OwnerChanged) and message.session_id == session.id:
            self.services.count(session)

    def _settings(self, request: Message) -> SettingsReply | None:
        if not isinstance(request, SettingsQuery):
            return None
        # Only what a session has taken is told; asking here would ask ourselves.
        known = self.services.access.effective(request.session_id)
        return None if known is None else SettingsReply(provider=self._host.bus.name, settings=known.effective())

    def _card(self, session: Session, data: Mapping[str, object]) -> Card:
        from persona_mind.capture.card import captured  # noqa: PLC0415 - a card is rendered in conversations only

        services = self.services
        return captured(services.access, services.facts, session, data, services.first_run)

    def _reminder(self, session: Session, data: Mapping[str, object]) -> Card:
        from persona_mind.backlog.card import reminder  # noqa: PLC0415 - as above

        return reminder(self.services.access, self.services.backlog, session, data)
