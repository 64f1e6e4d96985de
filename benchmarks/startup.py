"""Start-up times: whole processes, interleaved with a baseline, medians and ratios.

The baseline imports pydantic and rich, builds one model and prints one line through a Console: what any program with
this taste in libraries pays before it does anything.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASELINE = """
from pydantic import BaseModel
from rich.console import Console

class Model(BaseModel):
    name: str
    count: int = 0

Console().print(Model(name="one").name)
"""
UNWANTED = ("pydantic_ai", "numpy", "typer")
ROUNDS = 20


def _run(command: list[str], environ: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environ, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def _unwanted(environ: dict[str, str]) -> str:
    code = f"import persona_mind, sys; print(','.join(m for m in {UNWANTED!r} if m in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], env=environ, check=True, capture_output=True, text=True)
    return found.stdout.strip() or "none"


def main() -> None:
    """Print the table."""
    persona = str(Path(sys.executable).with_name("persona"))
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "PATH": os.environ.get("PATH", ""), "PI_AGENT_DIR": str(Path(home, "agent"))}
        seed = [
            persona,
            "tool",
            "memory",
            '{"action":"remember","term":"long","kind":"note","text":"The port is 5433."}',
        ]
        subprocess.run(seed, env=environ, check=True, stdout=subprocess.DEVNULL)
        commands = {
            "baseline: pydantic + rich, one line": [sys.executable, "-c", BASELINE],
            "persona mind": [persona, "mind"],
            "import persona_mind": [sys.executable, "-c", "import persona_mind"],
            "persona inject": [persona, "inject", "--prompt", "which port?"],
            "persona chat (no input)": [persona, "chat", "--plain"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for command in commands.values():
            _run(command, environ)  # once, so that byte code and the page cache are warm
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(_run(command, environ))
        base = times["baseline: pydantic + rich, one line"]
        print(f"start-up, {ROUNDS} interleaved rounds" + " " * 14 + "median ms   ratio to baseline, pair by pair")
        for name, seen in times.items():
            ratio = statistics.median(mine / theirs for mine, theirs in zip(seen, base, strict=True))
            print(f"{name:42s} {1000 * statistics.median(seen):9.0f}   {ratio:5.2f}")
        print(f"of {', '.join(UNWANTED)} the library loads: {_unwanted(environ)}")


if __name__ == "__main__":
    main()
