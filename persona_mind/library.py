"""The library's door: the plugin's own verbs and pipelines, with an in-process companion that names the owner.

Plugins never import one another, so the library does not load ``persona_companion``: a small companion on a private bus
answers for the one session there is. Everything else is what a host would run.
"""

from __future__ import annotations

import threading
import time
import unicodedata
from contextvars import copy_context
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, get_args

from persona_hooks.bus import Bus
from persona_hooks.errors import InvalidError, NotFoundError, PersonaError, RefusedError
from persona_hooks.journal import MemoryJournal
from persona_hooks.messages import (
    COMPANION,
    MEMORY_OWNER,
    SETTINGS_COLLECT,
    CompanionReply,
    Message,
    OwnerReply,
    SettingsReply,
)
from persona_hooks.owner import live_owner
from persona_hooks.ports import Capabilities, Host, PluginState, Session
from persona_hooks.turn import Turn
from persona_hooks.verbs import Answer, Call, Origin, Outcome, Registry, perform, refusal, validate
from persona_mind.facts.outcomes import Gone, Opened, Promoted, Recalled, Remembered
from persona_mind.health.outcomes import Report
from persona_mind.plugin import MindPlugin
from persona_mind.safekeeping.outcomes import Erasure
from persona_mind.status.outcomes import Overview

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from persona_hooks.cards import Level
    from persona_hooks.ports import Completed, Completion, Handle
    from persona_hooks.verbs import Audience
    from persona_mind.kernel.clock import Now

NAME = "library"
_MAX_NAME = 128

R = TypeVar("R", bound=Outcome)


def system_clock() -> datetime:
    """Return the wall clock's time in UTC."""
    return datetime.now(UTC)


