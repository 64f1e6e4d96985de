"""A seeded simulator: lives of a process on one profile, each with its own clock, its own faults and its own end.

A seed decides everything: what is done, when the clock jumps, which file effect fails and how, what is found lying
about at the next start. A failure therefore comes back with its seed.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from persona_store import backup
from persona_store.erase import Target, erase
from persona_store.transaction import Profile
from tests.support.crash.battery import child, untidy
from tests.support.crash.checks import scratch
from tests.support.crash.documents import Item, adding
from tests.support.crash.effects import ERRNOS, Plan, Shim

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.document import Document

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
DOCUMENTS = {
    "elite": "memory/ltm/elite.json",
    "shared": "memory/ltm/_shared.json",
    "todo": "backlog/app.json",
}
State = dict[str, list[str]]


@dataclass(frozen=True)
class Step:
    """One thing done: what, in which document, to which text."""

    kind: str
    document: str
    identity: str


@dataclass
class Life:
    """One process from start to end."""

    steps: list[Step]
    clock: list[float]
    plan: Plan | None
    litter: str


@dataclass
class Outcome:
    """What a seed came to."""

    seed: int
    lives: int = 0
    steps: int = 0
    violations: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)


def lives_of(seed: int) -> list[Life]:
    """Write the script of a seed."""
    chance = random.Random(seed)
    names = [f"text number {seed}-{number}" for number in range(6)]
    lives = []
    for _ in range(chance.randint(2, 4)):
        steps = [
            Step(
                chance.choice(("add", "add", "add", "drop", "move", "erase", "backup")),
                chance.choice(tuple(DOCUMENTS)),
                chance.choice(names),
            )
            for _ in range(chance.randint(1, 6))
        ]
        clock = [chance.choice((0.0, 1.0, 86400.0, -3600.0, 3.2e8, -3.2e8)) for _ in steps]
        lives.append(Life(steps, clock, _fault(chance), chance.choice(("", "", "lock", "temporary", "no backup"))))
    return lives


def _fault(chance: random.Random) -> Plan | None:
    kind = chance.choice(("none", "kill_before", "kill_after", "interrupt", "errno", "errno"))
    at = chance.randint(0, 260)
    match kind:
        case "none":
            return None
        case "errno":
            return Plan(at, "errno", chance.choice(ERRNOS["write"]), persistent=chance.random() < 0.3)
        case "kill_before" | "kill_after":
            return Plan(at, kind)
        case _:
            return Plan(at, "interrupt")


def model(state: State, step: Step) -> State:
    """What a step should come to."""
    after = {name: list(rows) for name, rows in state.items()}
    rows = after[step.document]
    match step.kind:
        case "add" if step.identity not in rows:
            rows.append(step.identity)
        case "drop" if step.identity in rows:
            rows.remove(step.identity)
        case "move" if step.document == "elite" and step.identity in rows:
            rows.remove(step.identity)
            after["shared"] = [*(row for row in after["shared"] if row != step.identity), step.identity]
        case "erase":
            after = {name: [row for row in rows if row != step.identity] for name, rows in after.items()}
        case _:
            pass
    return after


def between(before: State, after: State, step: Step) -> Callable[[State], bool]:
    """Whether a state may be what an interrupted step left: each document as before or as after, and for a move
    never neither."""

    def legal(state: State) -> bool:
        if any(state[name] not in (before[name], after[name]) for name in DOCUMENTS):
            return False
        if step.kind != "move" or before == after:
            return True
        return step.identity in state["elite"] or step.identity in state["shared"]

    return legal


def perform(profile: Profile, step: Step) -> None:
    """Do a step for real."""
    documents = {name: profile.document(path, Item) for name, path in DOCUMENTS.items()}
    match step.kind:
        case "add":
            _change(profile, documents[step.document], step.identity, add=True)
        case "drop":
            _change(profile, documents[step.document], step.identity, add=False)
        case "move" if step.document == "elite":
            _move(profile, documents["elite"], documents["shared"], step.identity)
        case "erase":
            erase(profile, Target((step.identity,), (step.identity,)))
        case "backup":
            backup.daily(profile)
        case _:
            pass


def _change(profile: Profile, document: Document[Item], identity: str, *, add: bool) -> None:
    def mutate(snapshot):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - rows of a document
        there = any(item.id == identity for item in snapshot.values)
        if add:
            return None if there else adding(document, identity)(snapshot)
        return [row for row in snapshot.rows if row.value is None or row.value.id != identity]

    if document.family == "memory":
        with profile.transaction() as transaction:
            transaction.update(document, mutate)
    else:
        profile.update(document, mutate)


def _move(profile: Profile, source: Document[Item], target: Document[Item], identity: str) -> None:
    with profile.transaction() as transaction:
        moving = [row for row in source.read().rows if row.value is not None and row.value.id == identity]
        if moving:
            transaction.update(target, lambda there: [*(row for row in there.rows if row not in moving), *moving])
            transaction.update(source, lambda there: [row for row in there.rows if row not in moving])


def look(root: Path) -> State:
    """Read the whole state."""
    profile = Profile(root, lambda: START)
    return {name: [item.id for item in profile.document(path, Item).read().values] for name, path in DOCUMENTS.items()}


def run(seed: int) -> Outcome:
    """Live through a seed."""
    outcome = Outcome(seed)
    base = scratch()
    root = base / "persona-mind"
    state: State = {name: [] for name in DOCUMENTS}
    try:
        for life in lives_of(seed):
            outcome.lives += 1
            _litter(root, life.litter)
            state = _live(root, life, state, outcome)
            if outcome.violations:
                break
    finally:
        shutil.rmtree(base)
    return outcome


def _live(root: Path, life: Life, state: State, outcome: Outcome) -> State:
    read_end, write_end = os.pipe()
    ended = child(lambda: _work(root, life, write_end), Shim(str(root), life.plan))
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        done = stream.read().split()
    outcome.steps += len(done)
    outcome.story.append(
        f"{life.litter or 'clean'}; {life.plan}; {[step.kind for step in life.steps]}: {done} {ended.word}"
    )
    for step in life.steps[: len(done)]:
        state = model(state, step)
    seen = child(lambda: look(root))
    if seen.word != "acknowledged":
        outcome.violations.append(f"unreadable: {seen.detail}")
        return state
    found = cast("State", seen.value)
    if not ended.expected or ended.word == "stuck":
        outcome.violations.append(f"{ended.word}: {ended.detail}")
    waiting = life.steps[len(done) :]
    if waiting and not between(state, model(state, waiting[0]), waiting[0])(found):
        outcome.violations.append(f"{waiting[0]} was interrupted and left {found}; before {state}")
    if not waiting and found != state:
        outcome.violations.append(f"holds {found}, not {state}")
    outcome.violations += [fault for fault in untidy(root) if "others" in fault]
    return found


def _work(root: Path, life: Life, acknowledgements: int) -> None:
    now = START

    def clock() -> datetime:
        return now

    profile = Profile(root, clock)
    for number, (step, jump) in enumerate(zip(life.steps, life.clock, strict=True)):
        now += timedelta(seconds=jump)
        perform(profile, step)
        os.write(acknowledgements, f"{number}\n".encode())


def _litter(root: Path, kind: str) -> None:
    """Leave something about that an earlier end or another program may have left."""
    match kind:
        case "lock" if (root / ".locks").is_dir():
            for path in (root / ".locks").iterdir():
                path.write_bytes(path.read_bytes()[:40])
        case "temporary" if (root / "memory/ltm").is_dir():
            leftover = root / "memory/ltm" / f".elite.json.tmp-{'0' * 32}"
            leftover.touch(mode=0o600)
        case "no backup":
            for path in root.rglob("*.bak"):
                path.unlink()
        case _:
            pass


def run_many(seeds: range) -> tuple[int, int, list[Outcome]]:
    """Live through many seeds; return lives, acknowledged steps and the seeds that broke something."""
    lives = steps = 0
    broken = []
    for seed in seeds:
        outcome = run(seed)
        lives, steps = lives + outcome.lives, steps + outcome.steps
        if outcome.violations:
            broken.append(outcome)
    return lives, steps, broken
