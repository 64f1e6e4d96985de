"""``persona`` as people and scripts run it: a real process, in a home of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PERSONA = Path(sys.executable).with_name("persona")
CHILD = {"PYTHONPATH": str(Path(__file__).with_name("child"))}
"""What makes a child import ``child/sitecustomize.py``."""


@dataclass(frozen=True)
class Ran:
    """What a process left: its status, its output, its errors."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """Return standard output as one JSON object."""
        value: dict[str, Any] = json.loads(self.out)
        return value

    def outcomes(self) -> list[dict[str, Any]]:
        """Return standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the outcomes of one kind."""
        return [outcome for outcome in self.outcomes() if outcome["kind"] == kind]


@dataclass(frozen=True)
class Persona:
    """Runs commands with one environment and one working directory, ``through`` another program where one is given."""

    environ: dict[str, str]
    cwd: Path
    through: tuple[str, ...] = ()

    def __call__(self, *words: str, stdin: str | bytes = "", **environ: str) -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*self.through, str(PERSONA), *words],
            input=data,
            capture_output=True,
            cwd=self.cwd,
            env={**self.environ, **CHILD, **environ},
            timeout=50,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def tool(self, name: str, *options: str, **arguments: Any) -> Ran:  # noqa: ANN401 - JSON
        return self("tool", name, json.dumps(arguments), *options)


def everything(root: Path) -> bytes:
    """Return the names and the bytes of all files below ``root``."""
    paths = sorted(root.rglob("*"))
    return b"\n".join(str(path).encode() + (path.read_bytes() if path.is_file() else b"") for path in paths)
