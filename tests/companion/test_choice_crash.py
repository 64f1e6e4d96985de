"""Choosing a persona, injured at every file effect: the choice happened or it did not, and nothing else is lost."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from persona_companion.settings import SettingsFile
from tests.support.clock import ManualClock
from tests.support.crash.battery import Operation, injure
from tests.support.desk import start_desk, write_brief

if TYPE_CHECKING:
    from pathlib import Path

# Each point is a process or three of its own, which a busy machine serves slowly.
pytestmark = pytest.mark.timeout(300)


def seed(first: str | None, root: Path) -> None:
    for name in ("ada", "kiri"):
        write_brief(root / "persona" / "personas", name)
    for path in (root / "persona").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    (root / "persona").chmod(0o700)
    if first is not None:
        text = json.dumps({"theirs": [1], "persona": {"lastPersona": first}})
        (root / "persona" / "settings.json").write_text(text)
        (root / "persona" / "settings.json").chmod(0o600)


def choose(line: str, root: Path) -> None:
    """Choose in a real host; whatever happens, the persona that is shown is the one whose memory is open."""
    desk = start_desk(root, root, {}, ManualClock())
    try:
        desk.open()
        before = desk.owner.persona
        answer = desk.say(line)
        shown = desk.say("/persona").details.get("active")
        assert desk.owner.persona == shown
        if answer.error is not None:
            assert shown == before
            raise answer.error
    finally:
        desk.runtime.close()


def look(root: Path) -> object:
    desk = start_desk(root, root, {}, ManualClock())
    try:
        desk.open()
        path = root / "persona" / "settings.json"
        theirs = json.loads(path.read_text()).get("theirs") if path.exists() else None
        return [desk.owner.persona, theirs]
    finally:
        desk.runtime.close()


def look_at_file(root: Path) -> object:
    settings = SettingsFile(root).read()
    return [settings.remembered(), json.loads(settings.path.read_text())["theirs"]]


def test_a_first_choice_survives_every_death(tmp_path: Path) -> None:
    operation = Operation("first choice", partial(seed, None), partial(choose, "/persona use kiri"), look)
    report = injure(operation, tmp_path, ("kill_before", "kill_after"), every=11)
    assert report.points > 5
    assert not report.violations


@pytest.mark.parametrize("persona", ["kiri", None])
def test_writing_a_choice_survives_every_injury(tmp_path: Path, persona: str | None) -> None:
    operation = Operation(
        "another choice",
        partial(seed, "ada"),
        lambda root: SettingsFile(root).remember(persona, lambda: None),
        look_at_file,
    )
    report = injure(operation, tmp_path, every=11)
    assert report.points > 10
    assert not report.violations
