"""The real mind in a real runtime, with a companion, a model, a clock and a bus that do what a script says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import PersonaError, StorageError
from persona_hooks.journal import JsonlJournal
from persona_hooks.messages import COMPANION, MEMORY_OWNER, OwnerChanged
from persona_hooks.ports import Capabilities, Completed, Completion
from persona_host.runtime import Runtime, Setup
from persona_mind.kernel.identity import content_id, key
from persona_mind.plugin import MindPlugin
from tests.support.crash.script import PERSONAS, TEXTS, TIERS, Step
from tests.support.crash.shelves import conflict, shelved, standing
from tests.support.desk import Notices

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.messages import Message
    from persona_hooks.ports import Host
    from persona_hooks.verbs import Answer
    from tests.support.clock import ManualClock

NAME = "scripted"
SESSION = "s1"
CALLS = {
    "remember": ("memory.remember", ("text", "scope")),
    "forget": ("memory.forget", ("id",)),
    "promote": ("memory.promote", ("id",)),
    "add": ("backlog.add", ("text", "due")),
    "note": ("notes.save", ("text",)),
    "off": ("mind.off", ()),
    "on": ("mind.on", ()),
    "doctor": ("mind.doctor", ()),
    "backup": ("profile.backups", ()),
    "erase": ("memory.erase", ("id",)),
    "insist": ("memory.remember", ("text", "scope", "insist")),
    "save": ("profile.backup", ("path",)),
    "restore": ("profile.restore", ("path", "yes", "newer")),
    "merge": ("profile.merge", ()),
}
"""The actions that are one call of a verb, and what it is given."""
SHELVING = frozenset({"save", "restore"})


class Nobody:
    """Stands where the companion's plugin would; the script answers instead."""

    def __init__(self, host: Host) -> None:
        self.host = host


class Companion:
    """Answers as a step says, and changes its mind in the middle of it where the step says so."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._clients = [runtime._bus.client(NAME), runtime._bus.client("second")]
        self._step: Step | None = None
        self._answers = 0
        for client in self._clients:
            client.provide(COMPANION, lambda message, name=client.name: self._companion(name, message))
        self._clients[0].provide(MEMORY_OWNER, self._owner)

    def take(self, step: Step) -> None:
        """Answer by this step from now on, and say so."""
        self._step, self._answers = step, 0
        ready = step.companion == "ready"
        news = OwnerChanged(
            provider=NAME, session_id=SESSION, seat="main", ready=ready, persona=step.persona if ready else None
        )
        self._clients[0].publish(news)

    def _companion(self, name: str, message: Message) -> dict[str, object] | None:
        mode = "ready" if self._step is None else self._step.companion
        if mode == "nobody" or (name != NAME and mode != "twice"):
            return None
        if mode == "raising":
            raise OSError("the companion's own trouble")
        return {"provider": name, "contract": 1, "release": "1", "sessionId": getattr(message, "session_id", "")}

    def _owner(self, message: Message) -> dict[str, object] | None:
        step = self._step
        persona, mode = (PERSONAS[0], "ready") if step is None else (step.persona, step.companion)
        self._answers += 1
        if step is not None and step.turning is not None and self._answers > step.turning:
            if step.revoked:
                return None
            persona = PERSONAS[1 - PERSONAS.index(persona)]
        session = "elsewhere" if mode == "stranger" else getattr(message, "session_id", "")
        seat = getattr(message, "seat", "main")
        return {
            "provider": NAME, "sessionId": session, "seat": seat, "ready": mode != "late", "persona": persona
        }  # fmt: skip


@dataclass
class Model:
    """Says in a turn what the step says; what it asks for is a tool call as JSON, or is not."""

    step: Step | None = None
    asked: list[str] = field(default_factory=list)

    def complete(self, request: Completion) -> Completed:
        """Answer."""
        self.asked.append(request.prompt)
        step = self.step
        if step is None or step.reply == "fails":
            raise StorageError("The provider did not answer.", path="model")
        calls = {
            "remember": {"tool": "memory", "action": "remember", "text": step.text, "scope": step.tier},
            "add": {"tool": "backlog", "action": "add", "text": step.text},
            "nonsense": {"tool": "memory", "action": "remember", "text": 7, "scope": "everywhere"},
            "unknown": {"tool": "memory", "action": "explode", "text": step.text},
        }
        call = calls.get(step.reply)
        return Completed("I would rather talk." if call is None else json.dumps(call), "scripted")


class World:
    """One process of a host: everything that a step can ask for."""

    def __init__(self, home: Path, clock: ManualClock) -> None:
        self.clock = clock
        self.model = Model()
        self._home = home
        self._cwd = home / "work"
        plugins = [("persona_companion", lambda: Nobody), ("persona_mind", lambda: MindPlugin)]
        setup = Setup("sim", home / "agent", home, {}, Capabilities(ui=False), lambda: plugins, patience=1e9)
        self.runtime = Runtime.start(setup, ui=Notices(), models=self.model, scheduler=clock)
        self.companion = Companion(self.runtime)
        self.open()

    def open(self) -> None:
        """Open the session on its log."""
        path = self._home / "agent" / "persona-host" / "s1.jsonl"
        journal = JsonlJournal(path, SESSION, self._cwd, lasting=True, now=self.clock.now)
        self.runtime.open(journal, session_id=SESSION, cwd=self._cwd)

    def perform(self, step: Step) -> Answer | None:
        """Do what a step says; None where no verb answers for it."""
        if step.action in CALLS:
            name, wanted = CALLS[step.action]
            given = {"text": step.text, "scope": step.tier, "id": fact_id(step.text), "due": 600, "insist": True}
            if step.action == "erase":
                given["id"] = standing(self._home / "agent", step.text) or given["id"]
            if step.action == "merge":
                conflict(self._home / "agent", self.path(step), step.persona)
            if step.action in SHELVING:
                given |= {"path": self.path(step), "yes": True, "newer": True}
            return self._call(name, **{word: given[word] for word in wanted})
        match step.action:
            case "finish":
                return self._finish()
            case "turn":
                return self._turn(step)
            case "hear":
                self.runtime.input(f"Remember that {step.text.lower()}")
            case "settle":
                self.runtime.settled()
            case "restart":
                self.open()
            case _:
                raise AssertionError(step.action)
        return None

    def path(self, step: Step) -> str:
        """Where a step puts a backup, or takes it from."""
        shelf = shelved(self._home / "agent")
        if step.action == "save":
            return f"{self._home}/agent/saved-{sum('/' in path for path in shelf)}"
        return shelf[(TEXTS.index(step.text) * len(TIERS) + TIERS.index(step.tier)) % len(shelf)] if shelf else "none"

    def _call(self, name: str, **arguments: Any) -> Answer:  # noqa: ANN401 - JSON values
        return self.runtime.call(
            name, arguments, session=self.runtime.session, origin="user", audience="person", lax=True
        )

    def _finish(self) -> Answer:
        listed = self._call("backlog.list")
        ids = listed.details.get("ids") or ["none"]
        return self._call("backlog.done", id=ids[0])

    def _turn(self, step: Step) -> Answer | None:
        """One turn of a model: it is given what is remembered, answers, and its call is performed."""
        self.model.step = step
        blocks = self.runtime.blocks(step.text)
        try:
            said = self.model.complete(Completion("\n\n".join(block.text for block in blocks), step.text)).text
            call = json.loads(said)
        except (PersonaError, ValueError):
            return None
        answer = self.runtime.tool(call.pop("tool"), call)
        self.runtime.settled()
        return answer


def fact_id(text: str) -> str:
    """The id of a note of this text."""
    return content_id(key("note", text, ()))
