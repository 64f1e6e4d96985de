"""The host's own slash commands, beside those that plugins register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_hooks.cards import Card, clip, one_line
from persona_hooks.commands import complete, nearest
from persona_hooks.errors import PersonaError
from persona_hooks.journal import JsonlJournal
from persona_hooks.speech import phrase, say, worded
from persona_hooks.verbs import refusal
from persona_host.embedded.choice import HOW, facts
from persona_host.embedded.screen import Event
from persona_host.embedded.transcript import Replied, Returned, Said, line_of
from persona_host.helping import about, groups, overview, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.ports import Entry
    from persona_host.embedded.host import EmbeddedHost

LISTED = 20
COLUMNS = 80
"""What rows are made for; a narrower terminal wraps them."""
DEPTH = 12
"""Branches within branches that are still indented."""


class Leave(Exception):  # noqa: N818 - it ends the conversation, which is no error
    """The person wants to leave."""


@dataclass(frozen=True, slots=True)
class Command:
    """One of the host's own commands."""

    form: str
    summary: str
    run: Callable[[EmbeddedHost, str], Event]

    @property
    def name(self) -> str:
        """The word after the slash."""
        return self.form.split()[0]


def run(host: EmbeddedHost, line: str) -> None:
    """Perform a line that begins with a slash, and show its answer.

    Raises:
        Leave: It says so.
    """
    name, _, rest = line[1:].partition(" ")
    own = COMMANDS.get(name)
    if own is not None:
        host.screen.show(_outcome(own, host, rest.strip()))
        return
    if name in groups(host.runtime.registry):
        *words, last = line[1:].split()
        if words and last in {"help", "--help", "-h"}:
            host.screen.show(_outcome(COMMANDS["help"], host, " ".join(words)))
        else:
            host.command(line)
        return
    host.screen.show(_unknown(host, line[1:].split()))


ESCAPE = phrase("A message that begins with a slash is sent by putting a space before it.")
STATUS = phrase(
    "The bottom line: persona · model · mind 3L·1S · backlog 2, that is 3 facts kept for good, 1 for two days and 2 "
    "things to do."
)


def _unknown(host: EmbeddedHost, words: list[str]) -> Event:
    commands = [*COMMANDS, *(verb.command for verb in host.runtime.registry.shown_to("person"))]
    meant = nearest(commands, words)
    title = say("There is no such command.")
    if meant:
        title = say("There is no such command. Did you mean /{meant}?", meant=meant)
    known = ", ".join(f"/{word}" for word in (*groups(host.runtime.registry), *COMMANDS))
    card = Card(title, (say("Known here: {known}.", known=known),), level="warning", hint=worded(ESCAPE))
    return Event("answer", ok=False, card=card, data={"reason": "unknown_command"}, whole=True)


def completions(host: EmbeddedHost, line: str) -> list[str]:
    """Return what may follow in ``line``, which begins with a slash."""
    own = [f"/{name}" for name in COMMANDS if f"/{name}".startswith(line) and f"/{name}" != line]
    return sorted({*own, *complete(host.runtime.registry, line)}, key=lambda item: (not item.startswith("/"), item))


def _outcome(command: Command, host: EmbeddedHost, rest: str) -> Event:
    try:
        return command.run(host, rest)
    except PersonaError as error:
        answer = refusal(command.name, error)
        return Event("answer", ok=False, card=answer.card, data=answer.details, whole=True)


def _answer(card: Card, **data: object) -> Event:
    return Event("answer", ok=True, card=card, data=data, whole=True)


def _help(host: EmbeddedHost, rest: str) -> Event:
    words = rest.replace("/", " ").split()
    if words:
        return _help_about(host, words)
    registry = host.runtime.registry
    lines = [*overview(registry), *(row(f"/{command.form}", worded(command.summary)) for command in COMMANDS.values())]
    return _answer(
        Card(
            say("Commands; /help mind or /help mind recall tells more:"), (*lines, worded(STATUS)), hint=worded(ESCAPE)
        )
    )


def _help_about(host: EmbeddedHost, words: list[str]) -> Event:
    own = COMMANDS.get(words[0])
    if own is not None:
        return _answer(Card(f"/{own.form}", (worded(own.summary),)))
    card = about(host.runtime.registry, words)
    return _unknown(host, words) if card is None else _answer(card)


def _new(host: EmbeddedHost, rest: str) -> Event:
    del rest
    back = _leaving(host)
    host.new()
    session = host.runtime.session.id
    return _answer(Card(say("New session {session}.", session=session), level="success", hint=back), session=session)


def _resume(host: EmbeddedHost, rest: str) -> Event:
    return _resumed(host, rest) if rest else _sessions(host)


def _resumed(host: EmbeddedHost, word: str) -> Event:
    kept = host.shelf.find(word)
    back = _leaving(host)
    host.resume(kept)
    card = Card(
        say("Back in session {session}.", session=kept.session_id),
        _last(host.journal.branch()),
        level="success",
        hint=back,
    )
    return _answer(card, session=kept.session_id)


