"""One session of Claude Code over one runtime: its events in, the JSON that Claude Code reads out.

The same in a hook of its own and in the server that answers many. Nothing here knows which one it is.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from persona_hooks.cards import Card
from persona_hooks.errors import ConflictError
from persona_hooks.ports import Capabilities
from persona_hooks.specs import Handled
from persona_hooks.speech import phrase, say, thousands
from persona_hooks.switches import is_set
from persona_host.adapters.claude_code.log import Log, log_name
from persona_host.adapters.claude_code.told import PLUGIN, Notices, here, worded
from persona_host.headless import NoModels, SystemScheduler
from persona_host.helping import groups
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from persona_hooks.ports import Entry, SessionReason
    from persona_hooks.specs import InputSource
    from persona_host.adapters.claude_code.payload import Event

NAME: Final = "claude-code"
"""The host's name, as ``doctor`` and the rows that came through it say it."""
CAPABILITIES: Final = Capabilities(branches=False, models=False, scheduler=False)
"""What Claude Code lacks: its branches are not told of, it lends no model, and nothing of ours runs between events."""
LASTING: Final = CAPABILITIES._replace(scheduler=True)
"""The same where a server answers, which lives on between events."""

PATIENCE: Final = 8.0
"""How many times its budget a plugin may take: the person waits for the process anyway, and a busy machine is slow."""

_REASONS: Final[Mapping[str, SessionReason]] = {"startup": "startup", "clear": "new", "fork": "fork"}
_SOURCES: Final[Mapping[str, InputSource]] = {"": "interactive", "user": "interactive", "sdk": "rpc"}
"""Where a prompt comes from, as later releases say; whatever else it is, the person did not type it."""
MAX_CONTEXT: Final = 10_000
"""Characters that Claude Code passes on to the model whole."""
CATCH_UP: Final = 1.0
"""Seconds that a process which is about to end gives to what a plugin does after its time."""
_COMMAND: Final = re.compile(rf"/(?:{PLUGIN}:)?(?P<group>[a-z][\w-]*)(?=\s|$)")
Output = dict[str, Any]


class Whose(NamedTuple):
    """Whose memory a conversation works with.

    Attributes:
        agent_dir: Where everything of ours is kept.
        home: The person's home directory.
        environ: The environment, read once.
    """

    agent_dir: Path
    home: Path
    environ: Mapping[str, str]


class ClosedError(Exception):
    """The conversation was closed meanwhile; another one answers."""


