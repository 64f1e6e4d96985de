"""An incognito room reads nothing and writes nothing, whatever is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_hooks.journal import MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.specs import Room
from persona_host.embedded.models import HostModels
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.clock import ManualClock


class Notices:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def notify(self, text: str, level: str = "info") -> None:
        del level
        self.lines.append(text)

    def status(self, key: str, text: str | None) -> None:
        del key, text


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def runtime(
    home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock, notices: Notices
) -> Iterator[Runtime]:
    setup = Setup("test", agent_dir, home, environ, Capabilities(), patience=10)
    runtime = Runtime.start(setup, ui=notices, models=HostModels(environ), scheduler=clock)
    yield runtime
    runtime.close()


def begin(runtime: Runtime, cwd: Path, *, incognito: bool) -> None:
    runtime.open(MemoryJournal("s1", cwd), session_id="s1", cwd=cwd, incognito=incognito)


def test_an_incognito_session_captures_nothing_and_says_so(
    runtime: Runtime, tmp_path: Path, agent_dir: Path, notices: Notices
) -> None:
    begin(runtime, tmp_path, incognito=True)
    runtime.input("Remember that the meeting is at six.")
    assert not agent_dir.exists()
    assert notices.lines == ["Not remembered: this room is incognito."]


def test_every_memory_verb_refuses_in_an_incognito_session(runtime: Runtime, tmp_path: Path, agent_dir: Path) -> None:
    begin(runtime, tmp_path, incognito=True)
    for line in ("/mind", "/mind recall port", "/mind remember a fact", "/mind backlog", "/mind note list"):
        answer = runtime.command(line)
        assert (answer.ok, answer.details["reason"]) == (False, "incognito"), line
    assert not agent_dir.exists()


def test_an_incognito_session_is_given_nothing_that_is_known(runtime: Runtime, tmp_path: Path) -> None:
    begin(runtime, tmp_path, incognito=False)
    assert runtime.command("/mind remember the port is 5433").ok
    begin(runtime, tmp_path, incognito=True)
    assert not [block for block in runtime.blocks("which port?") if "5433" in block.text]


def test_a_room_that_turns_incognito_stops_memory_until_it_turns_back(runtime: Runtime, tmp_path: Path) -> None:
    begin(runtime, tmp_path, incognito=False)
    runtime.fire("room_changed", room=Room(incognito=True))
    assert runtime.command("/mind").details["reason"] == "incognito"
    runtime.fire("room_changed", room=Room(incognito=False))
    assert runtime.command("/mind").ok


def test_turning_memory_on_does_not_open_an_incognito_room(runtime: Runtime, tmp_path: Path) -> None:
    begin(runtime, tmp_path, incognito=True)
    runtime.command("/mind on")
    assert runtime.command("/mind recall port").details["reason"] == "incognito"


def test_a_cue_after_memory_was_turned_off_is_said_not_to_be_kept(
    runtime: Runtime, tmp_path: Path, notices: Notices
) -> None:
    begin(runtime, tmp_path, incognito=False)
    runtime.command("/mind off")
    runtime.input("Remember that I drink milk.")
    assert notices.lines == ["Not remembered: memory is off in this session."]
