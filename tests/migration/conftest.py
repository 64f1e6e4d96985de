"""Profiles of the original's earlier releases, and real hosts that find them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import persona_mind
from persona_companion.plugin import CompanionPlugin
from persona_hooks.journal import MemoryJournal
from persona_hooks.ports import Capabilities
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup
from persona_mind.plugin import MindPlugin

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.cards import Level
    from persona_hooks.ports import Host, Session
    from persona_mind.library import Mind
    from persona_mind.services import Services
    from tests.support.clock import ManualClock

AT = "2026-03-01T09:30:00.000Z"
LATER = "2026-03-01T10:30:00.000Z"

Open = Callable[..., "Mind"]
Begin = Callable[..., "Desk"]


def fact(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values
    """A long-term fact as the original writes it; ``expiresAt`` makes it a working one."""
    plain = {"id": "0123456789ab", "kind": "note", "text": text, "tags": [], "recordedAt": AT, "lastSeenAt": AT}
    return plain | more


def item(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values
    """A backlog item as the original writes it."""
    plain = {"id": "abc123abc123", "text": text, "state": "open", "tags": [], "createdAt": AT}
    return {**plain, "persona": "_default", "expiresAt": "2026-03-04T09:30:00.000Z", **more}


def working(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values
    """A working fact as the original writes it."""
    return fact(text, **{"persona": "_default", "expiresAt": "2026-03-04T09:30:00.000Z", **more})


def plant(path: Path, *rows: object, version: int = 1) -> Path:
    """Write a store as the original does."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    envelope = {"version": version, "updatedAt": AT, "sequence": 7, "entries": list(rows)}
    path.write_text(json.dumps(envelope, indent=2) + "\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def entries(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a store; none where there is none."""
    return list(json.loads(path.read_text("utf-8"))["entries"]) if path.exists() else []


@dataclass
class Shown:
    """What a person was shown."""

    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    statuses: list[tuple[str, str | None]] = field(default_factory=list)

    def notify(self, text: str, level: Level = "info") -> None:
        (self.warnings if level == "warning" else self.lines).append(text)

    def status(self, key: str, text: str | None) -> None:
        self.statuses.append((key, text))


@dataclass
class Desk:
    """A host with a person at it."""

    runtime: Runtime
    mind: Services
    shown: Shown
    project: Path

    def open(self, session_id: str = "s1", cwd: Path | None = None, persona: str | None = None) -> Session:
        place = cwd or self.project
        journal = MemoryJournal(session_id, place)
        return self.runtime.open(journal, session_id=session_id, cwd=place, persona=persona)

    def moved(self, seconds: float = 30.0) -> None:
        """Wait until the move that goes on has ended."""
        job = self.mind.moving._job
        assert job is None or job.ended.wait(seconds)

    def recall(self, **options: Any) -> list[str]:  # noqa: ANN401 - JSON values
        answer = self.runtime.tool("memory", {"action": "recall", **options}, origin="user")
        assert answer.ok, answer.text
        return [line.fact.text for line in answer.outcome.lines]  # type: ignore[union-attr]


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def old(agent_dir: Path) -> Path:
    """The root that releases before 0.7 wrote; not made yet."""
    agent_dir.mkdir(parents=True, mode=0o700)
    return agent_dir / "pi-persona-mind"


@pytest.fixture
def new(agent_dir: Path) -> Path:
    """The present root; not made yet."""
    return agent_dir / "persona-mind"


@pytest.fixture
def opened(agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> Iterator[Open]:
    """Open the library."""
    minds: list[Mind] = []

    def start(persona: str | None = None, cwd: Path = project) -> Mind:
        mind = persona_mind.open(agent_dir, cwd=cwd, persona=persona, now=clock.now, home=home)
        minds.append(mind)
        job = mind._plugin.services.moving._job
        assert job is None or job.ended.wait(30)
        return mind

    yield start
    for mind in minds:
        mind.close()


@pytest.fixture
def begin(home: Path, agent_dir: Path, project: Path, environ: dict[str, str], clock: ManualClock) -> Iterator[Begin]:
    """Start a host; each is closed at the end. Environment variables by keyword."""
    running: list[Runtime] = []

    def start(**variables: str) -> Desk:
        shown = Shown()
        minds: list[Services] = []

        def build(host: Host) -> MindPlugin:
            plugin = MindPlugin(host)
            minds.append(plugin.services)
            return plugin

        plugins = [("persona_companion", lambda: CompanionPlugin), ("persona_mind", lambda: build)]
        setup = Setup("test", agent_dir, home, environ | variables, Capabilities(), lambda: plugins, patience=20.0)
        runtime = Runtime.start(setup, ui=shown, models=NoModels(), scheduler=clock)
        running.append(runtime)
        return Desk(runtime, minds[0], shown, project)

    yield start
    for runtime in running:
        runtime.close()
