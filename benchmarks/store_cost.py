"""What a durable change costs, beside an atomic replacement of the same bytes with one file and one directory fsync."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

from persona_store.transaction import Profile

if TYPE_CHECKING:
    from persona_store.document import Document

ROUNDS = 60
WARM = 5
DEMAND = 1.5


class Entry(BaseModel):
    """An entry of the usual size."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    id: str
    kind: str
    text: str
    tags: tuple[str, ...]


class Cost(NamedTuple):
    """Medians in milliseconds at one number of rows, and how memory moved over all rounds, in KiB."""

    rows: int
    size: int
    change: float
    bare: float
    grown: float

    @property
    def ratio(self) -> float:
        """How many bare replacements a change costs."""
        return self.change / self.bare


def measure(rows: int, rounds: int = ROUNDS) -> Cost:
    """Measure both in turns, warm and in one process."""
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
        grown = _growth(profile, document)
        change, bare = (statistics.median(times[WARM:]) * 1000 for times in (changes, bares))
        return Cost(rows, len(data), change, bare, grown)


def _growth(profile: Profile, document: Document[Entry]) -> float:
    """How much more memory is held after many changes than after a few, in KiB."""
    tracemalloc.start()
    for number in range(WARM):
        _time_change(profile, document, number)
    early, _ = tracemalloc.get_traced_memory()
    for number in range(WARM * 6):
        _time_change(profile, document, number)
    late, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (late - early) / 1024


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
    for rows in (1_000, 9_000):
        cost = measure(rows)
        missed += cost.ratio > DEMAND
        print(
            f"{rows:>6} rows, {cost.size / 1e6:.1f} MB: a change {cost.change:.2f} ms, a bare replacement "
            f"{cost.bare:.2f} ms, ratio {cost.ratio:.2f} (at most {DEMAND}); memory grew by {cost.grown:.0f} KiB"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
