"""An embedded host in this process: a screen that remembers, and two plugins small enough to see through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from persona_hooks.cards import Card
from persona_hooks.errors import RefusedError
from persona_hooks.messages import (
    COMPANION,
    MEMORY_OWNER,
    SETTINGS_COLLECT,
    CompanionReply,
    OwnerReply,
    Setting,
    SettingsReply,
)
from persona_hooks.specs import Block, Handled, ToolVerdict, Transform, hookimpl
from persona_hooks.verbs import EVERYONE, Call, Outcome, Params, Place, Verb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from persona_hooks.messages import CompanionQuery, OwnerQuery
    from persona_hooks.ports import Entry, Host, Session
    from persona_hooks.specs import Renderers, Room, Usage
    from persona_hooks.verbs import Registry
    from persona_host.embedded.screen import Event
    from persona_host.loading import Found


@dataclass
class RecordingScreen:
    """Keeps what it is shown; it is a ui port, too."""

    events: list[Event] = field(default_factory=list)
    streamed: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    waits: int = 0
    on_delta: Callable[[str], None] = lambda _: None

    def waiting(self) -> None:
        self.waits += 1

    def delta(self, text: str) -> None:
        self.streamed.append(text)
        self.on_delta(text)

    def show(self, event: Event) -> None:
        self.events.append(event)

    def notify(self, text: str, level: str = "info") -> None:
        del level
        self.notices.append(text)

    def status(self, key: str, text: str | None) -> None:
        del key, text

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]


class KeepParams(Params):
    """Keep a text."""

    text: Annotated[str, Field(max_length=100, description="What to keep."), Place.REST]


class Kept(Outcome):
    """How many there are."""

    count: int


@dataclass
class Spy:
    """A companion and a notebook in one plugin. It writes down which hooks fire, in order.

    Attributes:
        settings: What it reports over the settings channel.
        fired: Each hook as ``name`` or ``name:argument``.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    fired: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    rooms: list[Room] = field(default_factory=list)
    usage: list[tuple[str, int]] = field(default_factory=list)
    persona: str | None = None

    def plugins(self) -> Found:
        return [("spy", lambda: self._built)]

    def _built(self, host: Host) -> _SpyPlugin:
        def companion(request: CompanionQuery) -> CompanionReply:
            return CompanionReply(provider="spy", contract=1, release="1", session_id=request.session_id)

        def owner(request: OwnerQuery) -> OwnerReply:
            return OwnerReply(
                provider="spy", session_id=request.session_id, seat=request.seat, ready=True, persona=self.persona
            )

        def settings(_: object) -> SettingsReply:
            items = tuple(Setting(key=key, value=value, source="test") for key, value in self.settings.items())
            return SettingsReply(provider="spy", settings=items)

        host.bus.provide(COMPANION, companion)
        host.bus.provide(MEMORY_OWNER, owner)
        host.bus.provide(SETTINGS_COLLECT, settings)
        return _SpyPlugin(self)

    def keep(self, call: Call, params: KeepParams) -> Kept:
        if params.text == "refuse":
            raise RefusedError("It may not be kept.", reason="rule")
        self.kept.append(f"{call.origin}:{params.text}")
        call.session.journal.append(call.session.guard(), "spy-card", {"ids": [str(len(self.kept))]})
        return Kept(changed="yes", count=len(self.kept))


class _SpyPlugin:
    def __init__(self, spy: Spy) -> None:
        self._spy = spy
        self._fired = spy.fired.append

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        registry.add(
            Verb(
                "spy.keep",
                KeepParams,
                "write",
                self._spy.keep,
                lambda outcome: Card(f"Kept number {outcome.count}."),
                EVERYONE,
                "spy keep",
            )
        )

    @hookimpl
    def register_renderers(self, renderers: Renderers) -> None:
        renderers.add("spy-card", lambda _, data: Card(f"Card for {', '.join(data['ids'])}."))

    @hookimpl
    def session_start(self, session: Session) -> None:
        self._fired(f"session_start:{session.reason}")
        self._spy.persona = session.persona or self._spy.persona

    @hookimpl
    def session_shutdown(self) -> None:
        self._fired("session_shutdown")

    @hookimpl
    def session_tree(self) -> None:
        self._fired("session_tree")

    @hookimpl
    def room_changed(self, room: Room) -> None:
        self._fired("room_changed")
        self._spy.rooms.append(room)

    @hookimpl
    def input(self, session: Session, text: str) -> Handled | Transform | None:
        self._fired("input")
        if text == "handle me":
            return Handled(Card("Handled."))
        if text == "change me":
            return Transform("changed")
        if text == "card me":
            session.journal.append(session.guard(), "spy-card", {"ids": ["input"]})
        return None

    @hookimpl
    def before_turn(self) -> None:
        self._fired("before_turn")

    @hookimpl
    def before_agent_start(self, prompt: str) -> list[Block]:
        self._fired("before_agent_start")
        return [Block("late", f"about {prompt}", 60), Block("first", "SPY BLOCK", 10)]

    @hookimpl
    def agent_start(self) -> None:
        self._fired("agent_start")

    @hookimpl
    def agent_end(self) -> None:
        self._fired("agent_end")

    @hookimpl
    def agent_settled(self, aborted: bool) -> None:  # noqa: FBT001 - the hook's own
        self._fired(f"agent_settled:{aborted}")

    @hookimpl
    def message_end(self, role: str, usage: Usage) -> None:
        self._fired(f"message_end:{role}")
        self._spy.usage.append((role, usage.output_tokens))

    @hookimpl
    def model_select(self, model: str) -> None:
        self._fired(f"model_select:{model}")

    @hookimpl
    def tool_call(self, tool: str, arguments: Mapping[str, Any]) -> ToolVerdict | None:
        self._fired(f"tool_call:{tool}")
        return ToolVerdict("Not this.") if arguments.get("text") == "veto" else None

    @hookimpl
    def tool_result(self, text: str) -> str:
        self._fired("tool_result")
        return f"{text} (seen)"


def messages(entries: list[Entry]) -> list[tuple[str, str]]:
    """Return role and text of each message among entries."""
    return [(entry.data["role"], entry.data["content"]) for entry in entries if entry.type == "message"]
