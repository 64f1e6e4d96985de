"""Capture: how many requests are written, how many near misses, and what a message without a cue costs.

``python -m benchmarks.capture [--data FILE]``. The sentences are those of the tests; FILE is a list of conversations as
``benchmarks.locomo`` reads it, of whose questions none may be written.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_mind.capture.cues import find_cues
from persona_mind.capture.language import languages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DATA = Path(__file__).parent.parent / "tests" / "mind" / "data"
SENTENCES = ("capture_own.json", "capture_blind.json")
REPEATS = 200

PLAIN = {
    "en": "The second test fails here, and I cannot see why: the fixture is made twice, once for each worker.",
    "de": "Der zweite Test schlägt fehl, ich sehe nicht, warum: die Fixture entsteht zweimal, einmal je Worker.",
    "es": "La segunda prueba falla aquí y no veo la razón: el fixture se crea dos veces, una por proceso.",
    "fr": "Le deuxième test échoue et je ne vois pas la raison : la fixture est créée deux fois, une par processus.",
    "it": "Il secondo test fallisce e non vedo il motivo: la fixture viene creata due volte, una per processo.",
}
"""A message of each language that holds no cue."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the figures of each language, then the writes over questions where a file of them is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("--data", type=Path, help="conversations with questions, as benchmarks.locomo reads them")
    given = parser.parse_args(arguments)
    rows = [row for name in SENTENCES for row in json.loads((DATA / name).read_text(encoding="utf-8"))]
    print("language  requests written   near misses written   µs a message without a cue")
    for language in languages():
        print(_line(language.name, [row for row in rows if row["language"] == language.name]))
    if given.data:
        asked = [
            question["question"] for made in json.loads(given.data.read_text("utf-8")) for question in made["questions"]
        ]
        print(f"{_written(asked)} of {len(asked)} questions written")


def _line(language: str, rows: Sequence[dict[str, Any]]) -> str:
    strong = [row["text"] for row in rows if row["strong"]]
    near = [row["text"] for row in rows if not row["strong"]]
    caught = f"{_written(strong)} of {len(strong)}"
    false = f"{_written(near)} of {len(near)}"
    return f"{language:9s} {caught:>16s}   {false:>19s}   {_microseconds(PLAIN[language]):26.0f}"


def _written(texts: Iterable[str]) -> int:
    return sum(any(cue.strong for cue in find_cues(text)) for text in texts)


def _microseconds(text: str) -> float:
    if find_cues(text):
        message = f"{text!r} holds a cue"
        raise AssertionError(message)
    took = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        find_cues(text)
        took.append(time.perf_counter() - started)
    return 1e6 * statistics.median(took)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
