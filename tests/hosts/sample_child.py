"""A ``persona stdio`` or ``persona mcp`` child with one sample plugin.

It is companion and memory in one, and misbehaves on request.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from persona_hooks import hookimpl
from persona_hooks.cards import Card
from persona_hooks.messages import COMPANION, MEMORY_OWNER, CompanionReply, Message, OwnerQuery, OwnerReply
from persona_hooks.ports import Completion, Host, Session
from persona_hooks.specs import Block, Handled, InputResult, Renderers, ToolVerdict, Transform, Usage
from persona_hooks.verbs import EVERYONE, Call, NoParams, Outcome, Params, Place, Registry, Verb
from persona_host.adapters.mcp.serve import serve_mcp
from persona_host.adapters.stdio.serve import serve_stdio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_host.loading import Found


class Text(Params):
    """Take a text."""

    text: Annotated[str, Place.REST]


class Said(Outcome):
    """What came of it."""

    said: str = ""


def verb(name: str, run: Callable[[Call, Text], Said]) -> Verb[Text, Said]:
    return Verb(name, Text, "write", run, lambda outcome: Card(outcome.said), EVERYONE, name.replace(".", " "))


def stop() -> None:
    """Stop this process. The signal may reach another thread first, so this one waits for it."""
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(1)


class SamplePlugin:
    """Keeps what it is told in the session log, and what happened in a list."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.seen: list[str] = []
        self.ready = True

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        registry.add(
            verb("sample.keep", self._keep),
            verb("sample.sleep", self._sleep),
            verb("sample.noise", self._noise),
            verb("sample.fail", self._fail),
            verb("sample.ask", self._ask),
            verb("sample.role", lambda call, _: Said(said=call.session.role)),
            Verb("sample.seen", NoParams, "read", self._seen, lambda o: Card(o.said), EVERYONE, "sample seen"),
            Verb("sample.off", NoParams, "write", self._off, lambda o: Card(o.said), EVERYONE, "sample off"),
        )

    @hookimpl
    def register_renderers(self, renderers: Renderers) -> None:
        renderers.add("sample-card", self._render)

    @hookimpl
    def session_start(self, session: Session) -> None:
        self.host.bus.provide(
            COMPANION, lambda _: CompanionReply(provider="s", contract=1, release="0", session_id=session.id)
        )
        self.host.bus.provide(MEMORY_OWNER, self._owner)

    def _owner(self, query: Message) -> OwnerReply:
        assert isinstance(query, OwnerQuery)
        return OwnerReply(provider="s", session_id=query.session_id, seat=query.seat, ready=self.ready, persona=None)

    @hookimpl
    def session_shutdown(self) -> None:
        Path(self.host.environ["SAMPLE_END"]).write_text("shut down", encoding="utf-8")

    @hookimpl
    def input(self, session: Session, text: str) -> InputResult | None:
        if text == "hang":
            time.sleep(3600)
        if text == "stop":
            stop()
        if text == "die":
            os._exit(3)
        if text.startswith("keep "):
            session.journal.append(session.guard(leaf=True), "sample-card", {"id": text[5:]})
        if text.startswith("answer "):
            return Handled(Card(text[7:].upper()))
        return Transform(text.removeprefix("change ")) if text.startswith("change ") else None

    @hookimpl
    def before_agent_start(self, session: Session, prompt: str) -> list[Block]:
        kept = [str(entry.data.get("id")) for entry in session.journal.branch("sample-card")]
        return [Block("later", f"prompt={prompt}", 60), Block("first", f"kept={','.join(kept)}", 10)]

    @hookimpl
    def agent_start(self) -> None:
        self.seen.append("agent_start")

    @hookimpl
    def agent_end(self) -> None:
        self.seen.append("agent_end")

    @hookimpl
    def message_end(self, role: str, usage: Usage) -> None:
        self.seen.append(f"{role}:{usage.input_tokens}+{usage.output_tokens}")

    @hookimpl
    def tool_call(
        self, tool: str, call_id: str, arguments: Mapping[str, object], parent_tool_call_id: str | None
    ) -> ToolVerdict | None:
        self.seen.append(f"call:{tool}:{call_id}:{parent_tool_call_id}")
        if arguments.get("command") == "hang":
            stop()
        return ToolVerdict("Not this one.") if arguments.get("command") == "echo forbidden" else None

    @hookimpl
    def tool_result(self, tool: str, call_id: str, text: str, is_error: bool) -> str | None:  # noqa: FBT001 - the hook's
        self.seen.append(f"result:{tool}:{call_id}:{is_error}")
        return text.replace("hush", "****") if "hush" in text else None

    def _render(self, session: Session, data: Mapping[str, object]) -> Card:
        del session
        return Card(f"Kept {data['id']}\x1b[31m")

    def _keep(self, call: Call, params: Text) -> Said:
        receipt = call.session.journal.append(call.session.guard(leaf=True), "sample-card", {"id": params.text})
        return Said(changed="yes", said=f"{receipt.id} durable={receipt.durable}")

    def _sleep(self, call: Call, params: Text) -> Said:
        until = time.monotonic() + float(params.text)
        while time.monotonic() < until:
            time.sleep(0.01)
            call.turn.check()
        return Said(said="slept")

    def _noise(self, call: Call, params: Text) -> Said:
        del call
        print("stray", params.text)  # noqa: T201 - the fault under test
        subprocess.run(
            [sys.executable, "-c", "print('from a child'); print(repr(input() if False else ''))"], check=True
        )
        return Said(said="loud")

    def _fail(self, call: Call, params: Text) -> Said:
        del call
        if params.text == "die":
            os._exit(3)
        raise RuntimeError(params.text)

    def _ask(self, call: Call, params: Text) -> Said:
        del call
        seconds = 0.2 if params.text == "too late" else 30.0
        request = Completion("be brief", params.text, max_tokens=5, deadline_seconds=seconds)
        return Said(said=self.host.models.complete(request).text)

    def _seen(self, call: Call, params: NoParams) -> Said:
        del call, params
        return Said(said=" ".join(self.seen))

    def _off(self, call: Call, params: NoParams) -> Said:
        del call, params
        self.ready = False
        return Said(said="off")


def plugins() -> Found:
    return [("sample", lambda: SamplePlugin)]


def main(protocol: str = "stdio") -> int:
    home, environ = Path(os.environ["HOME"]), dict(os.environ)
    agent_dir = home / ".pi" / "agent"
    Path(environ["SAMPLE_END"]).with_suffix(".pid").write_text(str(os.getpid()), encoding="utf-8")
    if protocol in {"mcp", "mcp-http"}:
        port = 0 if protocol == "mcp-http" else None
        return serve_mcp(agent_dir=agent_dir, home=home, cwd=home, environ=environ, port=port, plugins=plugins)
    return serve_stdio(agent_dir=agent_dir, home=home, environ=environ, plugins=plugins)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
