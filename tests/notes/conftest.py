"""A real host with both plugins, a log in a file, and two personas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

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

Log = JsonlJournal | MemoryJournal
Talk = Callable[..., Desk]
"""Opens a session on a log: ``talk(log, persona=…)``."""


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def log(agent_dir: Path, project: Path, clock: ManualClock) -> JsonlJournal:
    """A session's log, in a file since its first message."""
    folder = agent_dir / "persona-host" / "sessions" / "rocket"
    journal = JsonlJournal(folder / "s1.jsonl", "s1", project, now=clock.now)
    journal.message("user", "Hello.")
    return journal


@pytest.fixture
def talk(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock, project: Path) -> Iterator[Talk]:
    """Open sessions on logs; each host is closed at the end."""
    running: list[Runtime] = []
    for name in ("Ann", "Bob"):
        write_brief(agent_dir / "persona" / "personas", name)

    def begin(log: Log, persona: str | None = "Ann", **variables: str) -> Desk:
        notices = Notices()
        plugins: Found = [("persona_companion", lambda: CompanionPlugin), ("persona_mind", lambda: MindPlugin)]
        setup = Setup("test", agent_dir, home, environ | variables, Capabilities(), lambda: plugins)
        runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=clock)
        running.append(runtime)
        runtime.open(log, session_id=log.session_id, cwd=project, persona=persona)
        return Desk(home, agent_dir, environ, runtime, notices, [], runtime._bus.client("listener"))

    yield begin
    for runtime in running:
        runtime.close()
