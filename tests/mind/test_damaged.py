"""A document that was damaged is served, and carried on, from its previous version: never without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mind.conftest import Start
    from tests.support.desk import Desk

CHANGES: dict[str, tuple[str, Callable[[Desk], str]]] = {
    "remember": ("memory/ltm/_default.json", lambda _: "/mind remember use ruff"),
    "forget": ("memory/ltm/_default.json", lambda desk: f"/mind forget {first(desk, 'long')}"),
    "promote": ("memory/stm/*.json", lambda desk: f"/mind promote {first(desk, 'stm')}"),
    "supersede": (
        "memory/ltm/_default.json",
        lambda desk: f"/mind remember --scope project --supersedes {first(desk, 'long')} use spaces",
    ),
    "add": ("backlog/*.json", lambda _: "/mind backlog add call the printers"),
    "take": ("backlog/*.json", lambda desk: f"/mind backlog take {item(desk)}"),
    "done": ("backlog/*.json", lambda desk: f"/mind backlog done {item(desk)}"),
    "snooze": ("backlog/*.json", lambda desk: f"/mind backlog snooze {item(desk)}"),
}
READS = {
    "recall": ("memory/ltm/_default.json", "/mind recall tabs"),
    "recall nothing": ("memory/ltm/_default.json", "/mind recall zebras"),
    "list": ("backlog/*.json", "/mind backlog"),
}


def first(desk: Desk, scope: str) -> str:
    """Return what was remembered first there, which the previous version holds, too."""
    return str(desk.say(f"/mind recall --scope {scope} first").details["ids"][0])


def item(desk: Desk) -> str:
    (found,) = [one.id for one in desk.say("/mind backlog").outcome.items if "first" in one.text]
    return found


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    desk = start()
    desk.open(cwd=project)
    for line in ("first use tabs", "then use mypy", "--scope stm first it is broken", "--scope stm then it is late"):
        assert desk.say(f"/mind remember {line}").ok
    for line in ("first paint the mast", "then call the sailmaker"):
        assert desk.say(f"/mind backlog add {line}").ok
    return desk


def damage(profile: Path, pattern: str, *, missing: bool = False) -> Path:
    (path,) = profile.glob(pattern)
    if missing:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    return path


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_goes_on_from_the_previous_version_says_so_once(
    desk: Desk, profile: Path, name: str, *, missing: bool
) -> None:
    pattern, command = CHANGES[name]
    line = command(desk)
    path = damage(profile, pattern, missing=missing)

    done = desk.say(line)
    again = (
        desk.say("/mind remember another") if pattern.startswith("memory") else desk.say("/mind backlog add another")
    )

    assert (done.ok, done.card.level) == (True, "warning"), done.text
    assert f"{path} was {'missing' if missing else 'damaged'}" in done.text
    assert (f"kept as {path.name}.corrupt-0" in done.text) is not missing
    assert str(path) in done.details["warning"]
    assert (again.ok, "warning" in again.details) == (True, False)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", READS)
def test_a_look_at_the_previous_version_says_so(desk: Desk, profile: Path, name: str, *, missing: bool) -> None:
    pattern, line = READS[name]
    assert "warning" not in desk.say(line).details
    path = damage(profile, pattern, missing=missing)

    told = desk.say(line)

    assert (told.ok, told.card.level) == (True, "warning"), told.text
    assert f"{path} is {'missing' if missing else 'damaged'}" in told.text
    assert str(path) in told.details["warning"]
