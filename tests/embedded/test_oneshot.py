"""The session that one-shot commands share, and the list of commands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click
import pytest

from persona_hooks.journal import JsonlJournal
from persona_host.commandline.group import COMMANDS, main
from persona_host.embedded.shelf import Shelf
from persona_host.oneshot import opened

if TYPE_CHECKING:
    from pathlib import Path

    from persona_host.place import Place


def leave(place: Place, word: str) -> str:
    """Leave an entry in the session that ``place`` means; return the session's id."""
    with opened(place) as (runtime, _):
        runtime.session.journal.append(runtime.session.guard(), "test-word", {"word": word})
        return runtime.session.id


def found(place: Place) -> list[str]:
    with opened(place) as (runtime, _):
        return [entry.data["word"] for entry in runtime.session.journal.branch("test-word")]


def test_what_one_command_leaves_the_next_one_finds(place: Place) -> None:
    leave(place, "one")
    leave(place, "two")
    assert found(place) == ["one", "two"]


@pytest.mark.parametrize("change", ["cwd", "agent_dir", "persona", "session"])
def test_another_directory_persona_or_session_shares_nothing(place: Place, tmp_path: Path, change: str) -> None:
    leave(place, "one")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    values = {"cwd": elsewhere, "agent_dir": elsewhere, "persona": "ada", "session": "mine"}
    assert found(replace(place, **{change: values[change]})) == []


def test_the_pinned_persona_counts_as_one_that_is_asked_for(place: Place) -> None:
    pinned = replace(place, environ={**place.environ, "PI_PERSONA_DEFAULT": "ada"})
    assert leave(pinned, "one") == leave(replace(place, persona="ada"), "two") != leave(place, "three")


def test_a_command_that_leaves_nothing_writes_nothing(place: Place, home: Path) -> None:
    assert found(place) == []
    assert list(home.iterdir()) == []


def test_a_session_that_is_asked_for_keeps_what_commands_leave_in_it(place: Place) -> None:
    leave(replace(place, session="mine"), "one")
    assert found(replace(place, session="mine")) == ["one"]


def test_a_shared_session_is_no_conversation_to_resume(place: Place) -> None:
    leave(place, "one")
    assert Shelf(place.agent_dir, place.cwd).kept() == []


def test_what_two_processes_left_at_once_is_kept_by_both(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    logs = [JsonlJournal(path, "shared", tmp_path, lasting=True) for _ in range(2)]
    for log in logs:
        log.record("word", {"from": str(id(log))})
    assert len(JsonlJournal(path, "shared", tmp_path).branch()) == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").startswith(COMMANDS[name][1].removesuffix("."))
