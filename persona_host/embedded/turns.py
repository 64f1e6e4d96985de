"""The turn loop: from what a person says to the point where nothing more will happen.

Hooks fire in the order every host keeps: ``input``, ``before_turn``, ``before_agent_start``, ``agent_start``, then
``message_end``, ``tool_call`` and ``tool_result`` as they come, ``agent_end``, ``agent_settled``. A message is in the
session log before its ``message_end`` fires. Injected blocks go into the request and nowhere else.
"""

from __future__ import annotations

import queue
import re
from typing import TYPE_CHECKING, Any

from persona_hooks.cards import Card
from persona_hooks.errors import PersonaError
from persona_hooks.specs import Handled, ToolVerdict, Transform, Usage
from persona_hooks.speech import phrase, say, worded
from persona_hooks.verbs import refusal
from persona_host.embedded.choice import HOW, facts
from persona_host.embedded.screen import Event, carded
from persona_host.embedded.transcript import ROLES, Line, Replied, Returned, Said, ToolCall, lines
from persona_host.embedded.undisturbed import undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_hooks.journal import SessionLog
    from persona_hooks.ports import Entry
    from persona_hooks.specs import Block
    from persona_host.embedded.agent import Agent, Step
    from persona_host.embedded.choice import Choice
    from persona_host.embedded.models import HostModels
    from persona_host.embedded.screen import Screen
    from persona_host.runtime import Runtime

_FENCE = re.compile(r"</?[a-z][\w.-]*(\s[^<>]*)?>")

ROUNDS = 24
"""Model requests that one message may lead to; a model that only calls tools is stopped there."""


