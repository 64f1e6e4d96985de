"""The ports: what a host lends to plugins, each with a capability flag that ``doctor`` shows.

What a host lacks degrades visibly: a port whose flag is off answers with the documented default and never raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from persona_hooks.errors import InvalidError
from persona_hooks.messages import MAIN_SEAT
from persona_hooks.speech import phrase
from persona_hooks.wellformed import MAX_ID, checked_path, is_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from persona_hooks.bus import BusClient
    from persona_hooks.cards import Level
    from persona_hooks.verbs import Answer, Audience, Origin

SessionReason = Literal["startup", "reload", "new", "resume", "fork"]


class Capabilities(NamedTuple):
    """What a host can do. ``doctor`` prints every flag that is off, with what it costs.

    Attributes:
        journal: Plugins can append entries to the session log.
        branches: The log has branches; notes can live on one.
        ui: A person can be shown cards and notices.
        models: The host can complete a prompt with the session's exact model.
        tools: The model can call our verbs.
        injection: Blocks reach the model's request.
        scheduler: Timers run while the host is idle.
        input: What a person says reaches us before the model does.
        commands: A person can type our commands where they talk.
    """

    journal: bool = True
    branches: bool = True
    ui: bool = True
    models: bool = True
    tools: bool = True
    injection: bool = True
    scheduler: bool = True
    input: bool = True
    commands: bool = True


class Guard(NamedTuple):
    """What an append may rely on; the host compares it again in the tick in which it appends.

    Attributes:
        session_id: The session the writer validated against.
        generation: Its runtime's generation.
        leaf: The branch's end that the writer saw, empty for an empty branch; None where any will do.
    """

    session_id: str
    generation: int
    leaf: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a session log, as every host shows it.

    Attributes:
        id: Unique in its log; kept by forks and clones.
        parent_id: The entry before it on its branch; None at the root.
        timestamp: RFC 3339, UTC.
        type: ``message``, ``custom`` or a type of the host's own.
        custom_type: Set where ``type`` is ``custom``.
        data: The payload as JSON values.
    """

    id: str
    parent_id: str | None
    timestamp: str
    type: str
    custom_type: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


class Appended(NamedTuple):
    """What became of an append.

    Attributes:
        id: The new entry.
        parent_id: Where it was attached.
        durable: True only when a file holds it.
    """

    id: str
    parent_id: str | None
    durable: bool


class Journal(Protocol):
    """The session log: append-only and branchable.

    Attributes:
        generation: The generation of the session's runtime. The host raises it when it replaces the runtime; from then
            on appends with an older guard are refused. Plugins leave it alone.
    """

    generation: int

    @property
    def leaf(self) -> str | None:
        """The active branch's last entry, or None in an empty log."""

    @property
    def path(self) -> Path | None:
        """The file that holds the log, or will; None for a log in memory."""

    def branch(self, custom_type: str | None = None) -> list[Entry]:
        """Return the active branch from the root, or its custom entries of one type."""

    def entries(self) -> list[Entry]:
        """Return every entry of every branch, in the order of writing."""

    def append(self, guard: Guard, custom_type: str, data: Mapping[str, Any]) -> Appended:
        """Append a custom entry, or refuse.

        Raises:
            ConflictError: Session, generation or (when asked for) leaf are no longer the guard's.
        """


class Ui(Protocol):
    """What can be shown to a person. Headless hosts drop or print it; they never block."""

    def notify(self, text: str, level: Level = "info") -> None:
        """Show one short line now."""

    def status(self, key: str, text: str | None) -> None:
        """Set or clear a plugin's place in the status line."""


class Handle(Protocol):
    """A timer that can be cancelled."""

    def cancel(self) -> None:
        """Cancel it; a timer that has fired is left alone."""


class Scheduler(Protocol):
    """The clock. Tests and the simulator inject their own."""

    def now(self) -> datetime:
        """Return the wall clock's time, aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds on a clock that never jumps."""

    def call_later(self, seconds: float, action: Callable[[], None]) -> Handle:
        """Run ``action`` once after ``seconds``, on a thread of the host's."""


