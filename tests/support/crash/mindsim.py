"""The mind's simulator: a seed decides owner, bus, model, timers, clock and which file effect breaks; laws are checked.

What holds whatever happens: nothing acknowledged is lost but by an acknowledged return to an earlier backup; nothing
erased comes back by capture, merge or such a return, and none of its bytes stay in the profile; nothing
is written while nobody owns the session; no other persona's rows change but by what reaches all of them; no sequence
goes back; what says that nothing was changed has changed nothing; the next one gets in; and a seed always tells the
same story.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import posix
import shutil
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import PersonaError, StorageError
from tests.support.clock import START, ManualClock
from tests.support.crash.battery import child, untidy
from tests.support.crash.checks import scratch
from tests.support.crash.effects import Shim
from tests.support.crash.looking import look
from tests.support.crash.promises import BRINGING, Promises
from tests.support.crash.script import ACTIONS, CALM, PERSONAS, TEXTS, Life, Step, lives_of
from tests.support.crash.shelves import CONFLICT, FOLDERS, about, brought, entries, holding, without_conflicts
from tests.support.crash.world import CALLS, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_hooks.verbs import Answer

SINGLE = frozenset(CALLS)
"""Actions that are one verb, so that its answer speaks for all that happened."""
REACHING = frozenset({"erase", "restore", "merge"})
"""Actions that reach the rows of every persona."""
LAST = Life((CALM, replace(CALM, action="remember", text="Somebody gets in again.")), None)
NEVER = "9999-01-01T00:00:00Z"
Photo = dict[str, bytes]
Seen = tuple[set[tuple[str, str, str]], dict[str, int], list[str]]


@dataclass
class Told:
    """What a seed came to; ``trace`` is what a replay must give again."""

    seed: int
    lives: int = 0
    steps: int = 0
    violations: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)

    @property
    def trace(self) -> str:
        """A hash of the whole story."""
        return hashlib.sha256("\n".join(self.story).encode()).hexdigest()[:16]


def run(seed: int) -> Told:
    """Live through a seed."""
    _warm()
    told, promises, now = Told(seed), Promises(), START
    home = scratch()
    (home / "work").mkdir()
    try:
        for life in [*lives_of(seed), LAST]:
            told.lives += 1
            now = _live(home, life, now, promises, told)
            if told.violations:
                break
    finally:
        shutil.rmtree(home)
    return told


@cache
def _warm() -> None:
    """Do everything once in this process, so that no child has to import it."""
    home = scratch()
    (home / "work").mkdir()
    world = World(home, ManualClock(START))
    for action in ("on", *ACTIONS, "settle"):
        world.perform(replace(CALM, action=action, text=TEXTS[0], reply="remember"))
    world.runtime.close()
    look(home / "agent" / "persona-mind", FOLDERS)
    shutil.rmtree(home)
    # What is there now stays: a child that looks for garbage would copy every page of it.
    gc.collect()
    gc.freeze()


def _live(home: Path, life: Life, now: datetime, promises: Promises, told: Told) -> datetime:
    read_end, write_end = os.pipe()
    ended = child(lambda: _work(home, life, now, write_end), Shim(str(home / "agent"), life.plan))
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        heard = [json.loads(line) for line in stream]
    lines, coming = [line for line in heard if "faults" in line], heard[-1] if heard else {}
    told.steps += len(lines)
    told.story += [json.dumps(line, sort_keys=True) for line in lines]
    told.story.append(f"{life.plan} {ended.word}")
    for step, line in zip(life.steps, lines, strict=False):
        now = datetime.fromisoformat(line["now"])
        told.violations += [f"{step.action}: {fault}" for fault in line["faults"]]
        promises.take(step, line, single=step.action in SINGLE)
    for step in life.steps[len(lines) : len(lines) + 1]:
        promises.interrupted(step, coming)
        now += timedelta(seconds=max(step.clock + step.jump, 0.0))
    if not ended.expected or ended.word == "stuck":
        told.violations.append(f"{ended.word}: {ended.detail}")
    if life is LAST and not (lines and lines[-1]["ok"]):
        told.violations.append(f"the next one did not get in: {lines} {ended.detail}")
    _look(home, now, promises, told)
    return now


def _look(home: Path, now: datetime, promises: Promises, told: Told) -> None:
    without_conflicts(home / "agent")
    try:
        # In this process, which holds nothing of an earlier life: a child for it would cost as much as a life.
        rows, sequences, back = _rows(home / "agent" / "persona-mind", promises.erased)
    except (PersonaError, OSError) as error:
        told.violations.append(f"unreadable: {error}")
        return
    told.violations += [f"erased, but {file}" for file in back]
    told.story.append(json.dumps([sorted(rows), sequences], sort_keys=True))
    log = home / "agent" / "persona-host" / "s1.jsonl"
    promises.judge(rows, sequences, log.read_text() if log.exists() else "", now)
    told.violations += promises.broken
    told.violations += [fault for fault in untidy(home / "agent") if "others" in fault]


def _rows(root: Path, erased: set[int]) -> Seen:
    """Every row as its file, its id and its persona, every file's sequence, and what still holds an erased text."""
    return *look(root, FOLDERS), holding(root, erased)


