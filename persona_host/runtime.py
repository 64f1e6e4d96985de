"""The runtime: plugins, bus, dispatcher, registry and at most one open session, for every door of the application.

It is synchronous; a host with an event loop calls it from a thread. Each door (the embedded host, ``persona stdio``,
``persona mcp``, the one-shot commands) owns one runtime and differs only in its ports.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from persona_hooks.bus import Bus
from persona_hooks.commands import parse_line, parse_words, usage
from persona_hooks.dispatch import Dispatched, Dispatcher
from persona_hooks.errors import ConflictError, InvalidError, NotFoundError, PersonaError, UncertainError
from persona_hooks.messages import OwnerChanged, Setting, SettingsQuery, SettingsReply
from persona_hooks.owner import live_owner
from persona_hooks.ports import Capabilities, Host, PluginState, Session, SessionReason
from persona_hooks.specs import Block, Continue, Handled, InputResult, InputSource, Renderer, Transform
from persona_hooks.speech import ENGLISH, Voice, chosen, marked, phrase, say, speaking, speaks
from persona_hooks.tools import Tool, tools, verb_of
from persona_hooks.turn import Turn
from persona_hooks.verbs import Answer, Audience, Call, Origin, Registry, perform, refusal, validate
from persona_host.helping import about, shell_text
from persona_host.loading import Found, entry_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from persona_hooks.bus import BusClient, Outside
    from persona_hooks.cards import Card
    from persona_hooks.commands import Command
    from persona_hooks.dispatch import Late
    from persona_hooks.owner import Owner
    from persona_hooks.ports import Entry, Journal, Models, Scheduler, Ui
    from persona_hooks.speech import Spell
    from persona_hooks.verbs import AnyVerb, Params


speaks("persona_host")

_ABLE = Capabilities()


class Setup(NamedTuple):
    """What a door decides before plugins are loaded.

    Attributes:
        name: The host's name, as ``doctor`` prints it.
        agent_dir: Where everything of ours is kept.
        home: The person's home directory.
        environ: The environment, read once.
        capabilities: What this door can do.
        plugins: Where plugins come from; the installed entry points unless a test says otherwise.
        patience: How many times its budget a hook may take; see ``Dispatcher``.
        spell: How the commands that messages name are typed there. Without it as in a conversation, or as in a shell
            where the host has no commands.
        english: Words are read by a program: they are English, whatever language the person chose.
    """

    name: str
    agent_dir: Path
    home: Path
    environ: Mapping[str, str]
    capabilities: Capabilities = _ABLE
    plugins: Callable[[], Found] = entry_points
    patience: float = 1.0
    spell: Spell | None = None
    english: bool = False


_PROGRAMS: Final[frozenset[Audience]] = frozenset({"model", "script", "mcp"})
"""Doors behind which nobody reads a card: what they are told is English, like what else a model is given."""


def _always() -> bool:
    return True


class Renderings:
    """The renderers that plugins registered for their own entries."""

    def __init__(self) -> None:
        self._renderers: dict[str, Renderer] = {}

    def add(self, custom_type: str, render: Renderer) -> None:
        """See ``specs.Renderers``. The first to claim a type keeps it."""
        if custom_type in self._renderers:
            raise ValueError(f"entries of type {custom_type!r} have a renderer already")
        self._renderers[custom_type] = render

    def staged(self) -> Renderings:
        """Return an empty one for a plugin to fill in; see ``dispatch.Staged``."""
        return Renderings()

    def merge(self, other: Renderings) -> None:
        """Take over what a plugin filled in, all of it or nothing."""
        doubled = sorted(self._renderers.keys() & other._renderers.keys())
        if doubled:
            raise ValueError(f"entries of type {doubled[0]!r} have a renderer already")
        self._renderers |= other._renderers

    def types(self) -> list[str]:
        """Return the types that have a renderer."""
        return sorted(self._renderers)

    def get(self, custom_type: str | None) -> Renderer | None:
        """Return the renderer of a type, or None."""
        return None if custom_type is None else self._renderers.get(custom_type)


def _checked(verb: AnyVerb, arguments: Mapping[str, Any]) -> Params:
    """Return a typed command's parameters; a person is told its form beside the rule that was broken."""
    try:
        params: Params = validate(verb, arguments, lax=True)
    except InvalidError as error:
        field = error.details.get("field")
        raise InvalidError(
            phrase("{what} Form: {usage}", what=error.message, usage=usage(verb)),
            reason=error.reason,
            field=field,
        ) from None
    return params


