"""Fixtures for tests that run real hosts. Without them they are skipped, unless ``PERSONA_REQUIRE_HOSTS=1``."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.hosts import install
from tests.support.model_server import ModelServer
from tests.support.pi import configure_model
from tests.support.pi_home import PiHome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _hangup() -> Iterator[None]:
    """Let programs that a test starts take SIGHUP as from a terminal, though the suite may run without one (nohup)."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="session")
def pi_installed() -> None:
    """Skip, or fail where hosts are required, if Node 22 and Pi are not installed."""
    problem = install.missing()
    if problem and os.environ.get("PERSONA_REQUIRE_HOSTS") == "1":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


@pytest.fixture
def pi_home(pi_installed: None, home: Path, agent_dir: Path, environ: dict[str, str]) -> PiHome:  # noqa: ARG001 - ordered
    """A home with nothing in it but a project directory."""
    project = home / "project"
    project.mkdir()
    return PiHome(home, agent_dir, project, home / "sessions", environ)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that says something to everything."""
    with ModelServer(lambda request: f"answer {len(request.messages)}") as model:
        yield model


@pytest.fixture
def memory_home(pi_home: PiHome, model: ModelServer) -> PiHome:
    """A home whose Pi has the extension, installed as a person would have it."""
    configure_model(pi_home.agent_dir, model.url)
    pi_home.persona("install", "pi")
    return pi_home