def _work(home: Path, life: Life, now: datetime, told: int) -> None:
    clock = ManualClock(now)
    try:
        world = World(home, clock)
    except StorageError:
        return  # a session that cannot be opened does nothing
    root = home / "agent" / "persona-mind"
    for step in life.steps:
        clock.advance(step.clock)
        clock.set(max(clock.now() + timedelta(seconds=step.jump), START))
        world.companion.take(step)
        coming = brought(home / "agent", world.path(step)) if step.action in BRINGING else {}
        if coming:
            # Said before it is done, for the case that it is never answered.
            os.write(told, (json.dumps(coming) + "\n").encode())
        before = photo(root)
        answer = world.perform(step)
        after = photo(root)
        faults = list(laws(step, before, after, answer, clock.now()))
        line = {"now": clock.now().isoformat(), "faults": faults, "action": step.action, **_plain(answer), **coming}
        line["seen"] = sorted({about(row["text"]) for data in after.values() for row in entries(data)})
        if step.action == "note":
            line["id"] = ""  # drawn at random, unlike all others
        os.write(told, (json.dumps(line) + "\n").encode())


def _plain(answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {"ok": None, "changed": "unknown", "reason": "", "id": "", "what": "", "left": []}
    details = answer.details
    # A restoration leaves documents, an erasure files.
    left = details.get("left", ()) if answer.verb == "memory.erase" else ()
    return {
        # One that names documents which it left is no full return.
        "ok": answer.ok and not (answer.verb == "profile.restore" and details.get("left")),
        "changed": answer.changed,
        "reason": str(details.get("reason", "")),
        "id": str(details.get("id", "")),
        "scope": str(details.get("scope", "")),
        "what": str(details.get("what", "")),
        "left": [one["path"] for one in left if not one["outside"]],
    }


def photo(root: Path) -> Photo:
    """The bytes of every document, read past the layer that breaks file effects."""
    found: Photo = {}
    for folder in FOLDERS:
        try:
            names = posix.listdir(f"{root / folder}")
        except FileNotFoundError:
            continue
        for name in sorted(names):
            if name.endswith(".json") and not name.startswith(".") and CONFLICT not in name:
                with open(root / folder / name, "rb") as stream:  # noqa: PTH123 - as above
                    found[f"{folder}/{name}"] = stream.read()
    return found


def laws(step: Step, before: Photo, after: Photo, answer: Answer | None, now: datetime) -> Iterator[str]:
    """What one step broke."""
    if step.companion != "ready" and after != before:
        yield f"written while the companion was {step.companion}"
    if answer is not None and answer.details.get("reason") == "internal_error":
        yield f"not an error of ours: {answer.text}"
    if answer is not None and step.action in SINGLE and answer.changed == "no" and after != before:
        yield "said that nothing was changed, but something was"
    for name, data in before.items():
        if name not in after:
            yield f"{name} is gone"
        elif _sequence(after[name]) < _sequence(data):
            yield f"{name} went back"
    if (step.turning is None or step.action in SINGLE) and step.action not in REACHING:
        other = PERSONAS[1 - PERSONAS.index(step.persona)]
        yield from _strangers(other, before, after, now)


def _strangers(other: str, before: Photo, after: Photo, now: datetime) -> Iterator[str]:
    """What changed among the rows of the persona that does not own the session; those that are over may go."""
    for name in sorted({*before, *after}):
        was, became = (_of(other, name, photo.get(name, b"")) for photo in (before, after))
        gone = [row for row in was if row not in became and datetime.fromisoformat(row.get("expiresAt", NEVER)) > now]
        if gone or any(row not in was for row in became):
            yield f"rows of {other} in {name} changed"


def _of(persona: str, name: str, data: bytes) -> list[dict[str, str]]:
    rows = entries(data)
    if name == f"memory/ltm/{persona}.json":
        return list(rows)
    if not name.startswith(("memory/stm/", "backlog/")):
        return []
    # A reminder is shown to whoever is there, and noted in the item, whose ever it is.
    theirs = [row for row in rows if row.get("persona") == persona]
    return [{word: row[word] for word in ("id", "text", "state", "expiresAt") if word in row} for row in theirs]


def _sequence(data: bytes) -> int:
    return int(json.loads(data)["sequence"])


def run_many(seeds: range) -> tuple[int, int, list[Told]]:
    """Live through many seeds; return lives, steps and the seeds that broke something."""
    lives = steps = 0
    broken = []
    for seed in seeds:
        told = run(seed)
        lives, steps = lives + told.lives, steps + told.steps
        if told.violations:
            broken.append(told)
    return lives, steps, broken
