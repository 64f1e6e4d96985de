"""What memory costs a turn of real Pi: from prompt to model request, against an extension that does nothing.

Two Pis run side by side, one with the no-op extension and one with ours over a profile of some size; turns alternate
between them, so that both meet the same machine. What a Python that fails costs is ``pi_faults``. Needs what
``make test-hosts`` installs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from persona_host.adapters.pi.files import manifest_text
from persona_host.headless import headless_runtime
from tests.hosts import install
from tests.support.model_server import ModelServer
from tests.support.pi import Pi, configure_model, install_extension, pi_argv, pi_env

TURNS = 200
PER_SESSION = 50
FACTS = 40
TARGET_MS = 5.0

NOOP = """export default function (pi) {
  for (const event of ["session_start", "input", "before_agent_start", "context", "agent_end", "agent_settled"]) {
    pi.on(event, () => undefined);
  }
}
"""
TOPICS = ("database", "deployment", "release", "linter", "invoice", "parser", "cache", "queue")


class Setting:
    """One Pi with its own home."""

    def __init__(self, root: Path, url: str) -> None:
        self.home = root
        self.agent_dir = root / ".pi" / "agent"
        self.project = root / "project"
        self.project.mkdir(parents=True)
        self.environ = {"HOME": str(root), "PATH": os.environ.get("PATH", ""), "PI_AGENT_DIR": str(self.agent_dir)}
        configure_model(self.agent_dir, url)

    def start(self) -> Pi:
        """Start Pi in RPC mode; sessions are kept, as a person's are."""
        argv = pi_argv(session_dir=self.home / "sessions")
        return Pi(argv, pi_env(self.environ, self.agent_dir), self.project)


def noop(root: Path, url: str) -> Setting:
    """Return a Pi whose extension does nothing."""
    setting = Setting(root, url)
    folder = setting.agent_dir / "extensions"
    folder.mkdir(parents=True)
    (folder / "noop.ts").write_text(NOOP, encoding="utf-8")
    return setting


def with_memory(root: Path, url: str) -> Setting:
    """Return a Pi with our extension and a profile of ``FACTS`` facts."""
    setting = Setting(root, url)
    runtime = headless_runtime(agent_dir=setting.agent_dir, home=root, environ={})
    install_extension(setting.agent_dir, python=Path(sys.executable), manifest=manifest_text(runtime))
    runtime.close()
    for number in range(FACTS):
        text = f"The {TOPICS[number % len(TOPICS)]} of service {number} is looked after by team {number * 7 % 11}."
        words = ["tool", "memory", json.dumps({"action": "remember", "kind": "note", "text": text})]
        argv = [sys.executable, "-m", "persona_host.cli", *words]
        subprocess.run(argv, env=setting.environ, cwd=setting.project, check=True, stdout=subprocess.DEVNULL)
    return setting


def turn(pi: Pi, model: ModelServer, text: str) -> tuple[float, float]:
    """Say ``text``; return the milliseconds to the model's request and to the end of the turn."""
    before = len(model.requests)
    began = time.perf_counter()
    pi.say(text)
    ended = time.perf_counter()
    return (model.requests[before].at - began) * 1000, (ended - began) * 1000


def alternate(
    settings: dict[str, Setting], model: ModelServer, turns: int, pause: float
) -> dict[str, list[tuple[float, float]]]:
    """Return the figures of each setting, turn by turn, with ``pause`` seconds before each."""
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in settings}
    while len(next(iter(figures.values()))) < turns:
        running = {name: setting.start() for name, setting in settings.items()}
        for pi in running.values():
            for warming in range(3):
                turn(pi, model, f"warm {warming}")
        for number in range(PER_SESSION):
            for name, pi in running.items():
                question = f"What about the {TOPICS[number % len(TOPICS)]} of service {number}?"
                time.sleep(pause)
                figures[name].append(turn(pi, model, question))
        for pi in running.values():
            pi.quit()
    return figures


def main() -> None:
    """Print the table; exit with 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each turn, as a person would think")
    options = parser.parse_args(sys.argv[2:] if sys.argv[1:2] == ["pi_latency"] else None)
    turns = options.turns
    if problem := install.missing():
        print(f"skipped: {problem}")
        return
    with tempfile.TemporaryDirectory() as root, ModelServer(lambda _: "Noted.") as model:
        plain, ours = noop(Path(root, "noop"), model.url), with_memory(Path(root, "memory"), model.url)
        figures = alternate({"no-op extension": plain, "persona-mind": ours}, model, turns, options.pause)
    print(f"Pi {install.PI_VERSION}, {turns} interleaved turns, {FACTS} facts        median ms")
    print(f"{'':32s}{'to request':>12s}{'whole turn':>12s}")
    for name, seen in figures.items():
        medians = [statistics.median(column) for column in zip(*seen, strict=True)]
        print(f"{name:32s}" + "".join(f"{value:12.2f}" for value in medians))
    pairs = list(zip(figures["persona-mind"], figures["no-op extension"], strict=True))
    costs = [statistics.median(mine[i] - theirs[i] for mine, theirs in pairs) for i in (0, 1)]
    print(f"{'cost of memory, pair by pair':32s}" + "".join(f"{value:+12.2f}" for value in costs))
    met = costs[0] <= TARGET_MS
    print(f"target: at most {TARGET_MS:g} ms to the request: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
