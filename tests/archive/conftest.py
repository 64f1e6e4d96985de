"""The library on temporary profiles, and files that other programs left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import persona_mind

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.support.clock import ManualClock

Open = Callable[..., "Mind"]
"""Opens the library: ``persona``, ``cwd`` and ``profile`` (a word for another agent directory) by keyword."""


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def opened(agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> Iterator[Open]:
    """Open profiles, as often and by as many personas as a test likes."""
    minds: list[Mind] = []

    def start(persona: str | None = "Ann", cwd: Path = project, profile: str = "") -> Mind:
        place = home / profile if profile else agent_dir
        mind = persona_mind.open(place, cwd=cwd, persona=persona, now=clock.now, home=home)
        minds.append(mind)
        return mind

    yield start
    for mind in minds:
        mind.close()


@pytest.fixture
def mind(opened: Open) -> Mind:
    """Ann's memory."""
    return opened()
