"""The methods of ``persona stdio``: each is one call of the runtime and a value back.

=========================  ========  ====================================================================
``initialize``             ordered   opens the session; answers what is offered and which hooks are heard
``ping``                   ordered   answers once everything before it is done
``event/<hook>``           ordered   some answer: see docs/hosts.md; the others are told
``companion``              ordered   tells what the host's own companions say now
``tool``, ``command``      own       perform a verb
``complete``, ``cards``    own       completion of a command line; cards of entries, made now
``shutdown``               ordered   ends the session; the host then closes the stream
=========================  ========  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from persona_hooks.commands import complete
from persona_hooks.errors import ConflictError, InvalidError, UnsupportedVersionError
from persona_hooks.ports import Capabilities, Entry, SessionReason
from persona_hooks.reference import manifest
from persona_hooks.specs import Handled, InputSource, ToolVerdict, Transform, Usage
from persona_hooks.speech import phrase
from persona_hooks.wellformed import is_text
from persona_host.adapters.stdio.foreign import Foreign
from persona_host.adapters.stdio.journal import Identity, RemoteJournal
from persona_host.adapters.stdio.lent import RemoteModels, RemoteUi, card_on_the_wire
from persona_host.adapters.stdio.speaker import Speaker

if TYPE_CHECKING:
    from persona_hooks.ports import Models, Ui
    from persona_hooks.verbs import Answer
    from persona_host.adapters.stdio.peer import Incoming, Json, Peer
    from persona_host.runtime import Runtime

PROTOCOL = 1
_MAX_CARDS = 1_000
"""Cards that are made in one call; more than a screen shows."""

MakeRuntime = Callable[[str, Capabilities, "Ui", "Models"], "Runtime"]
Run = Callable[["Runtime", "Incoming"], Mapping[str, Any]]


class Service:
    """One session of a foreign host."""

    def __init__(
        self, peer: Peer, make_runtime: MakeRuntime, *, release: str, persona: str | None = None, role: str = ""
    ) -> None:
        self._peer = peer
        self._make_runtime = make_runtime
        self._release = release
        self._persona = persona
        self._role = role
        self._runtime: Runtime | None = None
        self._journal: RemoteJournal | None = None
        self._speaker: Speaker | None = None
        self._foreign = Foreign()
        self._offered: list[str] = []
        peer.serve("initialize", "ordered", self._initialize)
        peer.serve("ping", "ordered", lambda _: {})
        peer.serve("shutdown", "ordered", self._shutdown)
        peer.serve("companion", "ordered", self._on(lambda _runtime, _call: {}))
        for hook, event in _EVENTS.items():
            peer.serve(f"event/{hook}", "ordered", self._on(event))
        for method, run in {"tool": _tool, "command": _command, "complete": _complete, "cards": _cards}.items():
            peer.serve(method, "own", self._on(run))

    def close(self) -> None:
        """End the session, if the host did not; used when its end of the stream is closed."""
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None

    def _on(self, run: Run) -> Callable[[Incoming], Mapping[str, Any]]:
        def method(call: Incoming) -> Mapping[str, Any]:
            runtime = self._runtime
            if runtime is None:
                raise ConflictError(phrase("No session is open."), reason="no_session")
            with runtime.speaking():
                changed = self._moved(runtime, call)
                answer = run(runtime, call)
                if changed or call.method in _MAY_CHANGE_THE_OFFER:
                    self._offer(runtime)
            return answer

        return method

    def _moved(self, runtime: Runtime, call: Incoming) -> bool:
        """Take note of where the host is now; return whether the owner may be another one."""
        params = call.params
        if self._journal is not None and "leaf" in params:
            self._journal.moved(params["leaf"])
        changed = "foreign" in params and self._foreign.take(params["foreign"])
        if changed:
            runtime.owner_changed()
        if self._speaker is not None and call.method == "event/session_tree":
            self._speaker.moved()
        elif self._speaker is not None and call.method in _BEFORE_A_MESSAGE:
            self._speaker.tell(runtime)
        elif self._speaker is not None and call.method in _AFTER_MESSAGES:
            self._speaker.catch_up(runtime)
        return changed

    def _initialize(self, call: Incoming) -> Mapping[str, Any]:
        params = call.params
        if params.get("protocol") != PROTOCOL:
            raise UnsupportedVersionError(
                f"This release speaks protocol {PROTOCOL}; install the host's side again.", reason="protocol"
            )
        if self._runtime is not None:
            raise ConflictError(phrase("The session is open already."), reason="initialized")
        identity, host = _identity(params), _mapping(params, "host")
        runtime = self._make_runtime(
            _text(host, "name"), _capabilities(host), RemoteUi(self._peer), RemoteModels(self._peer)
        )
        self._foreign.take(params.get("foreign"))
        runtime.answered_outside(self._foreign.answer)
        self._journal = RemoteJournal(self._peer, identity, params.get("leaf"), self._appended, self._foreign)
        self._speaker = Speaker(self._journal)
        runtime.open(
            self._journal,
            session_id=identity.session_id,
            cwd=identity.cwd,
            reason=_one_of(params, "reason", SessionReason),
            trusted=params.get("trusted") is True,
            persona=_perhaps(params, "persona") or self._persona,
            role=_perhaps(params, "role") or self._role,
        )
        self._runtime = runtime
        return self._greeting(runtime, params.get("manifest"))

    def _greeting(self, runtime: Runtime, known: object) -> Mapping[str, Any]:
        """Say what there is. A manifest that the host does not know yet comes whole."""
        current = manifest(runtime.registry, runtime.renders())
        self._offered = [tool.name for tool in runtime.tools("model")]
        states = runtime.states()
        greeting: Json = {
            "protocol": PROTOCOL,
            "release": self._release,
            "manifest": current["hash"],
            "tools": self._offered,
            "hooks": sorted({hook for state in states for hook in state.hooks}),
            "failed": [state.name for state in states if state.state == "failed"],
        }
        return greeting if known == current["hash"] else {**greeting, "current": current}

    def _offer(self, runtime: Runtime) -> None:
        names = [tool.name for tool in runtime.tools("model")]
        if names != self._offered:
            self._offered = names
            self._peer.notify("host.tools", {"names": names})

    def _appended(self, entry: Entry) -> None:
        # Not now: the writer may hold the lock that rendering wants to read under.
        self._peer.later(lambda: self._show(entry))

    def _show(self, entry: Entry) -> None:
        runtime = self._runtime
        card = runtime.render(entry) if runtime is not None else None
        if runtime is not None and card is not None:
            with runtime.speaking():
                self._peer.notify("ui.card", {"entryId": entry.id, **card_on_the_wire(card)})

    def _shutdown(self, _: Incoming) -> Mapping[str, Any]:
        self.close()
        return {}


_MAY_CHANGE_THE_OFFER = frozenset({"command", "event/agent_settled", "event/session_tree"})
_BEFORE_A_MESSAGE = frozenset({"event/input", "event/before_agent_start"})
_AFTER_MESSAGES = frozenset({"event/agent_end", "event/agent_settled"})


def _input(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    result = runtime.input(_text(call.params, "text"), _one_of(call.params, "source", InputSource))
    if isinstance(result, Handled):
        return {"action": "handled", "card": card_on_the_wire(result.card)}
    if isinstance(result, Transform):
        return {"action": "transform", "text": result.text}
    return {"action": "continue"}


def _before_agent_start(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    blocks = runtime.blocks(_text(call.params, "prompt"))
    return {"block": "\n\n".join(block.text for block in blocks)}


def _settled(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    cards = runtime.settled(aborted=call.params.get("aborted") is True)
    return {"cards": [card_on_the_wire(card) for card in cards]}


def _message_end(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    usage = _mapping(call.params, "usage")
    counts = [usage.get(key, 0) for key in ("input", "output", "cache")]
    numbers = [count if isinstance(count, int) and count >= 0 else 0 for count in counts]
    runtime.fire("message_end", role=_text(call.params, "role"), usage=Usage(*numbers))
    return {}


def _tool_call(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    verdict = runtime.fire("tool_call", **_of_tool(call), arguments=_mapping(call.params, "arguments")).handled
    return {"veto": verdict.reason} if isinstance(verdict, ToolVerdict) else {}


def _tool_result(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    text, failed = _text(call.params, "text"), call.params.get("isError") is True
    replaced = runtime.fire("tool_result", **_of_tool(call), text=text, is_error=failed).handled
    return {"text": replaced} if isinstance(replaced, str) and replaced != text else {}


def _of_tool(call: Incoming) -> dict[str, str | None]:
    params = call.params
    return {
        "tool": _text(params, "tool"),
        "call_id": _text(params, "callId"),
        "parent_tool_call_id": _perhaps(params, "parent"),
    }


def _told(hook: str, **names: str) -> Run:
    """Return an event that is only told, with these of its parameters under their names in the hook."""

    def event(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
        runtime.fire(hook, **{name: _text(call.params, key) for name, key in names.items()})
        return {}

    return event


_EVENTS: Mapping[str, Run] = {
    "input": _input,
    "before_agent_start": _before_agent_start,
    "before_turn": _told("before_turn", text="text"),
    "agent_start": _told("agent_start"),
    "agent_end": _told("agent_end"),
    "agent_settled": _settled,
    "message_start": _told("message_start", custom_type="customType", text="text"),
    "message_end": _message_end,
    "model_select": _told("model_select", model="model"),
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "session_tree": _told("session_tree"),
    "session_compact": _told("session_compact"),
}


def _tool(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    answer = runtime.tool(
        _text(call.params, "name"),
        _mapping(call.params, "arguments"),
        wanted=lambda: not call.cancelled.is_set(),
    )
    return {**_answer(answer), "text": answer.text, "details": dict(answer.details)}


def _command(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    answer = runtime.command(_text(call.params, "line"))
    return {**_answer(answer), "card": card_on_the_wire(answer.card)}


def _answer(answer: Answer) -> Json:
    return {"ok": answer.ok, "changed": answer.changed}


def _complete(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    return {"items": complete(runtime.registry, _text(call.params, "line"))}


def _cards(runtime: Runtime, call: Incoming) -> Mapping[str, Any]:
    entries = call.params.get("entries")
    if not isinstance(entries, list):
        raise InvalidError("entries must be a list.", field="entries")
    if len(entries) > _MAX_CARDS:
        raise InvalidError(f"entries: at most {_MAX_CARDS} cards are made at once.", field="entries")
    wanted = [
        Entry(item["id"], None, "", "custom", item["customType"], _mapping(item, "data"))
        for item in entries
        if isinstance(item, dict) and isinstance(item.get("id"), str) and isinstance(item.get("customType"), str)
    ]
    cards = {entry.id: runtime.render(entry) for entry in wanted}
    return {"cards": {key: card_on_the_wire(card) for key, card in cards.items() if card is not None}}


def _identity(params: Json) -> Identity:
    file = params.get("sessionFile")
    generation = params.get("generation")
    if not isinstance(generation, int):
        raise InvalidError("initialize: generation must be a number.", field="generation")
    return Identity(
        nonce=_text(params, "nonce"),
        generation=generation,
        session_id=_text(params, "sessionId"),
        session_file=Path(file) if isinstance(file, str) else None,
        cwd=Path(_text(params, "cwd")),
    )


def _capabilities(host: Json) -> Capabilities:
    """Return everything, less what the host says that it lacks."""
    lacks = host.get("lacks", [])
    return Capabilities(**{name: False for name in lacks if name in Capabilities._fields})


def _text(params: Json, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise InvalidError(f"{key} must be a string.", field=key)
    if not is_text(value):
        raise InvalidError(f"{key} holds half a character (a lone surrogate).", field=key)
    return value


def _perhaps(params: Json, key: str) -> str | None:
    return None if params.get(key) is None else _text(params, key)


def _mapping(params: Json, key: str) -> Json:
    value = params.get(key)
    if not isinstance(value, dict):
        raise InvalidError(f"{key} must be an object.", field=key)
    return value


def _one_of(params: Json, key: str, literal: Any) -> Any:  # noqa: ANN401 - a Literal type and one of its values
    value = params.get(key)
    if value not in get_args(literal):
        raise InvalidError(f"{key} must be one of {', '.join(get_args(literal))}.", field=key)
    return value
