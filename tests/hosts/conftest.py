"""Fixtures for tests that run real hosts. Without them they are skipped, unless ``PERSONA_REQUIRE_HOSTS=1``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.hosts import install
from tests.support.pi import Pi, pi_argv, pi_env

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def pi_installed() -> None:
    """Skip, or fail where hosts are required, if Node 22 and Pi are not installed."""
    problem = install.missing()
    if problem and os.environ.get("PERSONA_REQUIRE_HOSTS") == "1":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


@dataclass(frozen=True)
class PiHome:
    """A person's home with Pi in it.

    Attributes:
        home: The home directory.
        agent_dir: Pi's agent directory, and ours.
        project: Where the person works.
        sessions: Where session files are kept.
        environ: The environment.
    """

    home: Path
    agent_dir: Path
    project: Path
    sessions: Path
    environ: dict[str, str]

    def start(self, *arguments: str, **more: str) -> Pi:
        """Start Pi in RPC mode, with a session file."""
        argv = pi_argv(*arguments, session_dir=self.sessions)
        return Pi(argv, pi_env(self.environ, self.agent_dir, **more), self.project)

    def session_text(self) -> str:
        """Return everything that Pi has written into session files."""
        return "\n".join(path.read_text(encoding="utf-8") for path in sorted(self.sessions.glob("*.jsonl")))


@pytest.fixture
def pi_home(pi_installed: None, home: Path, agent_dir: Path, environ: dict[str, str]) -> PiHome:  # noqa: ARG001 - ordered
    """A home with nothing in it but a project directory."""
    project = home / "project"
    project.mkdir()
    return PiHome(home, agent_dir, project, home / "sessions", environ)