class Conversation:
    """One session of Claude Code, from its first event until ``close``; events are answered one after the other.

    Nothing is read or loaded before the first of them.

    Args:
        whose: Whose memory it is.
        event: The event that it is made for.
        capabilities: ``CAPABILITIES``, or ``LASTING`` in a process that lives on.
        plugins: Where plugins come from.
    """

    def __init__(
        self,
        whose: Whose,
        event: Event,
        *,
        capabilities: Capabilities = CAPABILITIES,
        plugins: Callable[[], Found] = entry_points,
    ) -> None:
        self._notices = Notices()
        self._lock = threading.Lock()
        self._arrived: list[Entry] = []
        self._setup = Setup(NAME, whose.agent_dir, whose.home, whose.environ, capabilities, plugins, PATIENCE, here)
        self._first = event
        lasting = not is_set(whose.environ.get("PI_PERSONA_DISABLE"))
        self._log = Log(whose.agent_dir, event.cwd, log_name(event), lasting=lasting, arrived=self._arrived.append)
        self._begun: Runtime | None = None
        self._closed = False

    def current(self) -> Runtime:
        """Return the runtime, its session opened anew where another process has gone on with it meanwhile.

        Raises:
            ConflictError: The conversation was closed.
        """
        with self._lock:
            try:
                self._renew()
            except ClosedError:
                raise ConflictError(phrase("No session is open."), reason="no_session") from None
            return self._runtime

    def answer(self, event: Event) -> Output:
        """Return the JSON for one event, empty where there is nothing to say.

        Raises:
            ClosedError: Nothing was done.
            PersonaError: The session's log cannot be read.
        """
        with self._lock:
            self._renew()
            output = _EVENTS[event.name](self, event)
            self._show()
            if "decision" not in output and (text := self._notices.take()):
                output["systemMessage"] = text
        return output

    def settle(self) -> None:
        """Do what can wait; what it has to tell is told with the next event."""
        with self._lock:
            if self._closed or self._begun is None:
                return
            for card in self._runtime.settled():
                self._notices.card(card)
            self._show()

    def caught_up(self) -> None:
        """Wait for what a plugin still does after its time, so that it neither is cut off nor goes unsaid."""
        with self._lock:
            if self._begun is not None:
                self._begun.caught_up(CATCH_UP)

    def shown(self) -> str:
        """Return what is to be shown and was not yet, and forget it."""
        return self._notices.take()

    def close(self) -> None:
        """End the session here; its log stays for whoever goes on with it."""
        with self._lock:
            self._closed = True
            if self._begun is not None:
                self._begun.close()

    def started(self, event: Event) -> Output:
        """Greet: what is due is shown, and what is remembered comes with the first prompt."""
        del event
        self._runtime.fire("agent_start")
        return {}

    def prompted(self, event: Event) -> Output:
        """Answer a command, or capture from a prompt and give the model what is remembered."""
        command = self._command(event, event.prompt)
        if command is not None:
            return self._performed(event, command)
        runtime, source = self._runtime, _source(event)
        result = runtime.input(event.prompt, source)
        if isinstance(result, Handled):
            return _blocked(event, result.card)
        self._runtime.fire("before_turn", text=event.prompt)
        text = "\n\n".join(block.text for block in runtime.blocks(event.prompt))
        if len(text) > MAX_CONTEXT:
            with runtime.speaking():
                self._notices.notify(
                    say(
                        "What goes with this prompt is longer than Claude Code passes on whole ({limit} characters): "
                        "Claude is shown its beginning and where the rest is.",
                        limit=thousands(MAX_CONTEXT),
                    ),
                    "warning",
                )
        runtime.fire("agent_start")
        return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}} if text else {}

    def expanded(self, event: Event) -> Output:
        """Answer a command of ours that is about to become a prompt."""
        command = self._command(event, f"/{event.command_name} {event.command_args}".rstrip())
        return {} if command is None else self._performed(event, command)

    def compacted(self, event: Event) -> Output:
        """Say that the older part of the conversation is about to be summarised."""
        del event
        self._runtime.fire("session_compact")
        return {}

    def ended(self, event: Event) -> Output:
        """Say nothing: the session ends, and whoever holds it closes it."""
        del event
        return {}

    @property
    def _runtime(self) -> Runtime:
        assert self._begun is not None  # noqa: S101 - whoever comes in by a public method has renewed it
        return self._begun

    def _renew(self) -> None:
        if self._closed:
            raise ClosedError
        if self._begun is None:
            self._begin()
        elif self._log.passed():
            self._open("resume")

    def _begin(self) -> None:
        self._begun = Runtime.start(self._setup, ui=self._notices, models=NoModels(), scheduler=SystemScheduler())
        first = self._first
        try:
            self._open(_REASONS.get(first.source, "resume") if first.name == "SessionStart" else "resume")
        except BaseException:
            self._begun.close()
            self._begun = None
            raise

    def _open(self, reason: SessionReason) -> None:
        journal = self._log.open()
        self._runtime.open(
            journal,
            session_id=self._log.session_id,
            cwd=self._log.cwd,
            reason=reason if reason != "resume" or journal.leaf else "startup",
        )

    def _command(self, event: Event, prompt: str) -> str | None:
        """Return a prompt that the person sent and that is a command of ours as the registry spells it, or None."""
        if _source(event) == "extension":
            return None
        line = prompt.strip()
        found = _COMMAND.match(line) if line.startswith("/") else None
        if found is None or found["group"] not in groups(self._runtime.registry):
            return None
        return f"/{line[found.start('group') :]}"

    def _performed(self, event: Event, line: str) -> Output:
        if event.interrupted:
            with self._runtime.speaking():
                unknown = say(
                    "The running server took this command and did not answer: it may or may not have been done. Look "
                    "with `/mind` before you repeat it."
                )
            return _blocked(event, Card(unknown, level="warning"))
        return _blocked(event, self._runtime.command(line).card)

    def _show(self) -> None:
        """Keep the cards of entries that were appended since, to be shown."""
        arrived, self._arrived[:] = list(self._arrived), []
        for entry in arrived:
            card = self._runtime.render(entry) if entry.type == "custom" else None
            if card is not None:
                self._notices.card(card)


_EVENTS: Final[Mapping[str, Callable[[Conversation, Event], Output]]] = {
    "SessionStart": Conversation.started,
    "UserPromptSubmit": Conversation.prompted,
    "UserPromptExpansion": Conversation.expanded,
    "PreCompact": Conversation.compacted,
    "SessionEnd": Conversation.ended,
}


def encoded(output: Output) -> bytes:
    """Return an output as Claude Code reads it; nothing for nothing."""
    return json.dumps(output).encode("ascii") + b"\n" if output else b""


def _source(event: Event) -> InputSource:
    return _SOURCES.get(event.source, "extension")


def _blocked(event: Event, card: Card) -> Output:
    """Return what keeps a prompt from the model and shows its answer to the person."""
    output: Output = {"decision": "block", "reason": worded(card)}
    if event.name == "UserPromptSubmit":
        output["hookSpecificOutput"] = {"hookEventName": event.name, "suppressOriginalPrompt": True}
    return output
