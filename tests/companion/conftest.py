"""A host with the companion in it, and the person's own folder of personas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.desk import Desk, Start, start_desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.clock import ManualClock


@pytest.fixture
def personas(agent_dir: Path) -> Path:
    """The person's own folder of personas, empty."""
    folder = agent_dir / "persona" / "personas"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def start(home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock) -> Iterator[Start]:
    """Start a host, with further environment variables by keyword."""
    running: list[Desk] = []

    def started(**variables: str) -> Desk:
        running.append(start_desk(home, agent_dir, {**environ, **variables}, clock))
        return running[-1]

    yield started
    for desk in running:
        desk.runtime.close()
