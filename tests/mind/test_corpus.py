"""The one corpus of messages, held against the mind as their reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.messages import (
    BRAKE,
    COMPANION,
    MEMORY_OWNER,
    SETTINGS_COLLECT,
    BrakeReply,
    CompanionReply,
    OwnerReply,
    SettingsReply,
)
from tests.support.corpus import Case, cases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Start
    from tests.support.desk import Desk

SESSION = "s"
UNREADABLE = "incompatible_companion"


def companion(provider: object = "other") -> dict[str, Any]:
    return {"provider": provider, "contract": 1, "release": "1", "sessionId": SESSION}


def owner() -> dict[str, Any]:
    return {"provider": "other", "sessionId": SESSION, "seat": "main", "ready": True, "persona": "Ann"}


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    desk = start(companion=False)
    desk.open(SESSION, cwd=project)
    return desk


def reason(desk: Desk) -> object:
    return desk.say("/mind remember use tabs").details.get("reason")


@pytest.mark.parametrize("case", cases(CompanionReply), ids=str)
def test_a_companion_is_believed_exactly_when_its_reply_is_well_formed(desk: Desk, case: Case, profile: Path) -> None:
    desk.client.provide(COMPANION, lambda _: case.payload)
    desk.client.provide(MEMORY_OWNER, lambda _: owner())
    given = reason(desk)
    # A null reply is silence, which is refused as such.
    assert (given in {UNREADABLE, "no_companion"}) is not case.accepted
    assert given is None or not profile.exists()


@pytest.mark.parametrize("case", cases(OwnerReply), ids=str)
def test_an_owner_is_believed_exactly_when_its_reply_is_well_formed(desk: Desk, case: Case, profile: Path) -> None:
    provider = case.payload.get("provider", "other") if isinstance(case.payload, dict) else "other"
    desk.client.provide(COMPANION, lambda _: companion(provider if isinstance(provider, str) and provider else "other"))
    desk.client.provide(MEMORY_OWNER, lambda _: case.payload)
    given = reason(desk)
    assert (given in {UNREADABLE, "no_owner", "incompatible_companion"}) is not case.accepted
    assert given is None or not profile.exists()


@pytest.mark.parametrize("case", cases(BrakeReply), ids=str)
def test_a_brake_lets_objectives_pass_only_by_a_well_formed_clear_reply(desk: Desk, case: Case) -> None:
    desk.client.provide(COMPANION, lambda _: companion())
    desk.client.provide(MEMORY_OWNER, lambda _: owner())
    assert desk.say("/mind remember --kind objective win the race").ok
    brakes = {"key": "brief.brakes", "value": True, "source": "brief.yml"}
    desk.client.provide(SETTINGS_COLLECT, lambda _: {"provider": "other", "settings": [brakes]})
    desk.client.provide(BRAKE, lambda _: case.payload)
    shown = any("win the race" in block.text for block in desk.runtime.blocks("race"))
    here = isinstance(case.payload, dict) and (case.payload.get("sessionId"), case.payload.get("seat")) == ("s", "main")
    clear = case.accepted and here and case.payload["state"] == "clear"
    assert shown == clear


@pytest.mark.parametrize("case", cases(SettingsReply), ids=str)
def test_settings_that_are_malformed_are_ignored(desk: Desk, case: Case) -> None:
    desk.client.provide(COMPANION, lambda _: companion())
    desk.client.provide(MEMORY_OWNER, lambda _: owner())
    desk.client.provide(SETTINGS_COLLECT, lambda _: case.payload)
    report = desk.say("/mind doctor").details
    assert case.accepted or (report["enabled"], report["capture"]) == (True, "auto")
