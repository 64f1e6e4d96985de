"""A real runtime with the companion in it, a person at it, and a listener that hears what it announces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from persona_companion.plugin import CompanionPlugin
from persona_hooks.journal import MemoryJournal
from persona_hooks.messages import MEMORY_OWNER_CHANGED, BrakeReply, Message, OwnerChanged
from persona_hooks.owner import Owner, live_owner
from persona_hooks.ports import Capabilities, Session, SessionReason
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.bus import BusClient
    from persona_hooks.cards import Level
    from persona_hooks.verbs import Answer
    from persona_host.loading import Found
    from tests.support.clock import ManualClock


@dataclass
class Notices:
    """What a person was told, and what stands in the status line."""

    lines: list[str] = field(default_factory=list)
    statuses: dict[str, str | None] = field(default_factory=dict)

    def notify(self, text: str, level: Level = "info") -> None:
        del level
        self.lines.append(text)

    def status(self, key: str, text: str | None) -> None:
        self.statuses[key] = text


@dataclass
class Desk:
    """A host with a person at it."""

    home: Path
    agent_dir: Path
    environ: dict[str, str]
    runtime: Runtime
    notices: Notices
    news: list[OwnerChanged]
    client: BusClient

    def open(
        self,
        session_id: str = "s1",
        *,
        cwd: Path | None = None,
        persona: str | None = None,
        trusted: bool = False,
        reason: SessionReason = "startup",
        shared: bool = False,
    ) -> Session:
        journal = MemoryJournal(session_id, cwd or self.home)
        return self.runtime.open(
            journal,
            session_id=session_id,
            cwd=cwd or self.home,
            reason=reason,
            trusted=trusted,
            persona=persona,
            shared=shared,
        )

    @property
    def owner(self) -> Owner:
        return live_owner(self.client, self.runtime.session.id, self.runtime.session.seat)

    def say(self, line: str) -> Answer:
        return self.runtime.command(line)

    def answer_brakes(self, reply: Callable[[Message], BrakeReply | dict[str, object]]) -> None:
        self.client.provide("pi-persona:brake:v1", reply)


def write_brief(folder: Path, name: str, body: str = "prompt: Be brief.\n") -> Path:
    """Make a persona's folder, and return its brief."""
    path = folder / name / "brief.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"name: {name}\n{body}", encoding="utf-8")
    return path


def files_below(root: Path) -> list[str]:
    """Return every name below ``root``, sorted."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def start_desk(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock) -> Desk:
    """Start a host that has the companion and nothing else; no session is open yet."""
    notices, news = Notices(), list[OwnerChanged]()
    plugins: Found = [("persona_companion", lambda: CompanionPlugin)]
    setup = Setup("test", agent_dir, home, environ, Capabilities(), lambda: plugins)
    runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=clock)
    assert [state.state for state in runtime.states()] == ["loaded"], runtime.states()
    client = runtime._bus.client("listener")
    client.on(MEMORY_OWNER_CHANGED, lambda message: news.append(OwnerChanged.parse(message)))
    return Desk(home, agent_dir, environ, runtime, notices, news, client)


Start = Callable[..., Desk]
"""The fixture ``start``: a host, with further environment variables by keyword."""
