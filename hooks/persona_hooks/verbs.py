"""The verb registry: whatever a person, a model or a script can do, declared once.

A verb names its parameters (a pydantic model: the only place where arguments are described and checked), its
effect, the function that does it and the words for its outcome. Model tools, slash commands, the command line,
MCP, the Pi manifest and the reference are projections of this registry (see ``tools``, ``commands``,
``reference``), and so are the sweeps that test it: a new verb cannot be left untested.

A call takes one way: parameters are validated, the live owner is asked for, the verb runs. A refusal anywhere
becomes an answer that says why and what was changed; only programming errors escape.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, SkipValidation, ValidationError

from persona_hooks.cards import Card
from persona_hooks.errors import Changed, InvalidError, NotFoundError, PersonaError, StorageError, UncertainError
from persona_hooks.naming import to_camel
from persona_hooks.speech import phrase, worded
from persona_hooks.wellformed import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from persona_hooks.owner import Owner
    from persona_hooks.ports import Session
    from persona_hooks.turn import Turn

Effect = Literal["read", "write", "erase"]
Audience = Literal["model", "person", "script", "page", "mcp"]
Origin = Literal["user", "model", "import", "peer", "worker", "tool"]

EVERYONE: frozenset[Audience] = frozenset({"model", "person", "script", "page", "mcp"})
PEOPLE: frozenset[Audience] = frozenset({"person", "script", "page"})


class Place(Enum):
    """Where a parameter stands on a command line; without one it is an option, ``--kebab-case VALUE``."""

    WORD = "word"
    REST = "rest"


class Params(BaseModel):
    """The base of every verb's parameters: closed, frozen, camelCase on the wire.

    The first line of a subclass's docstring is the verb's summary, wherever it is shown.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
        defer_build=True,
        # What a person says, and may erase, is not to stay in a cache of the parser's.
        cache_strings="keys",
    )


class NoParams(Params):
    """A verb that takes nothing."""


Sentence = SkipValidation[str]
"""A text in an outcome that may be a phrase: programs read its English, and the card words it."""


class Outcome(BaseModel):
    """What a verb returns: typed facts, no words, and whether anything changed."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True)

    changed: Changed = "no"


P = TypeVar("P", bound=Params)
O = TypeVar("O", bound=Outcome)  # noqa: E741 - the pair reads as parameters and outcome


class Call(NamedTuple):
    """One use of a verb: on whose behalf, in which session, asked by whom, for how long.

    Attributes:
        owner: The live answer to "whose memory is this?", taken for this call.
        session: The conversation it belongs to.
        origin: Who the words come from; it stands on every row that the call writes.
        audience: The door it came through.
        turn: The time that remains; ``turn.check()`` raises once the call is stale.
    """

    owner: Owner
    session: Session
    origin: Origin
    audience: Audience
    turn: Turn


def _always(_: Session) -> bool:
    return True


@dataclass(frozen=True)
class Verb(Generic[P, O]):
    """One thing that can be done.

    Attributes:
        name: ``prefix.action``; a model sees one tool a prefix, whose ``action`` names the verb.
        params: The parameter model.
        effect: ``read`` writes nothing, ``write`` adds or changes, ``erase`` removes for good.
        run: Does it. It raises a ``PersonaError`` to refuse, and says in the outcome whether anything changed.
        words: Turns the outcome into a card.
        shown_to: Which doors offer it.
        command: The words a person types after the slash, ``"mind recall"``; required where people are served.
        before_ready: Performed while the owner is not ready, too: only for verbs that touch no memory, such as those
            by which a person chooses the persona. ``Call.owner`` says nothing in them. A companion is still needed.
        offered: Whether models are offered it in a session now. It is no guard: ``run`` refuses what may not be.
    """

    name: str
    params: type[P]
    effect: Effect
    run: Callable[[Call, P], O]
    words: Callable[[O], Card]
    shown_to: frozenset[Audience]
    command: str = ""
    before_ready: bool = False
    offered: Callable[[Session], bool] = _always

    @property
    def prefix(self) -> str:
        """The tool that groups this verb for models."""
        return self.name.partition(".")[0]

    @property
    def action(self) -> str:
        """The verb's name inside its tool."""
        return self.name.partition(".")[2]

    @property
    def summary(self) -> str:
        """One sentence: what it does."""
        return (self.params.__doc__ or "").strip().partition("\n")[0]


AnyVerb = Verb[Any, Any]