class Completion(NamedTuple):
    """One request to a model: no tools, a deadline.

    Attributes:
        role: ``session`` for the session's exact model, else a model role of the settings.
        max_tokens: An upper bound on the reply.
        deadline_seconds: After it the request is cancelled.
    """

    system: str
    prompt: str
    role: str = "session"
    max_tokens: int = 2048
    deadline_seconds: float = 60.0


class Completed(NamedTuple):
    """What a model answered."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0


class Models(Protocol):
    """Completion with the session's exact model, or with a role."""

    def complete(self, request: Completion) -> Completed:
        """Return the reply.

        Raises:
            RefusedError: No model is configured, or the host has none to lend.
            BusyError: The deadline passed.
            StorageError: The provider could not be reached or failed.
        """


class Verbs(Protocol):
    """The verbs of all plugins, performed with a live owner."""

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        session: Session,
        origin: Origin,
        audience: Audience,
        lax: bool = False,
    ) -> Answer:
        """Validate, ask for the owner, perform; a refusal is an answer."""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, as the host runs it now.

    Attributes:
        id: The host's own session id.
        generation: Rises with every replacement of the session's runtime.
        cwd: Where the person works; the project is found from here.
        journal: The session log.
        reason: Why it started.
        seat: The place this plugin call is about; most sessions have one.
        leg: A delegated worker session: frozen persona, lean memory, no tools.
        trusted: The person trusts the project, so its personas may be used.
        persona: A persona asked for on the command line, for this session only.
        incognito: Nothing of memory is read and nothing is written, from the session's first moment on.
        role: Which of the persona's layers are seen; empty for the persona's own default.
        shared: Commands that are given one after another in a shell share it without having opened it themselves.
    """

    id: str
    generation: int
    cwd: Path
    journal: Journal
    reason: SessionReason = "startup"
    seat: str = MAIN_SEAT
    leg: bool = False
    trusted: bool = False
    persona: str | None = None
    incognito: bool = False
    role: str = ""
    shared: bool = False

    def __post_init__(self) -> None:
        """Refuse what no session can have.

        Raises:
            InvalidError: The working directory or the id cannot be one.
        """
        checked_path(self.cwd, "cwd")
        if not is_id(self.id):
            raise InvalidError(
                phrase("sessionId: an id has 1 to {limit} characters, and none of them is hidden.", limit=MAX_ID),
                field="sessionId",
            )

    def guard(self, *, leaf: bool = False) -> Guard:
        """Return what an append made now may rely on; with ``leaf``, the branch's end as well."""
        return Guard(self.id, self.generation, (self.journal.leaf or "") if leaf else None)


class Host(NamedTuple):
    """What a plugin is constructed with.

    Attributes:
        name: The host's name, as ``doctor`` prints it.
        agent_dir: Where everything of ours is kept.
        home: The person's home directory, which is never a project.
        environ: The environment, read once.
        bus: The plugin's own handle on the bus.
        ui: What a person sees.
        scheduler: The clock.
        models: Completion.
        verbs: Every plugin's verbs.
        capabilities: What of all this the host really has.
        state: How the host fares: one line a plugin, for ``doctor``.
    """

    name: str
    agent_dir: Path
    home: Path
    environ: Mapping[str, str]
    bus: BusClient
    ui: Ui
    scheduler: Scheduler
    models: Models
    verbs: Verbs
    capabilities: Capabilities
    state: Callable[[], list[PluginState]]


class PluginState(NamedTuple):
    """How one plugin fares.

    Attributes:
        name: Its entry point's name.
        state: ``loaded``, ``failed`` (it is out), or ``slow`` (its breaker is open).
        detail: Why, in one line.
        hooks: The hooks it implements.
    """

    name: str
    state: Literal["loaded", "failed", "slow"]
    detail: str = ""
    hooks: tuple[str, ...] = ()
