"""Replay a seed of the simulator, or try many: what ``make sim SEED=42`` runs.

python -m benchmarks.sim --seed 42
python -m benchmarks.sim --seed 0 --count 10000
"""

from __future__ import annotations

import argparse
import sys

from tests.support.crash import sim


def main(arguments: list[str]) -> int:
    """Run the seeds and print what they came to; 1 when one broke something."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sim", description="A seeded simulator.")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds, counting up")
    wanted = parser.parse_args(arguments)
    broken = 0
    for seed in range(wanted.seed, wanted.seed + wanted.count):
        outcome = sim.run(seed)
        broken += bool(outcome.violations)
        if wanted.count == 1 or outcome.violations:
            print(f"seed {seed}: {outcome.lives} lives, {outcome.steps} acknowledged steps")
            print(*(f"  {life}" for life in outcome.story), sep="\n")
            print(*(f"  broken: {violation}" for violation in outcome.violations), sep="\n")
    print(f"{wanted.count} seeds, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
