"""How long a recall takes: ``python -m benchmarks.recall_speed [--peers]``.

The texts are made up: words drawn by Zipf's law, the most frequent in a third of the texts as in speech, in sessions of
twenty turns between two people. A question is five words of one turn and a speaker's name. Turns go through session
recall, facts through the index that fact recall keeps. With ``--peers`` the others answer the same questions over the
same texts in the same run; their vectors are random, since only the search is timed.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks import peers
from persona_mind.recall import ITEMS, Doc, Index
from persona_mind.sessions.model import Turn
from persona_mind.sessions.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

SIZES = (1_000, 10_000, 100_000)
GOALS = {1_000: 0.5, 10_000: 2.0, 100_000: 15.0}
"""Milliseconds that the median warm recall may take."""
COLD = 40.0
"""Milliseconds that indexing a thousand facts may take in a process that has indexed nothing yet."""
QUESTIONS = 200
PEERS_ASKED = 20
VOCABULARY = 30_000
SPEAKERS = ("Caroline", "Melanie")
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "tra", "ste", "pli")
_COLD_RUN = """
import time
from benchmarks.recall_speed import texts
from persona_mind.recall import Doc, Index
facts = [Doc(str(at), text, ("tag",)) for at, text in enumerate(texts(1000, 12))]
began, spent = time.perf_counter(), time.process_time()
Index().sync(facts)
print(1000 * (time.perf_counter() - began), 1000 * (time.process_time() - spent))
"""


def texts(count: int, words: int) -> list[str]:
    """Return so many texts of about so many words, the same each time."""
    rng = random.Random(7)
    vocabulary = ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    small = ("the", "a", "of", "to", "and", "we", "it", "was")
    made = []
    for _ in range(count):
        content = rng.choices(vocabulary, cum_weights=weights, k=max(3, int(rng.gauss(words * 0.6, words * 0.2))))
        filler = rng.choices(small, k=max(1, int(len(content) * 0.6)))
        both = content + filler
        rng.shuffle(both)
        made.append(" ".join(both))
    return made


def turns(count: int) -> list[Turn]:
    """Return a long acquaintance: sessions of twenty turns, an hour each."""
    return [
        Turn(f"t{at}", f"s{at // 20}", f"t{at}", text, at, 1.6e9 + 3600.0 * at, speaker=SPEAKERS[at % 2])
        for at, text in enumerate(texts(count, 20))
    ]


def questions(said: Sequence[Turn]) -> list[str]:
    """Return questions about what was said: five words of a turn and a name."""
    rng = random.Random(11)
    asked = []
    for _ in range(QUESTIONS):
        words = rng.choice(said).text.split()
        asked.append(f"What did {rng.choice(SPEAKERS)} say of {' '.join(rng.sample(words, min(5, len(words))))}?")
    return asked


def _median(search: Callable[[str], object], asked: Sequence[str]) -> tuple[float, float]:
    """Return the milliseconds on the clock and of the processor that a warm search takes, the medians."""
    for question in asked:
        search(question)
    wall, cpu = [], []
    for question in asked:
        began, spent = time.perf_counter(), time.thread_time()
        search(question)
        cpu.append(1000 * (time.thread_time() - spent))
        wall.append(1000 * (time.perf_counter() - began))
    return statistics.median(wall), statistics.median(cpu)


def _measure(size: int) -> None:
    said = turns(size)
    asked = questions(said)
    ranking, facts = Ranking(), Index()
    started = time.perf_counter()
    ranking.sync(said)
    built = time.perf_counter() - started
    started = time.perf_counter()
    ranking.sync(said)
    again = 1000 * (time.perf_counter() - started)
    order = _median(lambda question: ranking.rank(question, 10), asked)
    facts.sync(Doc(turn.key, turn.text, (turn.speaker,), at=turn.at) for turn in said)
    items = _median(lambda question: facts.search(question, 10, ITEMS), asked)
    print(
        f"{size:8d} items   turns {order[0]:6.2f} ms (cpu {order[1]:.2f})   facts {items[0]:6.2f} ms "
        f"(cpu {items[1]:.2f})   goal {GOALS[size]:4.1f}   "
        f"index {built:5.2f} s   unchanged sync {again:6.1f} ms",
        flush=True,
    )


class Noise:
    """Vectors that mean nothing, of MiniLM's length, the same for the same text."""

    name = "noise"

    def embed(self, given: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length for each text."""
        import numpy as np  # noqa: PLC0415 - only for peers

        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in given]
        rows = np.stack([np.random.default_rng(seed).standard_normal(384, dtype=np.float32) for seed in seeds])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _measure_peers(size: int) -> None:
    said = turns(size)
    asked = questions(said)[:PEERS_ASKED]
    held = {turn.key: turn.text for turn in said}
    for name, maker in peers.MAKERS.items():
        try:
            make = maker(Noise())
        except peers.CannotRunError as error:
            print(f"{size:8d} items   {name}: cannot run: {error}", flush=True)
            continue
        with make(held) as search:
            wall, cpu = _median(lambda question, search=search: search(question, 10), asked)
            print(f"{size:8d} items   {name}: {wall:.2f} ms (cpu {cpu:.2f})", flush=True)


def cold() -> tuple[float, float]:
    """Return what a new process needs to index a thousand facts, as ``_median`` does; the medians of five."""
    runs = [
        subprocess.run([sys.executable, "-c", _COLD_RUN], check=True, capture_output=True, text=True) for _ in range(5)
    ]
    took = [tuple(map(float, run.stdout.split())) for run in runs]
    return statistics.median(wall for wall, _ in took), statistics.median(cpu for _, cpu in took)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall_speed", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--peers", action="store_true", help="measure others too, each where installed")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, choices=SIZES)
    given = parser.parse_args(arguments)
    print("median warm recall of 10, vectors off; cpu is what it took by itself, which a busy machine changes less")
    for size in given.sizes:
        _measure(size)
        if given.peers:
            _measure_peers(size)
    wall, cpu = cold()
    print(f"cold index of 1,000 facts: {wall:.1f} ms (cpu {cpu:.1f}, goal {COLD:.0f})")


if __name__ == "__main__":
    main(sys.argv[1:])
