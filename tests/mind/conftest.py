"""The library on a temporary profile, and a real host with both plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import persona_mind
from persona_companion.plugin import CompanionPlugin
from persona_hooks.ports import Capabilities
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup
from persona_mind.plugin import MindPlugin
from tests.support.desk import Desk, Notices

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.ports import Host
    from persona_host.loading import Found
    from persona_mind.library import Mind
    from tests.support.clock import ManualClock

Open = Callable[..., "Mind"]
"""Opens the library: ``persona``, ``cwd`` and ``environ`` by keyword."""
Start = Callable[..., Desk]
"""Starts a host with both plugins; environment variables by keyword."""


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def opened(agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> Iterator[Open]:
    """Open the library on one profile, as often and by as many personas as a test likes."""
    minds: list[Mind] = []

    def start(persona: str | None = "Ann", cwd: Path = project, environ: dict[str, str] | None = None) -> Mind:
        mind = persona_mind.open(agent_dir, cwd=cwd, persona=persona, now=clock.now, home=home, environ=environ)
        minds.append(mind)
        return mind

    yield start
    for mind in minds:
        mind.close()


@pytest.fixture
def mind(opened: Open) -> Mind:
    """Ann's memory."""
    return opened()


class Silent:
    """A plugin in the companion's place that answers nothing; a test answers instead, or nobody does."""

    def __init__(self, host: Host) -> None:
        self.host = host


@pytest.fixture
def start(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock) -> Iterator[Start]:
    """Start hosts; each is closed at the end."""
    running: list[Runtime] = []

    def begin(companion: bool = True, **variables: str) -> Desk:  # noqa: FBT001, FBT002 - a fixture's switch
        notices = Notices()
        first: Callable[[Host], object] = CompanionPlugin if companion else Silent
        plugins: Found = [("persona_companion", lambda: first), ("persona_mind", lambda: MindPlugin)]
        setup = Setup("test", agent_dir, home, environ | variables, Capabilities(), lambda: plugins)
        runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=clock)
        running.append(runtime)
        return Desk(home, agent_dir, environ, runtime, notices, [], runtime._bus.client("listener"))

    yield begin
    for runtime in running:
        runtime.close()


@pytest.fixture
def profile(agent_dir: Path) -> Path:
    """Where memory is kept."""
    return agent_dir / "persona-mind"
