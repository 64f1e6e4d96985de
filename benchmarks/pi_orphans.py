"""End real Pi a hundred times, in each of three ways, in the middle of things; count the Pythons that are left behind.

Needs what ``make test-hosts`` installs; takes some minutes.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from benchmarks.pi_latency import Setting, with_memory
from tests.hosts import install
from tests.support.model_server import ModelServer, Reply
from tests.support.pi import children, gone

ROUNDS = 100
WAYS = ("quit", "SIGTERM", "SIGKILL")


def end(setting: Setting, way: str, *, busy: bool) -> bool:
    """Start Pi, end it in one way, in the middle of a turn if ``busy``; return whether its Python is gone."""
    with setting.start() as pi:
        pi.say("hello")
        (python,) = children(pi.process.pid)
        if busy:
            pi.command("prompt", message="think long")
        if way == "quit":
            pi.quit()
        else:
            pi.process.send_signal(signal.Signals[way])
            pi.process.wait(20)
        return gone(python)


def main() -> None:
    """Print how many were left; exit with 1 if any was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    if problem := install.missing():
        print(f"skipped: {problem}")
        return
    with (
        tempfile.TemporaryDirectory() as root,
        ModelServer(lambda r: Reply("…", delay=30.0 if r.of("user")[-1].endswith("long") else 0.0)) as model,
    ):
        setting = with_memory(Path(root), model.url)
        left = [
            way for number, way in enumerate(islice(cycle(WAYS), rounds)) if not end(setting, way, busy=number % 2 == 1)
        ]
    print(f"{rounds} ends ({', '.join(WAYS)} in turn, every other one during a turn): {len(left)} orphans {left}")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
