"""What a dead or hung Python costs real Pi: the turn after the one that noticed must not wait for it.

Three Pis take their turns one after the other: one with ours, and two with an extension that does nothing. By how much
the two differ is what the machine does by itself; rounds in which that is much are told apart. Needs what
``make test-hosts`` installs; takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.pi_latency import noop, turn, with_memory
from tests.hosts import install
from tests.support.model_server import ModelServer
from tests.support.pi import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.pi_latency import Setting
    from tests.support.pi import Pi

ROUNDS = 50
TARGET_MS = 20.0
QUIET_MS = 5.0
"""A round counts as quiet where two Pis without memory differ by less."""
RESTARTS = 2
"""How often the extension starts Python again within five minutes; one death more, and it is left alone."""


class Delay(NamedTuple):
    """Milliseconds from prompt to request, beyond those of a Pi without memory in the same round.

    Attributes:
        first: Of the turn that notices the fault.
        second: Of the turn after it.
        noise: Of the second turn of another Pi without memory.
    """

    first: float
    second: float
    noise: float


class Bench(NamedTuple):
    """Three Pis beside one another."""

    ours: Pi
    plain: Pi
    other: Pi
    model: ModelServer

    def warm(self) -> None:
        """Let everything be compiled and every cache be filled."""
        for number in range(5):
            self.turns(f"warm {number}")
        self.ours.say("/mind doctor")

    def turns(self, text: str) -> tuple[float, float, float]:
        """Let each take one turn; return the milliseconds from prompt to request."""
        return (
            turn(self.ours, self.model, text)[0],
            turn(self.plain, self.model, text)[0],
            turn(self.other, self.model, text)[0],
        )

    def python(self) -> int:
        """Return the process id of our Python."""
        (pid,) = children(self.ours.process.pid)
        return pid

    def delay(self) -> Delay:
        """Take two turns and compare."""
        first, plain, _ = self.turns("this one notices")
        second, beside, noise = self.turns("this one does not wait")
        return Delay(first - plain, second - beside, noise - beside)


def stopped(bench: Bench, rounds: int) -> Iterator[Delay]:
    """Stop Python before a turn and let it go on after the next, ``rounds`` times in one session."""
    for _ in range(rounds):
        python = bench.python()
        os.kill(python, signal.SIGSTOP)
        delay = bench.delay()
        os.kill(python, signal.SIGCONT)
        bench.ours.say("/mind doctor")  # a command waits until Python answers again
        yield delay


def killed(bench: Bench) -> Iterator[Delay]:
    """Kill Python before a turn, as often as it is started again and once more."""
    for number in range(RESTARTS + 1):
        os.kill(bench.python(), signal.SIGKILL)
        yield bench.delay()
        if number < RESTARTS:
            bench.ours.say("/mind doctor")


def started(stack: ExitStack, ours: Setting, plain: list[Setting], model: ModelServer) -> Bench:
    """Start the three and warm them up."""
    mine, first, second = (stack.enter_context(setting.start()) for setting in (ours, *plain))
    bench = Bench(mine, first, second, model)
    bench.warm()
    return bench


def measure(ours: Setting, plain: list[Setting], model: ModelServer, rounds: int) -> dict[str, list[Delay]]:
    """Return the delays of each fault."""
    figures: dict[str, list[Delay]] = {"hung (SIGSTOP)": [], "dead (SIGKILL)": []}
    with ExitStack() as stack:
        bench = started(stack, ours, plain, model)
        figures["hung (SIGSTOP)"] += stopped(bench, rounds)
    while len(figures["dead (SIGKILL)"]) < rounds:
        with ExitStack() as stack:
            bench = started(stack, ours, plain, model)
            figures["dead (SIGKILL)"] += killed(bench)
    return figures


def main() -> None:
    """Print the table; exit with 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(sys.argv[2:] if sys.argv[1:2] == ["pi_faults"] else None)
    if problem := install.missing():
        print(f"skipped: {problem}")
        return
    with tempfile.TemporaryDirectory() as root, ModelServer(lambda _: "Noted.") as model:
        plain = [noop(Path(root, name), model.url) for name in ("noop", "other")]
        figures = measure(with_memory(Path(root, "memory"), model.url), plain, model, options.rounds)
    print(f"Pi {install.PI_VERSION}: ms from prompt to request beyond a Pi without memory   median   worst")
    met = True
    for fault, delays in figures.items():
        quiet = [delay for delay in delays if abs(delay.noise) < QUIET_MS]
        for which, rounds in (("all", delays), ("quiet", quiet)):
            for name in Delay._fields:
                values = [getattr(delay, name) for delay in rounds] or [0.0]
                label = f"{fault}, {which} {len(rounds)}"
                print(f"{label:40s}{name:20s}{statistics.median(values):+17.2f}{max(values):+8.2f}")
        met &= max((delay.second for delay in quiet), default=0.0) <= TARGET_MS
    print(f"target: the second turn at most {TARGET_MS:g} ms later, in quiet rounds: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
