"""Measures of rankings, and the table they are printed in."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

APART = "adversarial"
"""The category that the main figures leave out: its questions are about what was never said."""


@dataclass(frozen=True)
class Question:
    """A question with the turns that hold its answer, and its kind."""

    key: str
    text: str
    category: str
    evidence: frozenset[str]


def measures(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return recall at 5 and 10, normalised discounted gain at 10 and the reciprocal of the first rank, 0 to 1."""
    gains = [1 / math.log2(place + 2) if key in gold else 0.0 for place, key in enumerate(ranked[:10])]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    first = next((place for place, key in enumerate(ranked, 1) if key in gold), None)
    return {
        "R@5": len(set(ranked[:5]) & set(gold)) / len(gold),
        "R@10": len(set(ranked[:10]) & set(gold)) / len(gold),
        "NDCG@10": sum(gains) / ideal,
        "MRR": 1 / first if first else 0.0,
    }


def table(questions: Iterable[Question], rankings: Mapping[str, Sequence[str]]) -> str:
    """Return the measures of each category in percent, those of all questions that have an answer as ``ALL``."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for question in questions:
        row = measures(rankings.get(question.key, ()), question.evidence)
        rows[question.category].append(row)
        rows[f"({APART})" if question.category == APART else "ALL"].append(row)
    return "\n".join(_line(name, rows[name]) for name in sorted(rows))


def _line(name: str, rows: Sequence[Mapping[str, float]]) -> str:
    means = {measure: 100 * sum(row[measure] for row in rows) / len(rows) for measure in rows[0]}
    return f"{name:14s} n={len(rows):4d} " + " ".join(f"{measure} {mean:5.1f}" for measure, mean in means.items())


def sessions_hit(ranked: Iterable[str], session_of: Mapping[str, str], gold: Iterable[str], most: int = 5) -> bool:
    """Say whether a session with an answer is among the first ``most`` distinct sessions of a ranking."""
    distinct = list(dict.fromkeys(session_of[key] for key in ranked))[:most]
    return any(session_of.get(key) in distinct for key in gold)
