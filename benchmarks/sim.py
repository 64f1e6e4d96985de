"""Replay a seed of the simulators, or try many: what ``make sim SEED=42`` runs.

One lives on the engine alone, one on the whole mind: owner, bus, model, timers, clock and file effects.

python -m benchmarks.sim --seed 42
python -m benchmarks.sim --seed 0 --count 10000
"""

from __future__ import annotations

import argparse
import sys

from tests.support.crash import mindsim, sim


def main(arguments: list[str]) -> int:
    """Run the seeds and print what they came to; 1 when one broke something."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sim", description="A seeded simulator.")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds, counting up")
    wanted = parser.parse_args(arguments)
    broken = sum(_tell(seed, alone=wanted.count == 1) for seed in range(wanted.seed, wanted.seed + wanted.count))
    print(f"{wanted.count} seeds, {broken} broken")
    return 1 if broken else 0


def _tell(seed: int, *, alone: bool) -> bool:
    """Live through a seed in both; print its story where it is the only one, or broke something."""
    engine, mind = sim.run(seed), mindsim.run(seed)
    for name, outcome in (("engine", engine), ("mind", mind)):
        if alone or outcome.violations:
            print(f"seed {seed}, {name}: {outcome.lives} lives, {outcome.steps} steps")
            print(*(f"  {line}" for line in outcome.story), sep="\n")
            print(*(f"  broken: {violation}" for violation in outcome.violations), sep="\n")
    if alone:
        print(f"trace {mind.trace}")
    return bool(engine.violations or mind.violations)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
