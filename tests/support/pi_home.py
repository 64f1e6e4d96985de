"""A person's home with Pi in it, and the commands that other processes run there."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.pi import Pi, pi_argv, pi_env
from tests.support.stdio_host import ROOT, interpreter

if TYPE_CHECKING:
    from pathlib import Path


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

    def persona(self, *words: str) -> str:
        """Run ``persona`` in a process of its own, in the project that Pi works in; return what it prints."""
        argv = [interpreter(), "-m", "persona_host.cli", *words]
        env = {**self.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(argv, env=env, cwd=self.project, capture_output=True, text=True, check=True)
        return done.stdout

    def remember(self, text: str, *options: str) -> str:
        """Save a fact in a process of its own; return its id."""
        arguments = json.dumps({"action": "remember", "kind": "note", "text": text})
        return str(json.loads(self.persona("tool", "memory", arguments, *options))["details"]["id"])