class Answer(NamedTuple):
    """What came of a call, for any door.

    Attributes:
        verb: The verb's name.
        ok: Whether it did what was asked. An empty recall is ok.
        changed: Whether anything changed.
        card: The words for it, in the language of whoever asked.
        details: The outcome's or the refusal's facts as JSON values, camelCase.
        outcome: The typed outcome, if it was ok.
        error: The refusal, if it was not.
        words: Makes the card; None where it was not made from an outcome or a refusal.
    """

    verb: str
    ok: bool
    changed: Changed
    card: Card
    details: Mapping[str, Any]
    outcome: Outcome | None = None
    error: PersonaError | None = None
    words: Callable[[], Card] | None = None

    def anew(self) -> Card:
        """Return the card as whoever is spoken to now reads it: a person who is shown what a model asked for."""
        return self.card if self.words is None else self.words()

    @property
    def why(self) -> str:
        """The refusal's sentence, perhaps a phrase; the card's title where there was none."""
        return self.card.title if self.error is None else self.error.message

    @property
    def text(self) -> str:
        """The whole card as plain text."""
        return self.card.text()


class Registry:
    """The verbs of all loaded plugins. Any thread may read it."""

    def __init__(self) -> None:
        self._verbs: dict[str, AnyVerb | _Late] = {}
        self._commands: dict[tuple[str, ...], str] = {}
        self._guides: dict[str, str] = {}
        # Reentrant, since what loads verbs may look others up.
        self._loading = threading.RLock()

    def add(self, *verbs: AnyVerb) -> None:
        """Register ``verbs``, all of them or none.

        Raises:
            ValueError: A verb is malformed or doubled. That is a programming error, raised at start-up.
        """
        for verb in verbs:
            _check_declaration(verb)
        self._take([(verb.name, verb.command, verb) for verb in verbs])

    def late(self, commands: Mapping[str, str], load: Callable[[Registry], None]) -> None:
        """Register verbs that cost something to import: they are loaded once one of them, or all verbs, are looked at.

        Args:
            commands: Each verb's name and its command, empty where it has none.
            load: Registers exactly these, and their guides, in the registry that it is given. What it raises reaches
                whoever looked; that is a programming error which ``add`` would have raised at start-up.

        Raises:
            ValueError: A name or a command is malformed or doubled.
        """
        late = _Late(frozenset(commands), load)
        for name, command in commands.items():
            _check_words(name, command)
        self._take([(name, command, late) for name, command in commands.items()])

    def staged(self) -> Registry:
        """Return an empty registry for one plugin to fill in; see ``dispatch.Staged``."""
        return Registry()

    def merge(self, other: Registry) -> None:
        """Take over the verbs and guides of ``other``, all of them or none.

        Raises:
            ValueError: A verb is registered here already.
        """
        commands = {name: " ".join(words) for words, name in other._commands.items()}
        self._take([(name, commands.get(name, ""), verb) for name, verb in other._verbs.items()])
        self._guides |= other._guides

    def guide(self, prefix: str, text: str) -> None:
        """Set what a model is told about the tool ``prefix``: when to use it, and when not."""
        self._guides[prefix] = text

    def guidance(self, prefix: str) -> str:
        """Return what a model is told about the tool ``prefix``."""
        for name in list(self._verbs):
            if name.partition(".")[0] == prefix:
                self.get(name)
        return self._guides.get(prefix, "")

    def __iter__(self) -> Iterator[AnyVerb]:
        """Iterate over the verbs in order of their names."""
        return iter([self.get(name) for name in sorted(self._verbs)])

    def __len__(self) -> int:
        """Return how many verbs there are."""
        return len(self._verbs)

    def get(self, name: str) -> AnyVerb:
        """Return the verb called ``name``.

        Raises:
            NotFoundError: There is none; the message lists those that share its prefix.
        """
        found = self._verbs.get(name)
        if found is None:
            near = [known for known in self._verbs if known.partition(".")[0] == name.partition(".")[0]]
            listed = ", ".join(sorted(near or self._verbs)) or phrase("none")
            raise NotFoundError(
                phrase("There is no verb of that name. Known here: {known}.", known=listed), reason="unknown_verb"
            )
        return found if isinstance(found, Verb) else self._loaded(name)

    def at(self, words: Sequence[str]) -> AnyVerb | None:
        """Return the verb whose command is the longest that ``words`` begin with, or None."""
        for length in range(len(words), 0, -1):
            name = self._commands.get(tuple(words[:length]))
            if name is not None:
                return self.get(name)
        return None

    def shown_to(self, audience: Audience) -> list[AnyVerb]:
        """Return the verbs offered at one door, in order of their names."""
        return [verb for verb in self if audience in verb.shown_to]

    def _take(self, items: Sequence[tuple[str, str, AnyVerb | _Late]]) -> None:
        verbs, commands = dict(self._verbs), dict(self._commands)
        for name, command, verb in items:
            words = tuple(command.split())
            if name in verbs or words in commands:
                raise ValueError(f"verb {name!r} (/{command}) is registered twice")
            verbs[name] = verb
            if words:
                commands[words] = name
        self._verbs, self._commands = verbs, commands

    def _loaded(self, name: str) -> AnyVerb:
        with self._loading:
            found = self._verbs[name]
            if isinstance(found, Verb):  # another thread was here first
                return found
            staged = Registry()
            found.load(staged)
            commands = {words: known for words, known in self._commands.items() if known in found.names}
            if staged._verbs.keys() != found.names or staged._commands != commands:
                raise ValueError(f"{', '.join(sorted(found.names))}: other verbs came late than were registered")
            self._verbs = {**self._verbs, **staged._verbs}
            self._guides |= staged._guides
            return staged.get(name)


