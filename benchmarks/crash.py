"""The whole crash battery: what ``make crash`` runs and prints.

    python -m benchmarks.crash             everything that this machine allows
    python -m benchmarks.crash --only shim power writers
    python -m benchmarks.crash --only verbs --verbs memory.erase

Parts that need root, strace or loop devices are passed over with a reason where those are missing. PERSONA_TEST_JOBS
says how many processes share the points of a battery, PERSONA_TEST_SHARES how many eighths of these are taken, and
PERSONA_TEST_SEEDS how many seeds are lived through.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import store_cost
from benchmarks.crash_jobs import spread
from benchmarks.sim import WORLDS, many
from tests.support.crash import disks, kills, powerloss, writers
from tests.support.crash.__main__ import mutants as look_at_mutants
from tests.support.crash.battery import Report
from tests.support.crash.checks import scratch
from tests.support.crash.documents import (
    FIRST_STEPS,
    OPERATIONS,
    STEPS,
    after_first_power_loss,
    after_power_loss,
)
from tests.support.crash.shares import Share, take
from tests.support.crash.whole import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path


JOBS = int(os.environ.get("PERSONA_TEST_JOBS", str(min(2, os.cpu_count() or 1))))
WANTED: list[str] = []
"""The verbs that are injured; none named means all."""
SHARES = 8
"""Into how many shares the points of one operation are cut."""
TAKEN = min(SHARES, int(os.environ.get("PERSONA_TEST_SHARES", str(SHARES))))
"""How many of these are taken; fewer give each n-th point of all kinds."""


@dataclass(frozen=True)
class Line:
    """One row of the table."""

    what: str
    points: int
    violations: list[str]
    note: str = ""


def shim() -> Iterator[Line]:
    """Every fault at every file effect of every operation."""
    yield from _injured([operation.name for operation in (*OPERATIONS, *WHOLE)], verbs=False)


def verbs() -> Iterator[Line]:
    """Every fault at every file effect of every verb that changes something, and of capture."""
    # The whole host is loaded for them, and no other stage needs it.
    from tests.support.crash.verbs import every_name, without_a_case  # noqa: PLC0415

    missing = without_a_case()
    yield Line("verbs without a case", len(missing), missing)
    yield from _injured([name for name in every_name() if not WANTED or name in WANTED], verbs=True)


def _injured(names: Sequence[str], *, verbs: bool) -> Iterator[Line]:
    shares = [Share(name, first, SHARES, verbs) for name in names for first in range(TAKEN)]
    reports = {name: Report(name) for name in names}
    seconds, left = dict.fromkeys(names, 0.0), dict.fromkeys(names, TAKEN)
    for share, done in spread(take, shares, JOBS, "verbs injured" if verbs else "operations injured"):
        reports[share.name].add(done.report)
        seconds[share.name] += done.seconds
        left[share.name] -= 1
        if not left[share.name]:
            yield _line_of(reports[share.name], seconds[share.name])
    points, found = sum(report.points for report in reports.values()), sum(seconds.values())
    yield Line("verbs in all" if verbs else "operations in all", points, [], f"{found:.0f} s of {JOBS} processes")


def _line_of(report: Report, seconds: float) -> Line:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.kinds.items()))
    taken = "" if TAKEN == SHARES else f", {TAKEN} of {SHARES} points"
    return Line(f"injured: {report.operation}", report.points, report.violations, f"{seconds:.0f} s{taken}: {kinds}")


def power() -> list[Line]:
    """Every state a power loss may leave, up to 400 after each event: with the agent directory there, and without."""
    return [
        _power("power loss, model", [step for step, _ in STEPS], after_power_loss),
        _power("power loss, model, from nothing", FIRST_STEPS, after_first_power_loss),
    ]


def _power(title: str, steps: Iterable[Callable[[Path], object]], verdict: Callable[[Path, int], str | None]) -> Line:
    root = scratch() / "agent"
    root.mkdir(mode=0o700)
    found = powerloss.judge(powerloss.record(steps, root), root.parent, verdict, cap=400)
    return Line(title, found.states, found.violations, f"{found.points} points")


def many_writers() -> list[Line]:
    """8 x 500 changes at once; then the same with 60 kills."""
    lines = []
    for kills_wanted in (0, 60):
        began = time.monotonic()
        trace = writers.write_many(scratch() / "agent", 8, 500 if not kills_wanted else 200, kills=kills_wanted)
        note = f"{time.monotonic() - began:.0f} s, {trace.killed} killed"
        if kills_wanted:
            note += f", next change within {trace.slowest_after_kill:.2f} s"
        late = ["the next change came late"] if trace.slowest_after_kill > 1 else []
        lines.append(Line("8 writers", len(trace.commits), trace.violations() + late, note))
    return lines


def disk_limits() -> list[Line]:
    """Full, cut short, read-only, out of descriptors."""
    checks = disks.WITHOUT_ROOT + (disks.WITH_ROOT if disks.can_mount() else ())
    lines = [Line(f"disk: {check.__name__.replace('_', ' ')}", *check()) for check in checks]
    if not disks.can_mount():
        lines.append(Line("disk: mounts", 0, [], "passed over: needs root on Linux"))
    return lines


def system_calls() -> list[Line]:
    """SIGKILL by strace at every file system call."""
    if not kills.has_strace():
        return [Line("killed at every system call", 0, [], "passed over: no strace that may trace")]
    cuts = kills.every_system_call(6)
    missed = [f"only {cuts.killed} of {cuts.points} were killed"] if cuts.killed != cuts.points else []
    few = [f"only {cuts.points} points"] if cuts.points < 100 else []
    return [Line("killed at every system call", cuts.points, cuts.violations + missed + few, f"{cuts.killed} killed")]


def real_disk() -> list[Line]:
    """An ext4 disk copied while its writer is stopped."""
    if not kills.has_loop_devices():
        return [Line("ext4 cuts", 0, [], "passed over: needs root and loop devices")]
    plain, delayed = kills.disk_cuts(100), kills.disk_cuts(60, "noauto_da_alloc")
    return [
        Line("ext4 cuts", plain.points, plain.violations),
        Line("ext4 cuts, noauto_da_alloc", delayed.points, delayed.violations),
    ]


def mutants() -> list[Line]:
    """Each injured engine must be noticed."""
    noticed = look_at_mutants()
    return [Line("mutants", len(noticed), [f"{name} was not noticed" for name, found in noticed.items() if not found])]


def fuzz() -> list[Line]:
    """10^5 mutated files, by the test that the quick stage runs with fewer."""
    import pytest  # noqa: PLC0415 - only this stage needs a test runner

    os.environ["PERSONA_TEST_FUZZ"] = "100000"
    code = pytest.main(["-q", "--no-header", "-p", "no:randomly", "--timeout", "0", "tests/store/test_fuzz.py"])
    return [Line("fuzzed files", 100_000, [] if code == 0 else [f"pytest ended with {code}"])]


def simulated() -> list[Line]:
    """Seeds of both simulators."""
    last = int(os.environ.get("PERSONA_TEST_SEEDS", "10000")) - 1
    return [
        Line(f"seeds of the {tally.world}", last + 1, tally.broken, f"{tally.lives} lives, {tally.steps} steps")
        for tally in many(0, last, JOBS, WORLDS)
    ]


def cost() -> list[Line]:
    """A durable change beside a bare atomic replacement."""
    lines = []
    for rows in (1_000, 9_000):
        measured = store_cost.measure(rows)
        over = [f"ratio {measured.ratio:.2f}"] if measured.ratio > store_cost.DEMAND else []
        note = f"{measured.change:.2f} ms to {measured.bare:.2f} ms, ratio {measured.ratio:.2f}"
        lines.append(Line(f"cost at {rows} rows", store_cost.ROUNDS, over, note))
    return lines


STAGES: dict[str, Callable[[], Iterable[Line]]] = {
    "shim": shim,
    "verbs": verbs,
    "power": power,
    "writers": many_writers,
    "disks": disk_limits,
    "strace": system_calls,
    "ext4": real_disk,
    "mutants": mutants,
    "fuzz": fuzz,
    "sim": simulated,
    "cost": cost,
}


def main(arguments: list[str]) -> int:
    """Run the stages and print the table; 1 when any promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description="The whole crash battery.")
    parser.add_argument("--only", nargs="+", choices=list(STAGES), default=list(STAGES), metavar="STAGE")
    parser.add_argument("--verbs", nargs="+", default=[], metavar="VERB", help="of the verbs, these only")
    wanted, broken = parser.parse_args(arguments), 0
    WANTED[:] = wanted.verbs
    print(f"{'stage':<34}{'points':>8}{'broken':>8}  notes")
    for name in wanted.only:
        for line in STAGES[name]():
            broken += len(line.violations)
            print(f"{line.what:<34}{line.points:>8}{len(line.violations):>8}  {line.note}", flush=True)
            for violation in line.violations[:5]:
                print(f"    {violation[:500]}", flush=True)
    print("every promise held" if not broken else f"{broken} promises were broken")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
