"""Replay a seed of the simulators, or live through many: what ``make sim SEED=42`` runs.

One lives on the engine alone, one on the whole mind: owner, bus, model, timers, clock and file effects.

    python -m benchmarks.sim --seed 42
    python -m benchmarks.sim --seeds 0-9999 --jobs 2
    python -m benchmarks.sim --seeds 0-9999 --only mind

A long run can be broken off: it says up to which seed it came, and which command goes on from there.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.crash_jobs import spread
from tests.support.crash import mindsim, sim

if TYPE_CHECKING:
    from collections.abc import Iterable

WORLDS = {"engine": sim, "mind": mindsim}
CHUNK = 20
"""Seeds that a process lives through at a time."""


class Chunk(NamedTuple):
    """Some seeds of one simulator, the last one included."""

    world: str
    first: int
    last: int


class Lived(NamedTuple):
    """What a chunk came to; ``broken`` holds a line for each seed that broke something."""

    lives: int
    steps: int
    broken: list[str]


@dataclass
class Tally:
    """What one simulator came to so far; ``ended`` holds the first seeds of the chunks that are done."""

    world: str
    first: int
    lives: int = 0
    steps: int = 0
    broken: list[str] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)

    @property
    def reached(self) -> int:
        """The first seed that has not been lived through; some behind it may have been."""
        seed = self.first
        while seed in self.ended:
            seed += CHUNK
        return seed


def live(chunk: Chunk) -> Lived:
    """Live through a chunk."""
    lives, steps, broken = WORLDS[chunk.world].run_many(range(chunk.first, chunk.last + 1))
    return Lived(lives, steps, [f"seed {one.seed}, {chunk.world}: {one.violations[0]}" for one in broken])


def many(first: int, last: int, jobs: int, worlds: Iterable[str]) -> list[Tally]:
    """Live through many seeds in several processes; failing ones are told as they are found."""
    tallies = {world: Tally(world, first) for world in worlds}
    chunks = [Chunk(world, at, min(at + CHUNK - 1, last)) for world in tallies for at in range(first, last + 1, CHUNK)]
    try:
        for chunk, lived in spread(live, chunks, jobs, f"chunks of {CHUNK} seeds"):
            tally = tallies[chunk.world]
            tally.ended.add(chunk.first)
            tally.lives, tally.steps = tally.lives + lived.lives, tally.steps + lived.steps
            tally.broken += lived.broken
            for told in lived.broken:
                seed = told.split(",")[0].removeprefix("seed ")
                print(f"{told[:600]}\n  replay it: make sim SEED={seed}", flush=True)
    except KeyboardInterrupt:
        for tally in tallies.values():
            if tally.reached <= last:
                rest = f"python -m benchmarks.sim --seeds {tally.reached}-{last} --only {tally.world} --jobs {jobs}"
                print(f"broken off; go on with: {rest}", flush=True)
    return list(tallies.values())


def main(arguments: list[str]) -> int:
    """Run the seeds and print what they came to; 1 when one broke something."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sim", description="A seeded simulator.")
    parser.add_argument("--seed", type=int, default=0, help="the one seed that is replayed and told in full")
    parser.add_argument("--seeds", metavar="A-B", help="live through all of these instead")
    parser.add_argument("--jobs", type=int, default=1, help="in so many processes")
    parser.add_argument("--only", choices=list(WORLDS), help="in one of the two simulators")
    wanted = parser.parse_args(arguments)
    worlds = [wanted.only] if wanted.only else list(WORLDS)
    if wanted.seeds is None:
        return int(sum(_tell(wanted.seed, world) for world in worlds) > 0)
    first, _, last = wanted.seeds.partition("-")
    tallies = many(int(first), int(last or first), wanted.jobs, worlds)
    for tally in tallies:
        seeds = min(tally.reached - 1, int(last or first))
        print(
            f"{tally.world}: seeds {first} to {seeds}, {tally.lives} lives, {tally.steps} steps, "
            f"{len(tally.broken)} broken"
        )
    return int(any(tally.broken for tally in tallies))


def _tell(seed: int, world: str) -> bool:
    """Live through a seed and print its story; return whether it broke something."""
    outcome = WORLDS[world].run(seed)
    print(f"seed {seed}, {world}: {outcome.lives} lives, {outcome.steps} steps, {len(outcome.violations)} broken")
    print(*(f"  {line}" for line in outcome.story), sep="\n")
    print(*(f"  broken: {violation}" for violation in outcome.violations), sep="\n")
    if isinstance(outcome, mindsim.Told):
        print(f"trace {outcome.trace}")
    return bool(outcome.violations)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
