"""What a seed of the mind's simulator says shall happen: who owns the session when, what is asked, what breaks."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from tests.support.crash.effects import Plan

PERSONAS = ("Ann", "Bob")
TEXTS = tuple(
    f"The {colour} lamp stands in room {number}." for number, colour in enumerate(("red", "blue", "green"), 11)
)
TIERS = ("persona", "shared", "project", "stm")
Companion = Literal["ready", "late", "nobody", "twice", "stranger", "raising"]
COMPANIONS: tuple[Companion, ...] = ("ready", "late", "nobody", "twice", "stranger", "raising")
ACTIONS = (
    *("remember",) * 6,
    *("forget", "promote", "add", "finish", "note", "hear", "turn", "turn"),
    *("off", "on", "on", "on", "restart", "settle", "backup", "doctor"),
    *("erase", "erase", "erase", "insist", "save", "save", "restore", "restore", "merge"),
)


@dataclass(frozen=True)
class Step:
    """One thing that happens.

    Attributes:
        action: What is done.
        text: The fact, item or note that it is about.
        tier: Where the fact goes.
        persona: Who owns the session when it begins.
        companion: How the companion answers when it begins.
        turning: After so many of its answers it names the other persona, or nobody any more; None for never.
        revoked: Whether it then names nobody.
        clock: Seconds by which timers and clock move on before it.
        jump: Seconds by which the wall clock alone is moved before it.
        reply: What the model says in a turn.
    """

    action: str
    text: str
    tier: str
    persona: str
    companion: Companion
    turning: int | None
    revoked: bool
    clock: float
    jump: float
    reply: str


@dataclass(frozen=True)
class Life:
    """One process: what happens in it, and which file effect breaks it."""

    steps: tuple[Step, ...]
    plan: Plan | None


CALM = Step("on", TEXTS[0], "persona", "Ann", "ready", None, revoked=False, clock=0.0, jump=0.0, reply="prose")
"""A step at which nothing is out of the ordinary."""


def lives_of(seed: int) -> list[Life]:
    """Write the script of a seed: two lives to four, of which the first begins with something to lose."""
    chance = random.Random(seed)
    first, *others = [tuple(_step(chance) for _ in range(chance.randint(2, 8))) for _ in range(chance.randint(2, 4))]
    told = [replace(CALM, action="remember", text=text, tier=chance.choice(TIERS)) for text in TEXTS]
    begun = (*told[: chance.randint(1, 3)], *[replace(CALM, action="save")][: chance.randint(0, 1)])
    return [Life((*begun, *first), _fault(chance)), *(Life(steps, _fault(chance)) for steps in others)]


def _step(chance: random.Random) -> Step:
    return Step(
        action=chance.choice(ACTIONS),
        text=chance.choice(TEXTS),
        tier=chance.choice(TIERS),
        persona=chance.choice((PERSONAS[0], *PERSONAS)),
        companion=chance.choice(COMPANIONS) if chance.random() < 0.2 else "ready",
        turning=chance.randint(1, 4) if chance.random() < 0.2 else None,
        revoked=chance.random() < 0.5,
        clock=chance.choice((0.0, 1.0, 90.0, 700.0)),
        jump=chance.choice((0.0, 0.0, 0.0, -3600.0, 86_400.0, 200_000.0)),
        reply=chance.choice(("remember", "add", "nonsense", "prose", "unknown", "fails")),
    )


def _fault(chance: random.Random) -> Plan | None:
    kind = chance.choice(("none", "kill_before", "kill_after", "interrupt", "errno", "errno", "short"))
    # An erasure has some thousand effects, most steps a hundred.
    at = chance.randint(0, chance.choice((420, 420, 2000)))
    match kind:
        case "none":
            return None
        case "errno":
            return Plan(at, "errno", persistent=chance.random() < 0.3)
        case "kill_before" | "kill_after" | "short":
            return Plan(at, kind)
        case _:
            return Plan(at, "interrupt")
