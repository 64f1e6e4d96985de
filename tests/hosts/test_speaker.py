"""Whose words they are is said in a host's log, also where the host does not take it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_companion.plugin import CompanionPlugin
from persona_hooks.errors import ConflictError
from persona_hooks.journal import MemoryJournal
from persona_hooks.owner import SPEAKER
from persona_hooks.ports import Capabilities
from persona_host.adapters.stdio.speaker import Speaker
from persona_host.headless import NoModels
from persona_host.runtime import Runtime, Setup
from tests.support.desk import Notices, write_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from persona_hooks.ports import Appended, Guard
    from tests.support.clock import ManualClock


class Stubborn(MemoryJournal):
    """A log whose host refuses entries for a while."""

    refuses = False

    def append(self, guard: Guard, custom_type: str, data: Mapping[str, Any]) -> Appended:
        """Append, or refuse."""
        if self.refuses:
            raise ConflictError("Not now.", reason="stale_session")
        return super().append(guard, custom_type, data)


class Talking:
    """A host's session whose persona changes."""

    def __init__(self, runtime: Runtime, cwd: Path) -> None:
        self.runtime = runtime
        self.cwd = cwd
        self.log = Stubborn("now", cwd)
        self.speaker = Speaker(self.log)

    def to(self, persona: str) -> None:
        """Let ``persona`` be spoken to from now on; where there is none of that name, nobody is."""
        self.runtime.open(self.log, session_id="now", cwd=self.cwd, persona=persona)

    def say(self) -> str:
        """Say something, and return the message's id."""
        self.speaker.tell(self.runtime)
        return self.log.message("user", "hello").id

    def named(self) -> list[Mapping[str, Any]]:
        """Return what the log says of whose words they are."""
        return [entry.data for entry in self.log.branch(SPEAKER)]


@pytest.fixture
def talking(
    home: Path, agent_dir: Path, environ: dict[str, str], clock: ManualClock, tmp_path: Path
) -> Iterator[Talking]:
    """A host's session."""
    for name in ("Ann", "Bob"):
        write_brief(agent_dir / "persona" / "personas", name)
    setup = Setup(
        "test", agent_dir, home, environ, Capabilities(), lambda: [("persona_companion", lambda: CompanionPlugin)]
    )
    runtime = Runtime.start(setup, ui=Notices(), models=NoModels(), scheduler=clock)
    yield Talking(runtime, tmp_path)
    runtime.close()


def test_an_entry_is_appended_where_the_persona_changes(talking: Talking) -> None:
    for persona in ("Ann", "Ann", "Bob", "Ann"):
        talking.to(persona)
        talking.say()
    assert talking.named() == [{"persona": "Ann"}, {"persona": "Bob"}, {"persona": "Ann"}]


@pytest.mark.parametrize("then", ["Bob", "Ann"])
def test_an_entry_that_was_refused_is_made_up_for_and_doubts_what_was_said_meanwhile(
    talking: Talking, then: str
) -> None:
    talking.to("Ann")
    talking.say()
    talking.to("Bob")
    talking.log.refuses = True
    said = [talking.say()]
    talking.speaker.catch_up(talking.runtime)
    said.append(talking.say())
    talking.log.refuses = False
    talking.to(then)
    talking.speaker.catch_up(talking.runtime)
    talking.speaker.catch_up(talking.runtime)
    assert talking.named() == [{"persona": "Ann"}, {"persona": then, "doubted": said}]


def test_without_an_owner_the_log_stops_naming_the_former_one(talking: Talking) -> None:
    talking.to("Nobody known")
    talking.say()
    assert talking.named() == []
    talking.to("Ann")
    talking.say()
    talking.to("Nobody known")
    talking.say()
    talking.say()
    talking.to("Ann")
    talking.say()
    assert talking.named() == [{"persona": "Ann"}, {}, {"persona": "Ann"}]