def _sessions(host: EmbeddedHost) -> Event:
    kept_sessions = host.shelf.kept()
    lines = [
        _row(f"{number:>2}  {kept.changed:%Y-%m-%d %H:%M}  {kept.session_id}  {kept.title}")
        for number, kept in enumerate(kept_sessions[:LISTED], 1)
    ]
    left = len(kept_sessions) - len(lines)
    more = (say("… and {number} older ones.", number=left),) if left > 0 else ()
    title, hint = say("There are no sessions in this directory yet."), ""
    if lines:
        title = say("Sessions in this directory, the latest first:")
        hint = say("/resume NUMBER or /resume ID opens one.")
    return _answer(Card(title, (*lines, *more), hint=hint), sessions=[kept.session_id for kept in kept_sessions])


def _tree(host: EmbeddedHost, rest: str) -> Event:
    if rest:
        host.move(rest)
        card = Card(say("The conversation goes on from there."), _last(host.journal.branch()), level="success")
        return _answer(card, leaf=host.journal.leaf)
    active = {entry.id for entry in host.journal.branch()}
    entries = host.journal.entries()
    lines = [
        _row(f"{'*' if entry.id in active else ' '} {'  ' * min(depth, DEPTH)}{entry.id}  {_said(entry)}")
        for entry, depth in _layout(entries)
        if entry.type == "message"
    ]
    title, hint = say("Nothing was said here yet."), ""
    if lines:
        title = say("The session's entries; * marks the active branch:")
        hint = say("/tree ID goes on from an entry; /fork ID copies the conversation up to it.")
    return _answer(
        Card(title, tuple(lines), hint=hint), entries=[entry.id for entry in entries], leaf=host.journal.leaf
    )


def _fork(host: EmbeddedHost, rest: str) -> Event:
    back = _leaving(host)
    session = host.fork(rest or None)
    title = say("Copied the conversation, as it stands, into session {session}; it goes on here.", session=session)
    if rest:
        title = say(
            "Copied the conversation, up to that entry, into session {session}; it goes on here.", session=session
        )
    return _answer(Card(title, _last(host.journal.branch()), level="success", hint=back), session=session)


def _model(host: EmbeddedHost, rest: str) -> Event:
    models = host.models
    if rest:
        choice = models.select(rest, "/model")
        host.runtime.fire("model_select", model=choice.label)
        return _answer(
            Card(say("This conversation uses {model} now.", model=choice.label), level="success"), **facts(choice)
        )
    roles = [f"{role}: {known.label}" for role in models.roles.names() if (known := models.roles.choice(role))]
    if models.session is None:
        return _answer(Card(say("No model is configured."), (worded(HOW),), tuple(roles)), **facts(None))
    session = models.session
    title = say("This conversation uses {model} ({source}).", model=session.label, source=session.source)
    return _answer(Card(title, tuple(roles), hint=say("/model provider:name changes it.")), **facts(session))


def _quit(host: EmbeddedHost, rest: str) -> Event:
    del host, rest
    raise Leave


def _layout(entries: list[Entry]) -> list[tuple[Entry, int]]:
    """Return entries in the order of a tree, each with its depth: a branch is indented where it leaves another."""
    children: dict[str | None, list[Entry]] = {}
    for entry in entries:
        children.setdefault(entry.parent_id, []).append(entry)
    laid: list[tuple[Entry, int]] = []
    pending = [(entry, 0) for entry in reversed(children.get(None, []))]
    while pending:
        entry, depth = pending.pop()
        laid.append((entry, depth))
        below = children.get(entry.id, [])
        deeper = depth + (len(below) > 1)
        pending += [(child, deeper) for child in reversed(below)]
    return laid


def _said(entry: Entry) -> str:
    match line_of(entry):
        case Said(text):
            return say("you: {text}", text=text)
        case Replied(text, calls):
            return say("model: {text}", text=text or ", ".join(call.tool for call in calls))
        case Returned(_, tool):
            return say("{tool}: result", tool=tool)
        case _:
            return entry.type


def _last(branch: list[Entry]) -> tuple[str, ...]:
    """Return the last thing that was said on a branch, to find one's way back in."""
    spoken = [entry for entry in branch if isinstance(line_of(entry), Said | Replied)]
    return (_row(say("Last: {said}", said=_said(spoken[-1]))),) if spoken else ()


def _row(text: str) -> str:
    # What the row begins with is kept: the mark and the indentation tell the branch.
    begin = text[: len(text) - len(text.lstrip(" "))]
    return clip(begin + one_line(text), COLUMNS)


def _leaving(host: EmbeddedHost) -> str:
    """Return how to come back to the session that is about to be left, where something was said in it."""
    kept = isinstance(host.journal, JsonlJournal) and host.journal.stored
    if not kept:
        return ""
    return say("/resume {session} goes back to the conversation before.", session=host.runtime.session.id)


_ALL = (
    Command("help [COMMAND]", phrase("List the commands, or tell of one."), _help),
    Command("new", phrase("Begin a new session."), _new),
    Command("resume [NUMBER|ID]", phrase("List the sessions of this directory, or go back to one."), _resume),
    Command("tree [ID]", phrase("Show the session's branches, or go on from an entry."), _tree),
    Command("fork [ID]", phrase("Copy the conversation, up to an entry, into a session of its own."), _fork),
    Command("model [PROVIDER:NAME]", phrase("Show or change the model of this conversation."), _model),
    Command("quit", phrase("Leave. The session is kept."), _quit),
)
COMMANDS = {command.name: command for command in _ALL}