class Runtime:
    """One process's plugins and its session."""

    def __init__(self, setup: Setup, *, ui: Ui, models: Models, scheduler: Scheduler) -> None:
        """Make a runtime without plugins; ``start`` is what hosts call."""
        self.setup = setup
        self.registry = Registry()
        self.problems: list[tuple[str, str]] = []
        self._bus = Bus(report=self._report)
        self._client = self._bus.client(setup.name)
        self._clients: dict[str, BusClient] = {}
        self._dispatcher = Dispatcher(clock=scheduler.monotonic, released=self._release, patience=setup.patience)
        self._renderings = Renderings()
        self.scheduler = scheduler
        self._ports = (ui, models, scheduler)
        self._generation = 0
        self._session: Session | None = None
        self._settled = True
        self._told_of_failed = False
        spell = setup.spell or (None if setup.capabilities.commands else shell_text)
        self._english = Voice(lambda: (ENGLISH, True), spell)
        self._voice = self._english if setup.english else Voice(self._language, spell)

    @classmethod
    def start(cls, setup: Setup, *, ui: Ui, models: Models, scheduler: Scheduler) -> Runtime:
        """Return a runtime with its plugins loaded and their verbs registered. No session is open yet.

        A plugin that cannot be loaded is left out, recorded in ``states()`` and never takes the host down.
        """
        runtime = cls(setup, ui=ui, models=models, scheduler=scheduler)
        with runtime.speaking():
            runtime._load()
        return runtime

    def speaking(self) -> AbstractContextManager[None]:
        """Word whatever is said inside in this runtime's language: the setting ``language``, else the environment's.

        Every method here does so by itself; a host enters it around words of its own. What models and programs ask for
        is answered in English.
        """
        return speaking(self._voice)

    def _speaking_to(self, audience: Audience) -> AbstractContextManager[None]:
        return speaking(self._english if audience in _PROGRAMS else self._voice)

    def _language(self) -> tuple[str, bool]:
        setting = None if self._session is None else self.settings().get("language")
        # Until a session has started, nobody may have answered for its settings.
        return chosen(self.setup.environ, setting and setting.value), self._settled

    def _load(self) -> None:
        def builder(name: str, load: Callable[[], Callable[[Host], object]]) -> Callable[[], object]:
            return lambda: load()(self._host(name))

        self._dispatcher.load([(name, builder(name, load)) for name, load in self.setup.plugins()])
        self._dispatcher.call("register_verbs", registry=self.registry)
        self._dispatcher.call("register_renderers", renderers=self._renderings)

    def _host(self, plugin: str) -> Host:
        ui, models, scheduler = self._ports
        return Host(
            name=self.setup.name,
            agent_dir=self.setup.agent_dir,
            home=self.setup.home,
            environ=self.setup.environ,
            bus=self._clients.setdefault(plugin, self._bus.client(plugin)),
            ui=ui,
            scheduler=scheduler,
            models=models,
            verbs=self,
            capabilities=self.setup.capabilities,
            state=self.states,
        )

    @property
    def session(self) -> Session:
        """The open session.

        Raises:
            ConflictError: None is open.
        """
        if self._session is None:
            raise ConflictError(phrase("No session is open."), reason="no_session")
        return self._session

    def owner(self) -> Owner:
        """Return whose memory the open session is, as it is now.

        Raises:
            RefusedError: There is no owner to rely on.
        """
        return live_owner(self._client, self.session.id, self.session.seat)

    def answered_outside(self, outside: Outside) -> None:
        """Let the host's own bus answer queries first: see ``Bus.outside``."""
        self._bus.outside = outside

    def owner_changed(self) -> None:
        """Tell the plugins that the owner of the open session is another one; where there is none, nobody is told."""
        with suppress(PersonaError):
            owner = self.owner()
            self._client.publish(
                OwnerChanged(
                    provider=owner.provider,
                    session_id=owner.session_id,
                    seat=owner.seat,
                    ready=True,
                    persona=owner.persona,
                )
            )

    def open(
        self,
        journal: Journal,
        *,
        session_id: str,
        cwd: Path,
        reason: SessionReason = "startup",
        trusted: bool = False,
        persona: str | None = None,
        role: str = "",
        incognito: bool = False,
        shared: bool = False,
    ) -> Session:
        """Open a session on ``journal``; one that is open is shut down first. The arguments are those of ``Session``.

        Whether it is a delegated leg is taken from the environment, as it was when the host started.
        """
        self.shut_session()
        self._generation += 1
        journal.generation = self._generation
        environ = self.setup.environ
        leg = "1" in {environ.get("PI_PERSONA_LEG"), environ.get("PI_PERSONA_CHILD")}
        self._session = Session(
            session_id,
            self._generation,
            cwd,
            journal,
            reason,
            leg=leg,
            trusted=trusted,
            persona=persona,
            role=role,
            incognito=incognito,
            shared=shared,
        )
        self._settled = False
        self._told_of_failed = False
        self.fire("session_start")
        self._settled = True
        self._voice.forget()
        return self._session

    def shut_session(self) -> None:
        """Shut the open session down, if there is one; afterwards everything that belongs to it is stale."""
        if self._session is not None:
            self.fire("session_shutdown")
            journal, self._session = self._session.journal, None
            self._generation += 1
            # Whoever still holds this session's guard may not append to its log any more.
            journal.generation = self._generation

    def close(self) -> None:
        """Shut the session down and let the plugins go."""
        self.shut_session()
        self._dispatcher.close()

    def fire(self, hook: str, **payload: Any) -> Dispatched:  # noqa: ANN401 - each hook has its own payload
        """Call ``hook`` for the open session, within its budget."""
        session = self.session
        with self.speaking():
            return self._dispatcher.call(hook, self._turn(session), session=session, **payload)

    def input(self, text: str, source: InputSource = "interactive") -> InputResult:
        """Return what becomes of a text: it goes on, perhaps changed, or it was answered.

        Where a plugin did not take in what a person said, which may have been to remember something, they are told; of
        one that does not work at all, once in a session.
        """
        dispatched = self.fire("input", text=text, source=source)
        failed = [state.name for state in self.states() if state.state == "failed"]
        if failed and source != "extension" and not self._told_of_failed:
            self._told_of_failed = True
            self._warn(
                marked(
                    "{plugins} could not be loaded: if you ask for something to be remembered, it may not be saved. "
                    "See `persona doctor`."
                ),
                failed,
            )
        if dispatched.missed and source != "extension":
            self._warn(
                marked(
                    "{plugins} failed or did not answer in time: if you asked for something to be remembered, it may "
                    "not have been saved. Look with `/mind`, and ask again."
                ),
                dispatched.missed,
            )
        if isinstance(dispatched.handled, Handled | Transform):
            return dispatched.handled
        return Continue()

    def blocks(self, prompt: str) -> list[Block]:
        """Return the blocks for one model request, what changes least first; one that is lacking is told of."""
        dispatched = self.fire("before_agent_start", prompt=prompt)
        if dispatched.missed:
            self._warn(
                marked(
                    "{plugins} failed or did not answer in time: the model is not given what {plugins} would have "
                    "given it with this message."
                ),
                dispatched.missed,
            )
        return sorted((block for blocks in dispatched.results for block in blocks), key=lambda block: block.order)

    def settled(self, *, aborted: bool = False) -> list[Card]:
        """Say that nothing more will happen until a person speaks; return the cards of work that came late."""
        self.fire("agent_settled", aborted=aborted)
        with self.speaking():
            return [card for item in self._dispatcher.late() if (card := _told(item)) is not None]

    def caught_up(self, timeout: float) -> bool:
        """Wait until what is late has ended, at most ``timeout`` seconds; return whether it has."""
        return self._dispatcher.caught_up(timeout)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        session: Session,
        origin: Origin,
        audience: Audience,
        lax: bool = False,
        wanted: Callable[[], bool] = _always,
    ) -> Answer:
        """Perform a verb for whoever owns ``session``'s memory now; a refusal is an answer.

        Once ``wanted`` says no, because whoever asked has given up, nothing more is begun. The card is in English where
        the audience reads no cards; ``Answer.anew`` words it for a person who looks on.
        """
        with self._speaking_to(audience):
            return self._called(name, arguments, session, origin, audience, lax=lax, wanted=wanted)

    def _called(
        self,
        name: str,
        arguments: Mapping[str, Any],
        session: Session,
        origin: Origin,
        audience: Audience,
        *,
        lax: bool,
        wanted: Callable[[], bool],
    ) -> Answer:
        try:
            verb = self.registry.get(name)
            if audience not in verb.shown_to:
                raise NotFoundError(phrase("{verb} is not offered here.", verb=name), reason="unknown_verb")
            turn = self._turn(session, wanted)
            turn.check()
            owner = live_owner(self._client, session.id, session.seat, before_ready=verb.before_ready)
            params = _checked(verb, arguments) if lax else validate(verb, arguments)
        except PersonaError as error:
            return refusal(name, error)
        try:
            return perform(verb, params, Call(owner, session, origin, audience, turn))
        except Exception as error:  # noqa: BLE001 - a plugin's fault must not end the conversation; it is reported
            self._report(name, "verb", error)
            return refusal(name, _fault(name, error))

    def tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        origin: Origin = "model",
        audience: Audience = "model",
        wanted: Callable[[], bool] = _always,
    ) -> Answer:
        """Perform the action that ``arguments`` name of a tool; see ``call``."""
        try:
            name, rest = verb_of(self.registry, tool, arguments, audience)
        except PersonaError as error:
            return self._refusal(tool, error, audience)
        return self.call(name, rest, session=self.session, origin=origin, audience=audience, wanted=wanted)

    def command(self, line: str | Sequence[str], *, audience: Audience = "person") -> Answer:
        """Perform a slash command, given as one line or as the shell's words."""
        try:
            found: Command = (
                parse_line(self.registry, line) if isinstance(line, str) else parse_words(self.registry, line)
            )
        except PersonaError as error:
            return self._helped(line) or self._refusal("command", error, audience)
        return self.call(
            found.verb.name, found.arguments, session=self.session, origin="user", audience=audience, lax=True
        )

    def _helped(self, line: str | Sequence[str]) -> Answer | None:
        """Return the help that a line which is no command asks for with its last word; None where it asks for none."""
        words = line.strip().removeprefix("/").split() if isinstance(line, str) else list(line)
        if words[-1:] != ["help"]:
            return None
        with self.speaking():
            card = about(self.registry, words[:-1])
        return None if card is None else Answer("command", ok=True, changed="no", card=card, details={})

    def tools(self, audience: Audience) -> list[Tool]:
        """Return the tools for one door; none while nobody owns the session, for a leg, or of what is switched off."""
        try:
            owner = self.owner()
        except PersonaError:
            return []
        return [] if owner.leg else tools(self.registry, audience, self.session)

    def off(self) -> str:
        """Return why memory does not work in the open session and what turns it on, a phrase; empty where it works."""
        session = self.session
        try:
            self.owner()
        except PersonaError as error:
            return error.message
        if session.incognito:
            return phrase("This room is incognito: memory is neither read nor written here.")
        enabled = self.settings().get("mind.enabled")
        if enabled is None or enabled.value is not False:
            return ""
        if session.shared:
            return phrase(
                "Memory is off for commands in this directory: nothing is remembered or given to a model. `/mind on` "
                "turns it on."
            )
        return phrase(
            "Memory is off in this session: nothing is remembered or given to a model. `/mind on` turns it on."
        )

    def settings(self) -> dict[str, Setting]:
        """Return every plugin's effective settings in the open session, by key."""
        replies = self._client.ask(SettingsQuery(session_id=self.session.id), SettingsReply)
        return {setting.key: setting for reply in replies for setting in reply.settings}

    def render(self, entry: Entry) -> Card | None:
        """Return the card of a custom entry, made now from what is stored now; None where nobody renders it."""
        renderer = self._renderings.get(entry.custom_type)
        if renderer is None:
            return None
        with self.speaking():
            try:
                return renderer(self.session, entry.data)
            except PersonaError as error:
                return refusal("render", error).card
            except Exception as error:  # noqa: BLE001 - as in ``call``
                self._report(str(entry.custom_type), "render", error)
                return refusal("render", _fault(phrase("This card"), error)).card

    def renders(self) -> list[str]:
        """Return the types of custom entries that ``render`` makes a card of."""
        return self._renderings.types()

    def _refusal(self, name: str, error: PersonaError, audience: Audience) -> Answer:
        with self._speaking_to(audience):
            return refusal(name, error)

    def states(self) -> list[PluginState]:
        """Return how each plugin fares, those that were left out included."""
        return self._dispatcher.states()

    def _release(self, plugin: str) -> None:
        # What a plugin that was left out provided would go on answering, and lock memory out.
        client = self._clients.pop(plugin, None)
        if client is not None:
            client.release()

    def _warn(self, text: str, plugins: Sequence[str]) -> None:
        ui, _, _ = self._ports
        with self.speaking():
            ui.notify(say(text, plugins=", ".join(plugins)), "warning")

    def _turn(self, session: Session, wanted: Callable[[], bool] = _always) -> Turn:
        def alive() -> bool:
            return self._generation == session.generation and wanted()

        return Turn(session.generation, alive=alive, clock=time.monotonic)

    def _report(self, plugin: str, channel: str, error: Exception) -> None:
        # Bounded, since a listener may fail at every message; types only, since a message may quote a memory.
        self.problems = [*self.problems[-99:], (plugin, f"{channel}: {type(error).__name__}")]


def _fault(what: str, error: Exception) -> UncertainError:
    """Return what is told of a programming error: its kind and never its text, which may quote a memory."""
    return UncertainError(
        phrase("{what} failed ({error}). See `persona doctor`.", what=what, error=type(error).__name__),
        reason="internal_error",
    )


def _told(late: Late) -> Card | None:
    """Return the card of work that ended after its time was up, where there is something to tell."""
    if late.error is not None:
        return refusal(late.hook, late.error).card
    return late.result.card if isinstance(late.result, Handled) else None
