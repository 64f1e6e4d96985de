"""Sessions of the embedded host: new, resumed, forked, moved within, and those that leave nothing."""

from __future__ import annotations

import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.specs import Room
from tests.support.embedded import RecordingScreen, Spy, messages

if TYPE_CHECKING:
    from pathlib import Path

    from persona_host.place import Place
    from tests.embedded.conftest import Opener


def test_nothing_is_written_before_somebody_speaks(open_host: Opener, home: Path) -> None:
    open_host().close()
    assert list(home.iterdir()) == []


def test_a_conversation_is_kept_privately(open_host: Opener, agent_dir: Path) -> None:
    host = open_host()
    host.turns.say("hello")
    path = host.journal.path
    assert path is not None
    assert path.is_relative_to(agent_dir / "persona-host" / "sessions")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in [*path.parents][:3])


def test_another_process_goes_on_where_the_session_was_left(open_host: Opener, place: Place, spy: Spy) -> None:
    host = open_host()
    host.turns.say("one")
    session = host.runtime.session.id
    host.close()
    again = open_host(at=replace(place, session=session))
    again.turns.say("two")
    assert messages(again.journal.branch()) == [("user", "one"), ("user", "two")]
    assert "session_start:resume" in spy.fired


def test_a_session_can_be_begun_under_an_id_of_ones_own(open_host: Opener, place: Place, spy: Spy) -> None:
    host = open_host(at=replace(place, session="mine"))
    assert (host.runtime.session.id, spy.fired[0]) == ("mine", "session_start:startup")


@pytest.mark.parametrize("session", ["", "../x", "a/b", ".hidden", "x" * 65, "a b"])
def test_an_id_that_is_no_file_name_is_refused(open_host: Opener, place: Place, session: str) -> None:
    with pytest.raises(InvalidError, match="session id"):
        open_host(at=replace(place, session=session))


def test_a_new_session_keeps_the_persona_in_use(open_host: Opener, spy: Spy) -> None:
    host = open_host()
    spy.persona = "ada"
    host.new()
    assert host.runtime.session.persona == "ada"
    assert spy.fired == ["session_start:startup", "session_shutdown", "session_start:new"]


def test_a_fork_is_a_session_of_its_own(open_host: Opener, spy: Spy) -> None:
    host = open_host()
    host.turns.say("one")
    first = host.journal
    fork_at = first.leaf
    host.turns.say("two")
    host.fork(fork_at)
    host.turns.say("three")
    assert messages(host.journal.branch()) == [("user", "one"), ("user", "three")]
    assert messages(first.branch()) == [("user", "one"), ("user", "two")]
    assert spy.fired[-7:-4] == ["session_shutdown", "session_start:fork", "input"]


def test_an_empty_session_cannot_be_forked(open_host: Opener) -> None:
    with pytest.raises(NotFoundError, match="Nothing was said"):
        open_host().fork(None)


def test_moving_to_an_entry_begins_another_branch(open_host: Opener, spy: Spy) -> None:
    host = open_host()
    host.turns.say("one")
    one = host.journal.leaf
    host.turns.say("two")
    assert one is not None
    host.move(one)
    host.turns.say("three")
    assert messages(host.journal.branch()) == [("user", "one"), ("user", "three")]
    assert len(host.journal.entries()) == 3
    assert "session_tree" in spy.fired


def test_an_incognito_room_leaves_no_log(open_host: Opener, home: Path, spy: Spy) -> None:
    host = open_host(room=Room(incognito=True))
    host.turns.say("hello")
    host.fork(None)
    host.turns.say("still here")
    assert spy.rooms == [Room(incognito=True)] * 2
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("value", ["1", "true", "ON", "yes please"])
def test_with_the_companion_off_nothing_is_written(open_host: Opener, place: Place, home: Path, value: str) -> None:
    off = replace(place, environ={**place.environ, "PI_PERSONA_DISABLE": value})
    open_host(at=off).turns.say("hello")
    assert list(home.iterdir()) == []


def test_a_malformed_model_is_told_and_the_host_runs_without_one(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    spy.settings = {"models.default.model": "nonsense"}
    open_host().turns.say("hello")
    assert screen.kinds() == ["error", "no_model"]
    assert "models.default.model" in screen.events[0].card.text()


def test_sessions_of_another_directory_are_not_listed(open_host: Opener, place: Place, tmp_path: Path) -> None:
    open_host().turns.say("here")
    elsewhere = tmp_path / "elsewhere" / place.cwd.name
    elsewhere.mkdir(parents=True)
    assert open_host(at=replace(place, cwd=elsewhere)).shelf.kept() == []
