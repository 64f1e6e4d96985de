"""Worlds and hosts of the conformance suite. One host serves all points of a module that do not end it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.hosts.conformance.chat_driver import Chat
from tests.hosts.conformance.claude_driver import Claude
from tests.hosts.conformance.driver import Driver, running
from tests.hosts.conformance.mcp_driver import Mcp, McpHttp
from tests.hosts.conformance.pi_driver import OldestPi, PiHost
from tests.hosts.conformance.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


DRIVERS: tuple[type[Driver], ...] = (Chat, PiHost, OldestPi, Mcp, McpHttp, Claude)
HOSTS = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.__name__, indirect=True, scope="module")


@pytest.fixture(scope="module")
def driver(request: pytest.FixtureRequest) -> type[Driver]:
    """A host's driver; skipped where the host is not installed, or a failure where hosts are required."""
    chosen: type[Driver] = request.param
    problem = chosen.missing()
    if problem and os.environ.get("PERSONA_REQUIRE_HOSTS") == "1":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    return chosen


@pytest.fixture(scope="module")
def shared(driver: type[Driver], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A host that runs for as long as the module's points need it."""
    world = World(tmp_path_factory.mktemp(driver.__name__.lower()))
    with world.model, running(driver(world)) as host:
        yield host


@pytest.fixture
def fresh(driver: type[Driver], tmp_path: Path) -> Iterator[Driver]:
    """A host in a world of its own, not started: for points that begin or end it."""
    world = World(tmp_path)
    with world.model:
        yield driver(world)
