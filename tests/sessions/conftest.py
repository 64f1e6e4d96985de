"""A real host with both plugins, and logs of conversations that were held before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from persona_companion.plugin import CompanionPlugin
from persona_hooks.journal import JsonlJournal, MemoryJournal
from persona_hooks.ports import Capabilities
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup
from persona_mind.plugin import MindPlugin
from tests.support.desk import Desk, Notices, write_brief

if TYPE_CHECKING:
    from pathlib import Path

    from persona_host.loading import Found
    from tests.support.clock import ManualClock

Talk = Callable[..., Desk]
"""Opens a session: ``talk(log, persona=…, cwd=…)``."""
Held = Callable[..., JsonlJournal]
"""Logs a conversation of the embedded host: ``held(id, (role, text, more), …, cwd=…)``."""
PiHeld = Callable[..., "Path"]
"""Logs a conversation of Pi's: ``pi_held(id, message, …, cwd=…)``."""


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def held(agent_dir: Path, project: Path, clock: ManualClock) -> Held:
    """Log conversations of the embedded host, one folder a working directory."""

    def log(session_id: str, *said: tuple[str, str, dict[str, Any]], cwd: Path = project) -> JsonlJournal:
        path = agent_dir / "persona-host" / "sessions" / cwd.name / f"{session_id}.jsonl"
        journal = JsonlJournal(path, session_id, cwd, now=clock.now)
        for role, text, more in said:
            journal.message(role, text, **more)
            clock.advance(60)
        return journal

    return log


@pytest.fixture
def pi_held(agent_dir: Path, project: Path) -> PiHeld:
    """Log conversations of Pi's."""

    def log(session_id: str, *messages: dict[str, Any], cwd: Path = project) -> Path:
        folder = agent_dir / "sessions" / f"--{str(cwd).strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        header = {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-03-01T10:00:00.000Z"}
        lines: list[dict[str, Any]] = [{**header, "cwd": str(cwd)}]
        for at, message in enumerate(messages):
            entry = {"type": "message", "id": f"{at:08x}", "parentId": f"{at - 1:08x}" if at else None}
            lines.append({**entry, "timestamp": f"2026-03-01T10:{at:02d}:00.000Z", "message": message})
        path = folder / f"2026-03-01T10-00-00-000Z_{session_id}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return path

    return log


@pytest.fixture
def talk(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock, project: Path) -> Iterator[Talk]:
    """Open sessions; each host is closed at the end."""
    running: list[Runtime] = []
    for name in ("Ann", "Bob"):
        write_brief(agent_dir / "persona" / "personas", name)

    def begin(
        log: JsonlJournal | MemoryJournal | None = None, persona: str | None = "Ann", cwd: Path = project, **more: str
    ) -> Desk:
        notices = Notices()
        plugins: Found = [("persona_companion", lambda: CompanionPlugin), ("persona_mind", lambda: MindPlugin)]
        setup = Setup("test", agent_dir, home, environ | more, Capabilities(), lambda: plugins)
        runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=clock)
        running.append(runtime)
        journal = MemoryJournal("now", cwd) if log is None else log
        runtime.open(journal, session_id=journal.session_id, cwd=cwd, persona=persona)
        return Desk(home, agent_dir, environ, runtime, notices, [], runtime._bus.client("listener"))

    yield begin
    for runtime in running:
        runtime.close()
