"""How long a request waits for what is remembered: ``python -m benchmarks.injection_speed [--vectors MODEL]``.

A profile holds a thousand facts: private ones, a project's and working ones, made up as for ``recall_speed``. Each
question is asked twice and the second time counts, the median of all of them: files are read and indexed by then,
and the answer is ranked, chosen and rendered anew. A second row adds twenty notes of the conversation and fifty
items of the backlog. ``cpu`` is what the work took by itself, which a busy machine changes less than ``wall``. With
``--vectors MODEL`` two more rows compare meanings as well; a new question's vector then is part of what is waited for.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import persona_mind
from benchmarks.recall_speed import texts
from persona_mind.kernel.identity import content_id, key
from persona_mind.kernel.scope import find_project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from persona_mind.library import Mind

FACTS = 1_000
NOTES = 20
ITEMS = 50
QUESTIONS = 100
GOAL = 2.0
"""Milliseconds that the median warm injection may take at a thousand facts."""
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
KINDS = ("preference", "convention", "gotcha", "rationale", "note", "note", "note", "note")


def _row(number: int, text: str, **more: str) -> dict[str, object]:
    seen = (NOW - timedelta(hours=number % 40)).isoformat().replace("+00:00", "Z")
    kind = KINDS[number % len(KINDS)]
    identity = content_id(key(kind, text, ()))
    return {"id": identity, "kind": kind, "text": text, "tags": [], "recordedAt": seen, "lastSeenAt": seen, **more}


def _write(path: Path, rows: Sequence[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    envelope = {"version": 1, "updatedAt": "2026-03-02T09:30:00.000Z", "sequence": 1, "entries": list(rows)}
    path.write_text(json.dumps(envelope, indent=2) + "\n", "utf-8")
    path.chmod(0o600)


def _profile(agent_dir: Path, home: Path, project: Path) -> list[str]:
    """Write the facts; return their texts."""
    made = texts(FACTS, 12)
    memory = agent_dir / "persona-mind" / "memory"
    slug = find_project(project, home).slug
    end = (NOW + timedelta(hours=40)).isoformat().replace("+00:00", "Z")
    rows = [_row(number, text) for number, text in enumerate(made)]
    working = [row | {"persona": "Ann", "expiresAt": end} for row in rows[900:]]
    _write(memory / "ltm" / "Ann.json", rows[:700])
    _write(memory / "project" / f"{slug}.json", rows[700:900])
    _write(memory / "stm" / f"{slug}.json", working)
    return made


def _questions(made: Sequence[str]) -> list[str]:
    rng = random.Random(11)
    return [f"What about {' '.join(rng.sample(rng.choice(made).split(), 3))}?" for _ in range(QUESTIONS)]


def measure(mind: Mind, asked: Sequence[str]) -> tuple[float, float]:
    """Return the milliseconds on the clock and of the processor that a warm injection takes, the medians."""
    for question in asked:
        mind.inject(question)
    wall, cpu = [], []
    for question in asked:
        began, spent = time.perf_counter(), time.thread_time()
        mind.inject(question)
        cpu.append(1000 * (time.thread_time() - spent))
        wall.append(1000 * (time.perf_counter() - began))
    return statistics.median(wall), statistics.median(cpu)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injection_speed")
    parser.add_argument("--vectors", metavar="MODEL", help="an absolute path of a model, or a fastembed name")
    given = parser.parse_args(arguments)
    _measure({})
    if given.vectors:
        _measure({"PI_PERSONA_MIND_VECTORS": given.vectors})


def _measure(environ: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        project = home / "rocket"
        (project / ".git").mkdir(parents=True)
        made = _profile(home / "agent", home, project)
        asked = _questions(made)
        with persona_mind.open(
            home / "agent", cwd=project, persona="Ann", now=lambda: NOW, home=home, environ=environ
        ) as mind:
            how = _read(mind, asked[0]) if environ else ""
            _print(f"{FACTS:,} facts{how}", measure(mind, asked))
            for number, text in enumerate(texts(NOTES + ITEMS, 12)):
                mind.call("notes.save" if number < NOTES else "backlog.add", {"text": f"{text} {number}"})
            _print(f"and {NOTES} notes, {ITEMS} items", measure(mind, asked))


def _read(mind: Mind, question: str) -> str:
    """Wait until every fact has a vector; return how that is called."""
    while (told := mind.doctor().meaning) is None or told.state != "ready" or told.waiting or not told.facts:
        mind.recall(question)
        mind.settle()
    return " by meaning"


def _print(what: str, took: tuple[float, float]) -> None:
    wall, cpu = took
    print(f"{what:28s} wall {wall:5.2f} ms   cpu {cpu:5.2f} ms   (goal {GOAL:.0f})")


if __name__ == "__main__":
    main(sys.argv[1:])
