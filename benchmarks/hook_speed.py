"""``persona hook`` as Claude Code waits for it: whole processes, interleaved with the same interpreter doing nothing.

Warm asks the MCP server of the same parent; cold finds none and does everything itself.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from persona_host.adapters.claude_code import rendezvous

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 60
FACTS = 20
PERSONA = str(Path(sys.executable).with_name("persona"))
LIMITS = {"warm": 2.5, "cold": 6.0}


def _payload(project: str) -> bytes:
    told = {
        "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
        "transcript_path": f"{project}/transcript.jsonl",
        "cwd": project,
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Which port does the staging database use?",
    }
    return json.dumps(told).encode()


def _run(argv: list[str], environ: dict[str, str], data: bytes = b"") -> float:
    started = time.perf_counter()
    subprocess.run(argv, env=environ, input=data, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


@contextmanager
def _server(environ: dict[str, str], project: str) -> Iterator[None]:
    process = subprocess.Popen(
        [PERSONA, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environ, cwd=project
    )
    try:
        root = rendezvous.agent_dir(environ)
        where = Path(rendezvous.folder(root), rendezvous.name(rendezvous.identity(root, environ), os.getpid()))
        while not where.exists():
            time.sleep(0.01)
        yield
    finally:
        process.communicate(timeout=20)


def main() -> None:
    """Print medians and ratios, pair by pair."""
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "PATH": os.environ.get("PATH", ""), "PI_AGENT_DIR": f"{home}/agent"}
        project = f"{home}/project"
        Path(project).mkdir()
        for number in range(FACTS):
            fact = {"action": "remember", "kind": "note", "text": f"Service {number} listens on port {5400 + number}."}
            subprocess.run(
                [PERSONA, "tool", "memory", json.dumps(fact)],
                env=environ,
                check=True,
                cwd=project,
                stdout=subprocess.DEVNULL,
            )
        print(f"persona hook UserPromptSubmit, {ROUNDS} interleaved rounds, {FACTS} facts")
        with _server(environ, project):
            _table("warm", environ, project)
        _table("cold", environ, project)


def _table(name: str, environ: dict[str, str], project: str) -> None:
    base, hook = [sys.executable, "-c", "pass"], [PERSONA, "hook", "UserPromptSubmit"]
    payload = _payload(project)
    for _ in range(3):
        _run(hook, environ, payload)  # so that byte code, page cache and the server's session are there
    pairs = [(_run(base, environ), _run(hook, environ, payload)) for _ in range(ROUNDS)]
    nothing, took = (1000 * statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(mine / theirs for theirs, mine in pairs)
    print(f"{name}: {took:6.1f} ms, -c pass {nothing:5.1f} ms, ratio {ratio:5.2f} (at most {LIMITS[name]})")


if __name__ == "__main__":
    main()