class Mind:
    """One open memory. Its methods are the verbs; a refusal is raised as the ``PersonaError`` that it is.

    Attributes:
        notices: What a person would have been shown, in order.
        registry: The verbs, for programs that list or project them.
    """

    def __init__(
        self,
        agent_dir: str | os.PathLike[str],
        *,
        cwd: str | os.PathLike[str],
        persona: str | None,
        now: Now,
        home: str | os.PathLike[str] | None,
        environ: Mapping[str, str],
        session_id: str,
    ) -> None:
        self.notices: list[str] = []
        self.registry = Registry()
        self._bus = Bus(report=self._report)
        self._companion = self._bus.client(NAME)
        _answer_for(self._companion.provide, session_id, _named(persona))
        place = Path(cwd).expanduser().absolute()
        journal = MemoryJournal(session_id, place, now=now)
        journal.generation = 1
        self._session = Session(session_id, 1, place, journal)
        self._client = self._bus.client("persona_mind")
        self._plugin = MindPlugin(self._host(agent_dir, home, environ, now))
        self._plugin.register_verbs(self.registry)
        self._plugin.session_start(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session and let the bus go. What was remembered is on disk already."""
        self._plugin.session_shutdown(self._session)
        self._client.release()
        self._companion.release()

    def remember(self, text: str, *, origin: Origin = "user", **options: Any) -> Remembered:  # noqa: ANN401 - JSON values
        """Remember one fact.

        ``options`` are the verb's: kind, scope, tags, ttl_hours, supersedes, source, derived_from.
        """
        return self._done("memory.remember", Remembered, {"text": text, **options}, origin)

    def recall(self, query: str = "", **options: Any) -> Recalled:  # noqa: ANN401 - JSON values
        """Find what is remembered; ``options`` are scope (one word or several) and max."""
        return self._done("memory.recall", Recalled, {"query": query, **options})

    def read(self, id: str) -> Opened:  # noqa: A002 - the verb's own word
        """Return one fact whole."""
        return self._done("memory.read", Opened, {"id": id})

    def forget(self, id: str, **options: Any) -> Gone:  # noqa: A002, ANN401 - the verb's own word; JSON values
        """Forget one fact, everywhere or in one scope."""
        return self._done("memory.forget", Gone, {"id": id, **options})

    def erase(self, id: str, **options: Any) -> Erasure:  # noqa: A002, ANN401 - the verb's own word; JSON values
        """Erase one memory for good; ``everywhere`` takes others that contain the same words along."""
        return self._done("memory.erase", Erasure, {"id": id, **options})

    def promote(self, id: str, **options: Any) -> Promoted:  # noqa: A002, ANN401 - the verb's own word; JSON values
        """Keep a working fact for good, in the project or in another scope."""
        return self._done("memory.promote", Promoted, {"id": id, **options})

    def snapshot(self) -> Overview:
        """Return what is remembered here, in numbers, with the text a model would be given."""
        return self._done("mind.snapshot", Overview, {})

    def doctor(self) -> Report:
        """Return how the memory fares."""
        return self._done("mind.doctor", Report, {})

    def hear(self, text: str) -> None:
        """Take ``text`` as typed by a person: what it asks to be remembered is remembered."""
        self._plugin.input(self._session, text, "interactive", Turn(generation=1))

    def inject(self, prompt: str = "") -> str:
        """Return what a model would be given with ``prompt``."""
        return "\n\n".join(block.text for block in self.blocks(prompt))

    def blocks(self, prompt: str = "") -> list[Any]:
        """Return the same as ``persona_hooks.specs.Block`` values, what changes least first."""
        blocks = self._plugin.before_agent_start(self._session, prompt, Turn(generation=1))
        return sorted(blocks, key=lambda block: block.order)

    def settle(self) -> None:
        """Do what is done while nobody waits: what is due is told, what has expired leaves the disk."""
        self._plugin.agent_settled(self._session, Turn(generation=1))

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        origin: Origin = "user",
        audience: Audience = "script",
        lax: bool = False,
        session: Session | None = None,
    ) -> Answer:
        """Perform a verb by its name; a refusal is an answer, as it is for every door.

        ``session`` is there for ``ports.Verbs``: there is but one here.
        """
        del session
        try:
            verb = self.registry.get(name)
            if audience not in verb.shown_to:
                raise NotFoundError(f"{name} is not offered here.", reason="unknown_verb")
            if origin not in get_args(Origin):
                raise InvalidError(f"origin must be one of {', '.join(get_args(Origin))}.", field="origin")
            owner = live_owner(self._client, self._session.id, self._session.seat)
            params = validate(verb, arguments or {}, lax=lax)
        except PersonaError as error:
            return refusal(name, error)
        return perform(verb, params, Call(owner, self._session, origin, audience, Turn(generation=1)))

    def _done(self, name: str, kind: type[R], arguments: Mapping[str, Any], origin: Origin = "user") -> R:
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = self.call(name, given, origin=origin)
        if answer.error is not None:
            raise answer.error
        if not isinstance(answer.outcome, kind):
            raise InvalidError(f"{name} returned something else than {kind.__name__}.", field="outcome")
        return answer.outcome

    def _host(
        self,
        agent_dir: str | os.PathLike[str],
        home: str | os.PathLike[str] | None,
        environ: Mapping[str, str],
        now: Now,
    ) -> Host:
        return Host(
            name=NAME,
            agent_dir=Path(agent_dir).expanduser().absolute(),
            home=Path.home() if home is None else Path(home),
            environ=environ,
            bus=self._client,
            ui=_Notices(self.notices),
            scheduler=_Clocks(now),
            models=_NoModels(),
            verbs=self,
            capabilities=Capabilities(branches=False, ui=False, models=False, scheduler=False),
            state=lambda: [PluginState("persona_mind", "loaded")],
        )

    def _report(self, plugin: str, channel: str, error: Exception) -> None:
        self.notices.append(f"{plugin} failed on {channel}: {type(error).__name__}")


def _named(persona: str | None) -> str | None:
    """Return the persona's name in the one spelling under which a companion keeps it.

    Raises:
        RefusedError: No companion would let a persona have that name.
    """
    if persona is None:
        return None
    from persona_store.confusables import check_name  # noqa: PLC0415 - its tables are not needed where nobody is named

    name = unicodedata.normalize("NFC", persona).strip()
    if len(name) > _MAX_NAME:
        raise InvalidError(f"persona: a name has at most {_MAX_NAME} characters.", field="persona")
    check_name(name, kind="persona")
    return name


def _answer_for(
    provide: Callable[[str, Callable[[Message], object]], object], session_id: str, persona: str | None
) -> None:
    companion = CompanionReply(provider=NAME, contract=1, release="library", session_id=session_id)

    @lru_cache(maxsize=8)
    def own(seat: str) -> OwnerReply:
        return OwnerReply(provider=NAME, session_id=session_id, seat=seat, ready=True, persona=persona)

    def owner(request: Message) -> OwnerReply | None:
        seat = getattr(request, "seat", None)
        return None if getattr(request, "session_id", None) != session_id or seat is None else own(seat)

    provide(COMPANION, lambda _: companion)
    provide(MEMORY_OWNER, owner)
    # There are no settings here but the environment's; saying so spares the mind from asking again and again.
    provide(SETTINGS_COLLECT, lambda _: SettingsReply(provider=NAME, settings=()))


class _Notices:
    """Keeps notices for whoever opened the library."""

    def __init__(self, notices: list[str]) -> None:
        self._notices = notices

    def notify(self, text: str, level: Level = "info") -> None:
        """Keep one line."""
        del level
        self._notices.append(text)

    def status(self, key: str, text: str | None) -> None:
        """Drop it: there is no status line here."""


class _Clocks:
    """The clock that was given, and timers on daemon threads."""

    def __init__(self, now: Now) -> None:
        self.now = now

    def monotonic(self) -> float:
        """Return seconds on a clock that never jumps."""
        return time.monotonic()

    def call_later(self, seconds: float, action: Callable[[], None]) -> Handle:
        """Run ``action`` once after ``seconds``, in the caller's context."""
        timer = threading.Timer(seconds, copy_context().run, (action,))
        timer.daemon = True
        timer.start()
        return timer


class _NoModels:
    """The library has no model to lend."""

    def complete(self, request: Completion) -> Completed:
        """Refuse."""
        del request
        raise RefusedError("The library has no model to lend.", reason="no_model")
