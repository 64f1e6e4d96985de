"""A plugin that fails or is late: the person is told what may be lacking, and which plugin it was."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks import hookimpl
from persona_hooks.journal import MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.specs import Block
from persona_host.headless import NoModels, SystemScheduler
from persona_host.runtime import Runtime, Setup
from tests.support.cli import PERSONA
from tests.support.desk import Notices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from persona_hooks.ports import Host, Session
    from persona_hooks.turn import Turn
    from persona_host.loading import Found


def late(turn: Turn) -> None:
    while turn.remaining:
        time.sleep(0.01)
    time.sleep(0.3)


def fails(turn: Turn) -> None:
    raise KeyError(turn.generation)


def works(turn: Turn) -> None:
    turn.check()


class Keeper:
    """A plugin that takes in what is said and gives a block, after whatever ``act`` does."""

    act: Callable[[Turn], None] = staticmethod(works)

    def __init__(self, host: Host) -> None:
        self.host = host

    @hookimpl
    def input(self, session: Session, text: str, turn: Turn) -> None:
        del session, text
        self.act(turn)

    @hookimpl
    def before_agent_start(self, session: Session, prompt: str, turn: Turn) -> list[Block]:
        del session, prompt
        self.act(turn)
        return [Block("keeper", text="kept", order=1)]


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
def runtime(home: Path, agent_dir: Path, environ: dict[str, str], notices: Notices) -> Iterator[Runtime]:
    def plugins() -> Found:
        return [("keeper", lambda: Keeper)]

    setup = Setup("test", agent_dir, home, environ, Capabilities(), plugins)
    runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=SystemScheduler())
    runtime.open(MemoryJournal("s1", home), session_id="s1", cwd=home)
    yield runtime
    runtime.close()


def test_nothing_is_told_where_all_plugins_answered(runtime: Runtime, notices: Notices) -> None:
    runtime.input("Remember this.")
    assert [block.text for block in runtime.blocks("Hello.")] == ["kept"]
    assert notices.lines == []


@pytest.mark.parametrize("act", [late, fails])
def test_what_may_not_have_been_saved_or_given_is_told(
    runtime: Runtime, notices: Notices, monkeypatch: pytest.MonkeyPatch, act: Callable[[Any], None]
) -> None:
    monkeypatch.setattr(Keeper, "act", staticmethod(act))
    runtime.input("Remember this.")
    (line,) = notices.lines
    assert "keeper failed or did not answer in time" in line
    assert "may not have been saved" in line
    assert runtime.blocks("Hello.") == []
    assert "the model is not given" in notices.lines[-1]


def test_nobody_is_told_of_what_nobody_said(
    runtime: Runtime, notices: Notices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keeper, "act", staticmethod(fails))
    runtime.input("Remember this.", "extension")
    assert notices.lines == []


def test_what_is_late_can_be_waited_for(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keeper, "act", staticmethod(late))
    runtime.input("Remember this.")
    assert not runtime.caught_up(0)
    assert runtime.caught_up(20)


def test_who_speaks_to_a_plugin_that_cannot_be_loaded_is_told_once_in_a_session(
    home: Path, agent_dir: Path, environ: dict[str, str], notices: Notices
) -> None:
    def broken() -> Callable[[Host], object]:
        raise ImportError

    setup = Setup("test", agent_dir, home, environ, Capabilities(), lambda: [("keeper", broken)])
    runtime = Runtime.start(setup, ui=notices, models=NoModels(), scheduler=SystemScheduler())
    for session in ("s1", "s2"):
        runtime.open(MemoryJournal(session, home), session_id=session, cwd=home)
        runtime.input("A note of another program's.", "extension")
        runtime.input("Remember this.")
        runtime.input("Remember that.")
    assert len(notices.lines) == 2
    assert all("keeper could not be loaded" in line for line in notices.lines)
    runtime.close()


@pytest.mark.parametrize("words", [["chat", "--plain"], ["hook", "UserPromptSubmit"]])
def test_who_asks_for_something_to_be_remembered_where_memory_cannot_be_loaded_is_told(
    home: Path, environ: dict[str, str], words: list[str]
) -> None:
    broken = home / "broken" / "persona_mind"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError\n", encoding="utf-8")
    said = "Remember that the red port is 5430."
    payload = {"session_id": "s1", "cwd": str(home), "hook_event_name": "UserPromptSubmit", "prompt": said}
    done = subprocess.run(
        [str(PERSONA), *words],
        input=json.dumps(payload) if words[0] == "hook" else f"{said}\n",
        env={**environ, "PYTHONPATH": os.pathsep.join([str(broken.parent), os.environ.get("PYTHONPATH", "")])},
        cwd=home,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.stdout + done.stderr).count("persona_mind could not be loaded") == 1