class _Late(NamedTuple):
    """Verbs that are not loaded yet."""

    names: frozenset[str]
    load: Callable[[Registry], None]


def validate(verb: Verb[P, O], arguments: Mapping[str, Any], *, lax: bool = False) -> P:
    """Return the verb's parameters, checked.

    Args:
        verb: The verb whose parameter model decides.
        arguments: Wire names or field names to values.
        lax: Read numbers and booleans from strings, as a command line needs, and name the verb by its command; JSON is
            read strictly.

    Raises:
        InvalidError: An argument is missing, unknown, malformed or out of bounds. The message names the field and
            the rule, never the value.
    """
    try:
        if lax:
            return verb.params.model_validate(dict(arguments))
        return verb.params.model_validate_json(json.dumps(dict(arguments)), strict=True)
    except ValidationError as error:
        _check_texts(verb, arguments)
        raise _invalid(verb, error, _called(verb, lax=lax)) from None
    except (TypeError, ValueError, RecursionError):
        raise InvalidError(
            phrase("{verb}: the arguments are not a JSON object.", verb=verb.name), field="arguments"
        ) from None


def _check_texts(verb: AnyVerb, arguments: Mapping[str, Any]) -> None:
    """Raise for an argument that holds half a character, which a JSON reader refuses without saying where."""
    known = {*_known(verb), *verb.params.model_fields}
    for name, value in arguments.items():
        if not is_text(f"{name}{json.dumps(value, ensure_ascii=False)}"):
            field = name if name in known else "arguments"
            raise InvalidError(
                phrase("{verb}: {field} holds half a character (a lone surrogate).", verb=verb.name, field=field),
                field=field,
            )


def perform(verb: Verb[P, O], params: P, call: Call) -> Answer:
    """Run ``verb`` and return its answer; refusals are answers, programming errors are raised."""
    try:
        outcome = verb.run(call, params)
    except PersonaError as error:
        return refusal(verb.name, error)
    details = outcome.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Answer(
        verb.name,
        ok=True,
        changed=outcome.changed,
        card=verb.words(outcome),
        details=details,
        outcome=outcome,
        words=lambda: verb.words(outcome),
    )


def refusal(name: str, error: PersonaError) -> Answer:
    """Return the answer for a call that raised ``error``."""
    # Not OSError: a PermissionError, and so every refusal, is one.
    level: Literal["warning", "error"] = "error" if isinstance(error, (UncertainError, StorageError)) else "warning"
    details = {"reason": error.reason, **{to_camel(key): value for key, value in error.details.items()}}

    def words() -> Card:
        return Card(title=worded(error.message), level=level)

    return Answer(name, ok=False, changed=error.changed, card=words(), details=details, error=error, words=words)


_NAME = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)*")


def _check_words(name: str, command: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"verb name {name!r} is not of the form prefix.action")
    if command and not _COMMAND.fullmatch(command):
        raise ValueError(f"{name}: the command {command!r} is not made of plain words")


def _check_declaration(verb: AnyVerb) -> None:
    _check_words(verb.name, verb.command)
    if not verb.summary:
        raise ValueError(f"{verb.name}: {verb.params.__name__} has no docstring to serve as its summary")
    if ("person" in verb.shown_to) != bool(verb.command):
        raise ValueError(f"{verb.name}: a verb has a command exactly when it is shown to a person")
    if "action" in _known(verb):
        raise ValueError(f"{verb.name}: a parameter cannot be called action, which names the verb in its tool")


def _known(verb: AnyVerb) -> list[str]:
    return [info.alias or to_camel(name) for name, info in verb.params.model_fields.items()]


def _called(verb: AnyVerb, *, lax: bool) -> str:
    return f"/{verb.command}" if lax and verb.command else verb.name


def _invalid(verb: AnyVerb, error: ValidationError, called: str) -> InvalidError:
    from persona_hooks.rules import broken_at  # noqa: PLC0415 - most calls break none

    first = error.errors(include_input=False, include_url=False)[0]
    known = _known(verb)
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        # An unknown name is the caller's text, so it is not repeated.
        allowed = ", ".join(known)
        return InvalidError(
            phrase(
                "{verb} takes no such argument. It takes: {allowed}.", verb=called, allowed=allowed or phrase("none")
            ),
            field="arguments",
        )
    # Deeper parts of the place may be the caller's own keys; only ours and numbers are told.
    wire = dict(zip(verb.params.model_fields, known, strict=True)) | {name: name for name in known}
    place = [str(wire.get(str(part), part)) for part in first["loc"] if isinstance(part, int) or part in wire]
    field = ".".join(place) or "arguments"
    return InvalidError(phrase("{verb}: {broken}.", verb=called, broken=broken_at(field, first)), field=field)
