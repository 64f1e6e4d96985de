"""The mind takes its settings from the companion's file, lets the environment overrule them, and reports the result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Start

CAPTURE, NUDGE = "PI_PERSONA_MIND_CAPTURE", "PI_PERSONA_MIND_NUDGE"


@pytest.mark.parametrize(
    ("written", "environ", "capture", "nudge"),
    [
        ({}, {}, ("auto", "default"), (True, "default")),
        ({"capture": "off", "nudge": False}, {}, ("off", "FILE"), (False, "FILE")),
        ({"capture": "off", "nudge": True}, {CAPTURE: " Prompt ", NUDGE: "OFF"}, ("prompt", CAPTURE), (False, NUDGE)),
        ({"capture": "off"}, {CAPTURE: "of", NUDGE: " "}, ("auto", CAPTURE), (True, "default")),
        ({"nudge": False}, {CAPTURE: "off", NUDGE: "no"}, ("off", CAPTURE), (False, NUDGE)),
    ],
)
def test_a_setting_is_reported_as_it_holds_with_what_decided_it(
    start: Start,
    agent_dir: Path,
    project: Path,
    written: dict[str, Any],
    environ: dict[str, str],
    capture: tuple[str, str],
    nudge: tuple[bool, str],
) -> None:
    file = agent_dir / "persona" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mind": written}), "utf-8")
    desk = start(**environ)
    desk.open(cwd=project)
    desk.runtime.blocks("hello")
    found = desk.runtime.settings()
    reported = {key: (one.value, one.source.replace(str(file), "FILE")) for key, one in found.items()}
    assert (reported["mind.capture"], reported["mind.nudge"]) == (capture, nudge)


@pytest.mark.parametrize(
    ("written", "setting"),
    [
        ({"mind": {"capture": "maybe"}}, "mind.capture"),
        ({"mind": {"nudge": "x"}}, "mind.nudge"),
        ({"sessions": {"recall": 5}}, "sessions.recall"),
        ({"recall": {"vectors": 5}}, "recall.vectors"),
    ],
)
def test_the_doctor_warns_of_a_setting_that_cannot_be_read(
    start: Start, agent_dir: Path, project: Path, written: dict[str, Any], setting: str
) -> None:
    file = agent_dir / "persona" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(written), "utf-8")
    desk = start()
    desk.open(cwd=project)
    answer = desk.runtime.command("/mind doctor")
    assert answer.card.level == "warning"
    assert [f"{setting} cannot be read" in warning for warning in answer.details["warnings"]] == [True]
