"""Without an owner to rely on, nothing is remembered, read or created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.messages import COMPANION, MEMORY_OWNER
from tests.support.desk import Desk, files_below
from tests.support.sweeping import plausible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mind.conftest import Start

CALLS: dict[str, dict[str, Any]] = {
    "memory.remember": {"text": "use tabs"},
    "memory.recall": {"query": "tabs"},
    "memory.read": {"id": "abc"},
    "memory.forget": {"id": "abc"},
    "memory.promote": {"id": "abc"},
    "backlog.add": {"text": "use tabs", "due": 60},
    "backlog.list": {},
    "backlog.take": {"id": "abc"},
    "backlog.done": {"id": "abc"},
    "backlog.drop": {"id": "abc"},
    "backlog.snooze": {"id": "abc"},
    "mind.snapshot": {},
    "mind.doctor": {},
    "mind.off": {},
    "mind.on": {},
}


def companion(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - wire values
    return {"provider": "other", "contract": 1, "release": "1", "sessionId": "s1", **changed}


def owner(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - wire values
    return {"provider": "other", "sessionId": "s1", "seat": "main", "ready": True, "persona": "Ann", **changed}


def nobody(_: Desk) -> None:
    """No companion at all."""


def silent_owner(desk: Desk) -> None:
    desk.client.provide(COMPANION, lambda _: companion())


def late(desk: Desk) -> None:
    silent_owner(desk)
    desk.client.provide(MEMORY_OWNER, lambda _: owner(ready=False))


def raising(desk: Desk) -> None:
    def fail(_: object) -> object:
        raise RuntimeError("the companion's own trouble")

    desk.client.provide(COMPANION, fail)


def another_version(desk: Desk) -> None:
    desk.client.provide(COMPANION, lambda _: companion(contract=2))
    desk.client.provide(MEMORY_OWNER, lambda _: owner())


def another_session(desk: Desk) -> None:
    silent_owner(desk)
    desk.client.provide(MEMORY_OWNER, lambda _: owner(sessionId="s9"))


def two(desk: Desk) -> None:
    desk.client.provide(COMPANION, lambda _: companion())
    desk.client.provide(COMPANION, lambda _: companion(provider="third"))
    desk.client.provide(MEMORY_OWNER, lambda _: owner())


def two_owners(desk: Desk) -> None:
    silent_owner(desk)
    for _ in range(2):
        desk.client.provide(MEMORY_OWNER, lambda _: owner())


REASONS: dict[Callable[[Desk], None], str] = {
    nobody: "no_companion",
    silent_owner: "no_owner",
    late: "owner_not_ready",
    raising: "companion_failed",
    another_version: "incompatible_companion",
    another_session: "foreign_owner",
    two: "ambiguous_companion",
    two_owners: "ambiguous_owner",
}


@pytest.mark.parametrize("trouble", REASONS, ids=lambda trouble: trouble.__name__)
def test_every_verb_refuses_with_the_reason_and_no_file_appears(
    start: Start, project: Path, home: Path, trouble: Callable[[Desk], None]
) -> None:
    desk = start(companion=False)
    trouble(desk)
    session = desk.open(cwd=project)
    before = files_below(home)
    offered = list(desk.runtime.registry)
    assert set(CALLS) <= {verb.name for verb in offered}
    for verb in offered:
        arguments = CALLS.get(verb.name) or plausible(verb)
        audience = "script" if "script" in verb.shown_to else min(verb.shown_to)
        answer = desk.runtime.call(verb.name, arguments, session=session, origin="user", audience=audience)
        assert answer.details["reason"] == REASONS[trouble], verb.name
    assert files_below(home) == before


@pytest.mark.parametrize("trouble", REASONS, ids=lambda trouble: trouble.__name__)
def test_nothing_is_captured_injected_or_swept(
    start: Start, project: Path, home: Path, trouble: Callable[[Desk], None]
) -> None:
    desk = start(companion=False)
    trouble(desk)
    desk.open(cwd=project)
    before = files_below(home)
    desk.runtime.input("Remember that the port is 5433.")
    assert desk.runtime.blocks("port") == []
    assert desk.runtime.settled() == []
    desk.runtime.shut_session()
    assert files_below(home) == before


def test_a_disabled_companion_turns_memory_off(start: Start, project: Path, home: Path) -> None:
    desk = start(PI_PERSONA_DISABLE="1")
    desk.open(cwd=project)
    before = files_below(home)
    assert desk.say("/mind remember use tabs").details["reason"] == "no_companion"
    assert desk.runtime.blocks("tabs") == []
    assert files_below(home) == before


def test_an_owner_that_changes_under_a_write_stops_it(start: Start, project: Path, profile: Path) -> None:
    desk = start(companion=False)
    answers = iter(["Ann"] + ["Bob"] * 9)
    session = desk.open(cwd=project)
    desk.client.provide(COMPANION, lambda _: companion())
    desk.client.provide(MEMORY_OWNER, lambda _: owner(persona=next(answers)))
    answer = desk.runtime.call(
        "memory.remember", {"text": "use tabs"}, session=session, origin="user", audience="script"
    )
    assert (answer.ok, answer.changed, answer.details["reason"]) == (False, "no", "owner_changed")
    assert not list(profile.rglob("*.json"))


def test_a_worker_has_no_memory_verbs(start: Start, project: Path, home: Path) -> None:
    desk = start(PI_PERSONA_CHILD="1")
    session = desk.open(cwd=project)
    before = files_below(home)
    for name in ("memory.remember", "memory.recall", "memory.forget"):
        answer = desk.runtime.call(name, CALLS[name], session=session, origin="model", audience="model")
        assert answer.details["reason"] == "leg"
    assert files_below(home) == before
