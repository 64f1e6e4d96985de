"""The library on a temporary profile, and real hosts with both plugins, with and without a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import persona_mind
from persona_companion.plugin import CompanionPlugin
from persona_hooks.ports import Capabilities
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup
from persona_mind.plugin import MindPlugin
from tests.backlog.desk import Counting, Keeper

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.ports import Host
    from persona_mind.library import Mind
    from persona_mind.services import Services
    from tests.support.clock import ManualClock

Open = Callable[..., "Mind"]
Begin = Callable[..., Keeper]


@pytest.fixture
def project(home: Path) -> Path:
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def profile(agent_dir: Path) -> Path:
    return agent_dir / "persona-mind"


@pytest.fixture
def opened(agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> Iterator[Open]:
    """Open the library on one profile, as often and by as many personas as a test likes."""
    minds: list[Mind] = []

    def start(persona: str | None = "Ann", cwd: Path = project) -> Mind:
        mind = persona_mind.open(agent_dir, cwd=cwd, persona=persona, now=clock.now, home=home)
        minds.append(mind)
        return mind

    yield start
    for mind in minds:
        mind.close()


@pytest.fixture
def mind(opened: Open) -> Mind:
    """Ann's memory."""
    return opened()


@pytest.fixture
def begin(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock) -> Iterator[Begin]:
    """Start a host; each is closed at the end. ``variables`` and capabilities by keyword."""
    running: list[Runtime] = []

    def start(variables: dict[str, str] | None = None, **capabilities: Any) -> Keeper:  # noqa: ANN401 - flags
        shown = Counting()
        minds: list[Services] = []

        def build(host: Host) -> MindPlugin:
            plugin = MindPlugin(host)
            minds.append(plugin.services)
            return plugin

        plugins = [("persona_companion", lambda: CompanionPlugin), ("persona_mind", lambda: build)]
        setup = Setup(
            "test", agent_dir, home, environ | (variables or {}), Capabilities(**capabilities), lambda: plugins
        )
        runtime = Runtime.start(setup, ui=shown, models=NoModels(), scheduler=clock)
        running.append(runtime)
        return Keeper(runtime, minds[0], shown, clock)

    yield start
    for runtime in running:
        runtime.close()