class Turns:
    """The conversation of the session that is open in a runtime.

    Attributes:
        on_arrival: Called, from any thread, whenever ``drain`` has something to show.
    """

    def __init__(self, runtime: Runtime, models: HostModels, screen: Screen) -> None:
        self._runtime = runtime
        self._models = models
        self._screen = screen
        self._journal: SessionLog
        self._agent: Agent | None = None
        self._told = False
        self._arrived: queue.SimpleQueue[Entry] = queue.SimpleQueue()
        self._unsubscribe: Callable[[], object] = lambda: None
        self.on_arrival: Callable[[], None] = lambda: None

    def attach(self, journal: SessionLog) -> None:
        """Converse in the session that this log belongs to."""
        self.detach()
        self._journal = journal
        self._told = False
        self._unsubscribe = journal.on_append(self.arrived)

    def detach(self) -> None:
        """Show what the log that is left has brought, and nothing that comes to it later: it has another owner."""
        self.drain()
        unsubscribe, self._unsubscribe = self._unsubscribe, lambda: None
        unsubscribe()

    def arrived(self, entry: Entry) -> None:
        """Take a custom entry that was appended to the log, from any thread; ``drain`` shows it."""
        if entry.type == "custom":
            self._arrived.put(entry)
            self.on_arrival()

    def drain(self) -> None:
        """Show the cards of entries that were appended since."""
        while not self._arrived.empty():
            entry = self._arrived.get()
            card = self._runtime.render(entry)
            if card is not None:
                data = {"entry": entry.id, "type": entry.custom_type, **entry.data}
                self._screen.show(carded(card, data=data))

    def say(self, text: str) -> None:
        """Take one message of the person's to its end.

        Raises:
            KeyboardInterrupt: The person stopped it. What was said stays in the log.
        """
        stopped = True
        try:
            stopped = not self._begin(text)
        finally:
            self.drain()
            for card in self._runtime.settled(aborted=stopped):
                self._screen.show(carded(card))
            self.drain()

    def close(self) -> None:
        """Show what came late and close the connection to the model."""
        self.drain()
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.close()

    def _begin(self, text: str) -> bool:
        """Prepare a turn and run it; return whether it ran to its end."""
        result = self._runtime.input(text)
        self.drain()
        if isinstance(result, Handled):
            self._screen.show(carded(result.card, "handled", whole=True))
            return True
        if isinstance(result, Transform):
            text = result.text
        self._runtime.fire("before_turn", text=text)
        self.drain()
        blocks = self._runtime.blocks(text)
        self._log(Said(text))
        if self._models.session is None:
            self._screen.show(no_model(blocks, told=self._told))
            self._told = True
            return True
        return self._run(self._models.session, blocks)

    def _run(self, choice: Choice, blocks: list[Block]) -> bool:
        self._runtime.fire("agent_start")
        try:
            self._rounds(choice, joined(blocks))
        except PersonaError as error:
            answer = refusal("model", error)
            self._screen.show(Event("error", ok=False, card=answer.card, data=answer.details))
        finally:
            self._runtime.fire("agent_end")
        return True

    def _rounds(self, choice: Choice, instructions: str) -> None:
        for _ in range(ROUNDS):
            step = self._request(choice, instructions)
            self._log(step.reply, step.usage)
            if step.reply.text or not step.reply.calls:
                self._screen.show(self._replied(step, choice))
            if not step.reply.calls:
                return
            for call in step.reply.calls:
                self._tool(call)
        card = Card(
            say("Stopped after {number} requests: the model keeps calling tools.", number=ROUNDS), level="warning"
        )
        self._screen.show(Event("error", ok=False, card=card, data={"reason": "too_many_rounds"}))

    def _request(self, choice: Choice, instructions: str) -> Step:
        from persona_host.embedded.agent import Ask  # noqa: PLC0415 - asyncio; only a real call needs it

        heard: list[str] = []

        def hear(piece: str) -> None:
            heard.append(piece)
            self._screen.delta(piece)

        history = lines(self._journal.branch())
        ask = Ask(history, instructions, self._runtime.tools("model"))
        self._screen.waiting()
        try:
            return self._agent_for(choice).step(ask, hear)
        except (KeyboardInterrupt, PersonaError):
            if heard:
                self._log(Replied("".join(heard), model=choice.label, aborted=True))
            raise

    def _agent_for(self, choice: Choice) -> Agent:
        from persona_host.embedded.agent import Agent  # noqa: PLC0415 - asyncio; only a real call needs it

        if self._agent is None or self._agent.choice != choice:
            self.close()
            self._agent = Agent(choice, self._runtime.setup.environ)
        return self._agent

    def _tool(self, call: ToolCall) -> None:
        """Run one tool call, log what came of it and show it."""
        (event, told), interrupted = undisturbed(lambda: self._called(call))
        text = self._replaced(call, told, is_error=not event.ok)
        self._screen.show(event)
        self._log(Returned(call.id, call.tool, text, is_error=not event.ok))
        if interrupted:
            raise KeyboardInterrupt

    def _called(self, call: ToolCall) -> tuple[Event, str]:
        """Run one tool call; return what came of it for the person, and in English for the model."""
        about: dict[str, Any] = {"tool": call.tool, "callId": call.id}
        if isinstance(call.arguments, str):
            why = phrase("{verb}: the arguments are not a JSON object.", verb=call.tool)
            return self._unasked(why, {**about, "reason": "invalid"})
        verdict = self._runtime.fire(
            "tool_call", tool=call.tool, call_id=call.id, arguments=call.arguments, parent_tool_call_id=None
        ).handled
        if isinstance(verdict, ToolVerdict):
            return self._unasked(verdict.reason, {**about, "reason": "vetoed"})
        answer = self._runtime.tool(call.tool, call.arguments, origin="model", audience="model")
        with self._runtime.speaking():
            card = answer.anew()
        data = {**about, "verb": answer.verb, **answer.details}
        return Event("tool", ok=answer.ok, card=card, data=data), answer.text

    def _unasked(self, why: str, about: dict[str, Any]) -> tuple[Event, str]:
        with self._runtime.speaking():
            card = Card(worded(why), level="warning")
        return Event("tool", ok=False, card=card, data=about), str(why)

    def _replaced(self, call: ToolCall, text: str, *, is_error: bool) -> str:
        replaced = self._runtime.fire(
            "tool_result",
            tool=call.tool,
            call_id=call.id,
            text=text,
            is_error=is_error,
            parent_tool_call_id=None,
        ).handled
        return replaced if isinstance(replaced, str) else text

    def _log(self, line: Line, usage: Usage | None = None) -> None:
        role = ROLES[type(line)]
        self._journal.message(role, line.text, **line.data(), **self._whose())
        self._runtime.fire("message_end", role=role, usage=usage or Usage())
        self.drain()

    def _whose(self) -> dict[str, Any]:
        """Return what the log says of whose conversation it is; nothing while no owner can be relied on."""
        try:
            return {"persona": self._runtime.owner().persona}
        except PersonaError:
            return {}

    def _replied(self, step: Step, choice: Choice) -> Event:
        data: Mapping[str, Any] = {
            "model": choice.label,
            "session": self._runtime.session.id,
            "inputTokens": step.usage.input_tokens,
            "outputTokens": step.usage.output_tokens,
        }
        if step.reply.text or step.reply.calls:
            return Event("reply", ok=True, card=Card(say("Reply")), data=data, said=step.reply.text)
        return Event("reply", ok=False, card=Card(say("The model sent an empty reply."), level="warning"), data=data)


def joined(blocks: list[Block]) -> str:
    """Return the blocks as the text that precedes a request."""
    return "\n\n".join(block.text for block in blocks)


def no_model(blocks: list[Block], *, told: bool = False) -> Event:
    """Return what stands where a reply would.

    The first time in a session it says how to get a model and what it would have read; later (``told``) one line does.
    Programs get the injected text whole each time.
    """
    injected = joined(blocks)
    card = Card(say("No model, no reply: /model tells how to get one.")) if told else _no_model_card(injected)
    return Event("no_model", ok=True, card=card, data={**facts(None), "injected": injected}, whole=True)


def _no_model_card(injected: str) -> Card:
    # The fences are for models, and so are the empty lines between the blocks.
    lines = [line for line in injected.split("\n") if line.strip() and not _FENCE.fullmatch(line.strip())]
    would = [say("What a model would have been given:"), *(f"  {line}" for line in lines)]
    return Card(
        say("No model is configured, so there is no reply."),
        (worded(HOW),),
        tuple(would) if lines else (say("Nothing would have been injected."),),
    )
