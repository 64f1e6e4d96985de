"""What the file system refuses of a session log, or of the original's notes, is told by an error of ours, and truly."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import PersonaError
from persona_hooks.journal import JsonlJournal
from persona_store import foreign_lock
from tests.support.crash.battery import Operation
from tests.support.crash.checks import scratch
from tests.support.crash.documents import add, ids, store
from tests.support.crash.effects import plans
from tests.support.crash.inside import effects_of, injure_inside, injured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GONE = 2**22 + 7
"""No process has this number."""


def log_of(root: Path) -> Path:
    return root / "logs/log.jsonl"


def say(root: Path, text: str) -> None:
    path = log_of(root)
    journal = JsonlJournal.open(path) if os.access(path, os.F_OK) else JsonlJournal(path, "s1", root)
    journal.message("user", text)


def said(root: Path) -> list[str]:
    """Return what a log holds, read by nothing of ours; a line that was cut short is none."""
    lines = log_of(root).read_bytes().splitlines() if log_of(root).exists() else []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("type") == "message":
            found.append(entry["data"]["content"])
    return found


def nothing(_root: Path) -> None:
    """Begin without anything."""


def untold(found: list[str]) -> list[str]:
    """Leave out the leftover of a new log: it has a name of its own, and is nobody's to remove."""
    return [fault for fault in found if "was left behind" not in fault or ".log.jsonl." not in fault]


LOGS = (
    Operation("first entry", nothing, partial(say, text="one"), said, partial(say, text="again")),
    Operation("next entry", partial(say, text="one"), partial(say, text="two"), said, partial(say, text="again")),
)


@pytest.mark.parametrize("operation", LOGS, ids=lambda operation: operation.name)
def test_a_log_that_is_refused_something_says_so_and_loses_nothing(operation: Operation) -> None:
    assert untold(injure_inside(operation, scratch(), ("errno", "short"))) == []


@pytest.mark.parametrize("operation", LOGS, ids=lambda operation: operation.name)
def test_a_log_whose_writer_is_killed_loses_nothing_that_was_told(operation: Operation) -> None:
    assert untold(injure_inside(operation, scratch(), ("kill_before", "kill_after", "interrupt"))) == []


def read_log(root: Path) -> None:
    assert [entry.type for entry in JsonlJournal.open(log_of(root)).entries()]


def beside_the_original(root: Path) -> None:
    """Two facts, and a lock of the original whose process is gone."""
    add(root, "one")
    add(root, "two")
    path = store(root)[1].path.with_name("elite.json.lock")
    path.touch(mode=0o600)
    path.write_text(f"{socket.gethostname()}:{GONE}-1")


def test_the_originals_lock_that_cannot_be_looked_at_is_an_error_of_ours_and_loses_nothing() -> None:
    once = Operation(
        "add",
        beside_the_original,
        lambda root: add(root, "three", timeout=0.02),
        ids,
        lambda root: add(root, "four", timeout=0.02),
    )

    assert injure_inside(once, scratch(), ("errno", "kill_before")) == []


def reminded(root: Path) -> None:
    foreign_lock.reminding(root / "app.json")


def with_a_reminder(root: Path) -> None:
    (root / "app.json.wakeowner").write_text(f"{socket.gethostname()}:{os.getpid()}:1-abc")


READS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "log": (partial(say, text="one"), read_log),
    "reminders": (with_a_reminder, reminded),
}


@pytest.mark.parametrize("name", READS)
def test_whatever_is_refused_of_a_look_is_an_error_of_ours(name: str) -> None:
    seed, look = READS[name]
    base = scratch()
    operation = Operation(name, seed, look, lambda _: None)
    log = effects_of(operation, base)
    points = plans(log, ("errno",))

    assert len(points) >= 4
    for plan in points:
        with injured(base / "healthy", plan), suppress(PersonaError):
            look(base / "healthy")
