"""The kinds of what is remembered, facts and notes alike, and how much they matter."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal["objective", "invariant", "preference", "convention", "gotcha", "rationale", "note"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PRIORITY: Final[tuple[Kind, ...]] = (
    "objective",
    "invariant",
    "preference",
    "convention",
    "rationale",
    "gotcha",
    "note",
)
"""Kinds by how much it costs to overlook one."""


def prior(kind: Kind) -> float:
    """Return what recall gives a kind before any question, above 0 and up to 1."""
    return 1.0 - PRIORITY.index(kind) / len(PRIORITY)
