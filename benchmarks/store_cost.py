"""What a durable change costs, beside an atomic replacement of the same bytes with one file and one directory fsync.

Measured in turns, warm and in one process: the engine alone, and ``memory.remember`` through the library.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

import persona_mind
from persona_mind.kernel.identity import content_id, key
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_store.document import Document

ROUNDS = 60
WARM = 5
TRACED = 1_000
REPEATS = 5_000
DEMAND = 1.5


class Entry(BaseModel):
    """An entry of the usual size."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    id: str
    kind: str
    text: str
    tags: tuple[str, ...]


class Cost(NamedTuple):
    """Medians in milliseconds at one number of rows, and how memory moved over many more changes, in KiB.

    ``grown`` is what Python's objects took between a tenth and the end of some changes (50 of the engine, ``TRACED`` of
    the library), ``resident`` what the process took in ``REPEATS`` of the library; None where nobody says.
    """

    rows: int
    size: int
    change: float
    bare: float
    grown: float
    resident: float | None

    @property
    def ratio(self) -> float:
        """How many bare replacements a change costs."""
        return self.change / self.bare


def measure_remember(rows: int, rounds: int = ROUNDS) -> Cost:
    """Measure one durable ``remember`` through the library, and a bare replacement, in turns."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        with persona_mind.open(root / "agent", cwd=root, persona="Ann", home=root) as mind:
            mind.remember("The first harbour opens at six.")
            path = next((root / "agent/persona-mind/memory/ltm").glob("*.json"))
            _multiply(path, rows)
            changes, bares = [], []
            for number in range(rounds + WARM):
                changes.append(_time(partial(mind.remember, f"Pier {number} opens at seven.")))
                bares.append(_time_bare(root, path.read_bytes()))
            size = path.stat().st_size

            def again(number: int) -> None:
                mind.remember(f"Pier {number % rounds} opens at seven.")

            grown, resident = _traced(again, TRACED), _resident(again)
        change, bare = (statistics.median(times[WARM:]) * 1000 for times in (changes, bares))
        return Cost(rows, size, change, bare, grown, resident)


def _multiply(path: Path, rows: int) -> None:
    """Fill a file with facts like the one that stands in it."""
    envelope = json.loads(path.read_bytes())
    [row] = envelope["entries"]
    texts = [f"Harbour {number} opens at six, {'x' * 100}." for number in range(rows)]
    envelope["entries"] = [row | {"text": text, "id": content_id(key("note", text, ()))} for text in texts]
    path.write_text(json.dumps(envelope, indent=2) + "\n", encoding="utf-8")


def _time(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _traced(action: Callable[[int], object], repeats: int) -> float:
    """How much more memory Python's objects hold after many changes than after a tenth of them, in KiB."""
    tracemalloc.start()
    try:
        early, late = _between(action, repeats, lambda: tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    return (late - early) / 1024


def _resident(action: Callable[[int], object]) -> float | None:
    """How much more memory the process holds after many changes than after a tenth of them, in KiB."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return None
    early, late = _between(action, REPEATS, lambda: int(status.read_text("ascii").split()[1]))
    return (late - early) * os.sysconf("SC_PAGE_SIZE") / 1024


def _between(action: Callable[[int], object], repeats: int, take: Callable[[], int]) -> tuple[int, int]:
    early = 0
    for number in range(repeats):
        if number == repeats // 10:
            gc.collect()
            early = take()
        action(number)
    gc.collect()
    return early, take()


def measure(rows: int, rounds: int = ROUNDS) -> Cost:
    """Measure a change by the engine, and a bare replacement, in turns."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "persona-mind"
        profile = Profile(root, lambda: datetime.now(UTC))
        document = profile.document("memory/ltm/elite.json", Entry)
        entries = [Entry(id=f"{number:012x}", kind="note", text="x" * 150, tags=("a", "b")) for number in range(rows)]
        with profile.transaction() as transaction:
            transaction.update(document, lambda _: [document.row(entry) for entry in entries])
        data = document.path.read_bytes()
        changes, bares = [], []
        for number in range(rounds + WARM):
            changes.append(_time_change(profile, document, number))
            bares.append(_time_bare(root, data))

        def again(number: int) -> None:
            _time_change(profile, document, number)

        grown = _traced(again, WARM * 10)
        change, bare = (statistics.median(times[WARM:]) * 1000 for times in (changes, bares))
        return Cost(rows, len(data), change, bare, grown, None)


def _time_change(profile: Profile, document: Document[Entry], number: int) -> float:
    entry = Entry(id=f"{number:012x}", kind="note", text="y" * 150, tags=("a", "b"))
    began = time.perf_counter()
    with profile.transaction() as transaction:
        transaction.update(document, lambda there: [*there.rows[:-1], document.row(entry)])
    return time.perf_counter() - began


def _time_bare(root: Path, data: bytes) -> float:
    began = time.perf_counter()
    descriptor = os.open(root / "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    os.rename(root / "new", root / "bare")  # noqa: PTH104 - as bare as it gets
    directory = os.open(root, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    return time.perf_counter() - began


def main() -> int:
    """Print the table; 1 when a demand is missed."""
    missed = 0
    for what, take in (("engine", measure), ("remember", measure_remember)):
        for rows in (1_000, 9_000):
            cost = take(rows)
            missed += cost.ratio > DEMAND
            resident = "" if cost.resident is None else f", {cost.resident:+,.0f} KiB resident in {REPEATS:,} more"
            print(
                f"{what}, {rows:,} rows, {cost.size / 1e6:.1f} MB: {cost.change:.2f} ms, a bare replacement "
                f"{cost.bare:.2f} ms, ratio {cost.ratio:.2f} (at most {DEMAND}); objects grew by "
                f"{cost.grown:+,.0f} KiB{resident}",
                flush=True,
            )
    print(f"load while measured: {_load()}")
    return 1 if missed else 0


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors" if hasattr(os, "getloadavg") else "not told"


if __name__ == "__main__":
    raise SystemExit(main())
