"""The hooks: when each fires, what it may return, and what an exception does.

A plugin is a class that is constructed with a ``Host`` and implements any of these methods, marked with ``hookimpl``.
It may leave out arguments that it does not need; a misspelt hook or argument is an error at start. Implementations may
be plain or ``async``; plain ones of one plugin run one after the other on a thread of its own, async ones on an event
loop of its own. Plugins are called in the order of their declared ``requires`` (a class attribute naming other entry
points), then of their names.

Each hook's policy (its time budget, how results are combined, what a failure means) stands in ``policies.POLICIES``.
Unless a docstring says otherwise: an exception is recorded, shown by ``persona doctor`` and otherwise ignored; a result
that comes after the budget is dropped, while what it committed stands and is reported at ``agent_settled``. A plugin
whose earlier call still runs is told of events later, in order, and is not asked questions meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import pluggy

if TYPE_CHECKING:
    from persona_hooks.cards import Card
    from persona_hooks.ports import Session
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import Registry

PROJECT = "persona_host"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

InputSource = Literal["interactive", "rpc", "extension"]


@dataclass(frozen=True, slots=True)
class Continue:
    """The text goes on unchanged; the same as returning None."""


class Transform(NamedTuple):
    """The text goes on as ``text``; later plugins see the new one."""

    text: str


class Handled(NamedTuple):
    """The text was answered here: no model is called, no later plugin sees it."""

    card: Card


InputResult = Continue | Transform | Handled


class Block(NamedTuple):
    """Text for the model's request. It is never written to the session log.

    Attributes:
        name: Names the block in ``doctor`` and in tests.
        text: What the model reads, already escaped and fenced.
        order: Blocks are joined by rising order; what changes least comes first, for the prompt cache.
    """

    name: str
    text: str
    order: int = 50


class ToolVerdict(NamedTuple):
    """A veto on a tool call, with the sentence that the model reads."""

    reason: str


class Usage(NamedTuple):
    """What one assistant message cost, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_tokens: int = 0


class Room(NamedTuple):
    """Who is present, and how private the conversation is.

    Attributes:
        present: Person ids, ``u:<digits>``.
        private: True for a conversation with one person.
        incognito: Nothing is read and nothing is written.
        kit: A game or a role-play is mounted.
        situation: What is going on, in the host's words.
        topic: What it is about.
    """

    present: tuple[str, ...] = ()
    private: bool = True
    incognito: bool = False
    kit: bool = False
    situation: str = ""
    topic: str = ""


Renderer = Callable[["Session", Mapping[str, Any]], "Card"]


class Renderers(Protocol):
    """Where plugins leave the renderers of their own entries."""

    def add(self, custom_type: str, render: Renderer) -> None:
        """Render entries of ``custom_type`` with ``render``, live, from the ids that the entry holds."""


class HookSpecs:
    """Every hook of the contract."""

    @hookspec
    def register_verbs(self, registry: Registry) -> None:
        """Register this plugin's verbs. Fires once, before any session.

        A malformed or doubled verb is an error at start: the plugin is left out and named.
        """

    @hookspec
    def register_renderers(self, renderers: Renderers) -> None:
        """Register renderers for this plugin's custom entries. Fires once, before any session."""

    @hookspec
    def session_start(self, session: Session, turn: Turn) -> None:
        """A session's runtime begins: at start-up, on reload, new, resume and fork.

        No answer may be awaited here from a plugin that comes later in the order: it has not started yet.
        """

    @hookspec
    def session_shutdown(self, session: Session, turn: Turn) -> None:
        """The session's runtime ends. Cancel timers and raise generations here; afterwards ``session`` is stale."""

    @hookspec
    def session_tree(self, session: Session, turn: Turn) -> None:
        """The active branch changed inside one session; the runtime is the same."""

    @hookspec
    def session_compact(self, session: Session, turn: Turn) -> None:
        """The host summarised the older part of the conversation."""

    @hookspec
    def room_changed(self, session: Session, room: Room, turn: Turn) -> None:
        """Somebody came or went, or the room's privacy changed. Fires before the next ``input`` is handled."""

    @hookspec
    def room_quiet(self, session: Session, turn: Turn) -> None:
        """Nobody has spoken for a while. Fires once a quiet spell."""

    @hookspec
    def room_archived(self, session: Session, turn: Turn) -> None:
        """The room was closed for good."""

    @hookspec
    def input(self, session: Session, text: str, source: InputSource, turn: Turn) -> InputResult | None:
        """A person sent ``text``; commands are answered before and never come here.

        Return None or ``Continue()`` to let it pass, ``Transform(text)`` to change it for those that follow, or
        ``Handled(card)`` to answer it without a model: the first plugin that does so wins. ``source`` is ``extension``
        where another program spoke in the person's place; that is not the person's own word.
        """

    @hookspec
    def message_start(self, session: Session, custom_type: str, text: str, turn: Turn) -> None:
        """A custom message enters the conversation: a replayed input, a worker's report, a peer's note."""

    @hookspec
    def before_turn(self, session: Session, text: str, turn: Turn) -> None:
        """A reply is about to be prepared. The only hook that may call a model; its budget is in seconds."""

    @hookspec
    def before_agent_start(self, session: Session, prompt: str, turn: Turn) -> list[Block] | None:
        """The model's request is being built. Return blocks for it; they are not logged.

        On failure or lateness the turn goes on without this plugin's blocks.
        """

    @hookspec
    def agent_start(self, session: Session, turn: Turn) -> None:
        """A run of the model begins."""

    @hookspec
    def agent_end(self, session: Session, turn: Turn) -> None:
        """A run of the model ended; retries or queued input may follow."""

    @hookspec
    def agent_settled(self, session: Session, aborted: bool, turn: Turn) -> None:  # noqa: FBT001 - a hook's payload
        """Nothing more will happen until a person speaks: the only sign of idleness."""

    @hookspec
    def message_end(self, session: Session, role: str, usage: Usage, turn: Turn) -> None:
        """A message is complete; for the assistant's, ``usage`` says what it cost."""

    @hookspec
    def model_select(self, session: Session, model: str, turn: Turn) -> None:
        """The session's model changed."""

    @hookspec
    def tool_call(  # noqa: PLR0917 - pluggy passes by name
        self,
        session: Session,
        tool: str,
        call_id: str,
        arguments: Mapping[str, Any],
        parent_tool_call_id: str | None,
        turn: Turn,
    ) -> ToolVerdict | None:
        """A tool is about to run. Return a ``ToolVerdict`` to stop it: the first wins. An exception stops it too."""

    @hookspec
    def tool_result(  # noqa: PLR0917 - pluggy passes by name
        self,
        session: Session,
        tool: str,
        call_id: str,
        text: str,
        is_error: bool,  # noqa: FBT001 - a hook's payload
        parent_tool_call_id: str | None,
        turn: Turn,
    ) -> str | None:
        """A tool has run. Return a text to replace the model's view of it; each plugin sees the one before it."""
