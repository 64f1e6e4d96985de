"""The move goes on behind a conversation: nobody waits for it, and it says once what it did."""

from __future__ import annotations

import os
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from persona_mind.migration import background
from tests.migration.conftest import entries, fact, item, plant, working

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.migration.conftest import Begin, Desk
    from tests.support.clock import ManualClock

GOOD = "The staging port is 5433."


@pytest.fixture
def held(new: Path) -> Iterator[Path]:
    """A live process of the original holds the persona's file; the note goes with the test."""
    note = new / "memory/ltm/_default.json.lock"
    note.parent.mkdir(parents=True, mode=0o700)
    for folder in (new, new / "memory", new / "memory/ltm"):
        folder.chmod(0o700)
    note.write_text(f"{socket.gethostname()}:{os.getpid()}-1", "utf-8")
    yield note
    note.unlink(missing_ok=True)


def free(held: Path, desk: Desk) -> None:
    held.unlink()
    desk.moved()


def test_what_came_in_is_recalled_and_told_and_so_is_what_was_damaged(begin: Begin, old: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    (old / "memory/ltm/broken.json").write_text("{", "utf-8")
    desk = begin()
    desk.open()
    desk.moved()
    assert desk.recall(scope="persona") == [GOOD]
    assert [line for line in desk.shown.lines if "Moved in" in line] == [
        "Moved in 1 entry from an earlier release. Its files are as they were."
    ]
    assert [str(old / "memory/ltm/broken.json") in line for line in desk.shown.warnings] == [True]
    assert (old / "memory/ltm/broken.json").read_text("utf-8") == "{"


def test_nothing_waits_for_a_move_that_is_held_up(begin: Begin, old: Path, held: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()

    desk.open()
    assert desk.mind.moving.pending
    desk.runtime.input("The weather is fine.")
    desk.runtime.blocks("port")
    assert desk.mind.moving.pending

    free(held, desk)
    assert desk.recall(scope="persona") == [GOOD]
    assert background.WAIT <= 0.1


def test_progress_is_shown_once_and_cleared(begin: Begin, old: Path, held: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()
    desk.open()
    for _ in range(3):
        desk.runtime.blocks("port")
    free(held, desk)
    told = [text for key, text in desk.shown.statuses if key == background.STATUS]
    assert told == ["moving in what an earlier release stored", None]


def test_a_quick_move_shows_no_progress(begin: Begin, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "WAIT", 30.0)
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()
    desk.open()
    assert [text for key, text in desk.shown.statuses if key == background.STATUS] == []


def test_expired_entries_stay_on_disk_while_a_move_is_pending(begin: Begin, old: Path, new: Path, held: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()
    desk.open()
    slug = desk.mind.access.project(desk.runtime.session).slug
    dead = working("It was Monday.", expiresAt="2026-03-02T09:00:00.000Z")
    path = plant(new / f"memory/stm/{slug}.json", dead)

    desk.runtime.settled()
    assert desk.recall(scope="stm") == []
    assert len(entries(path)) == 1

    free(held, desk)
    desk.runtime.settled()
    assert entries(path) == []


def test_reminders_are_set_for_what_came_in(begin: Begin, old: Path, held: Path, clock: ManualClock) -> None:
    desk = begin()
    desk.open("first")
    slug = desk.mind.access.project(desk.runtime.session).slug
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    due = int(clock.now().timestamp() * 1000) + 10_000
    plant(old / f"backlog/{slug}.json", item("Call the printers", dueAtEpochMs=due))
    desk.open("second")
    assert desk.mind.moving.pending
    free(held, desk)

    clock.advance(9.9)
    assert [line for line in desk.shown.lines if "printers" in line] == []
    clock.advance(0.2)
    assert len([line for line in desk.shown.lines if "printers" in line]) == 1
    desk.runtime.command("/mind backlog add something else")
    clock.advance(120)
    assert len([line for line in desk.shown.lines if "printers" in line]) == 1


def test_a_session_that_ended_is_told_nothing_and_the_next_one_goes_on(begin: Begin, old: Path, held: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()
    desk.open("first")
    job = desk.mind.moving._job
    desk.open("second")
    held.unlink()
    assert job is not None
    assert job.ended.wait(30)
    desk.moved()
    assert desk.recall(scope="persona") == [GOOD]
    assert len([line for line in desk.shown.lines if "Moved in" in line]) == 1


def test_a_persona_that_is_chosen_meanwhile_gets_its_own_move(begin: Begin, old: Path, agent_dir: Path) -> None:
    brief = agent_dir / "persona" / "personas" / "dave q" / "brief.yml"
    brief.parent.mkdir(parents=True)
    brief.write_text("name: dave q\nprompt: Be brief.\n", "utf-8")
    desk = begin()
    desk.open()
    slug = desk.mind.access.project(desk.runtime.session).slug
    path = plant(agent_dir / f"persona-mind/backlog/{slug}.json", item("Mine", persona="dave-q"))
    assert desk.runtime.command("/persona use dave q").ok
    desk.runtime.blocks("what is there to do?")
    desk.moved()
    assert [row["persona"] for row in entries(path)] != ["dave-q"]
    assert not old.exists()


@pytest.mark.parametrize("variable", ["PI_PERSONA_LEG", "PI_PERSONA_CHILD", "PI_PERSONA_DISABLE"])
def test_a_leg_and_a_session_without_a_companion_move_nothing(
    variable: str, begin: Begin, old: Path, new: Path
) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin(**{variable: "1"})
    desk.open()
    desk.runtime.blocks("port")
    desk.moved()
    assert not new.exists()


def test_with_memory_off_nothing_moves_until_it_is_on(begin: Begin, old: Path, new: Path, agent_dir: Path) -> None:
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(mode=0o700)
    settings.write_text('{"mind": {"enabled": false}}', "utf-8")
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    desk = begin()
    desk.open()
    assert not new.exists()
    desk.runtime.command("/mind on")
    desk.runtime.blocks("port")
    desk.moved()
    assert desk.recall(scope="persona") == [GOOD]


def test_two_hosts_at_once_bring_everything_in_once(begin: Begin, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", *(fact(f"Number {n}.", id=f"f{n}") for n in range(50)))
    desks = [begin(), begin()]
    threads = [threading.Thread(target=desk.open, args=(f"s{at}",)) for at, desk in enumerate(desks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for desk in desks:
        desk.moved()
    assert len(entries(new / "memory/ltm/_default.json")) == 50


def test_many_warnings_are_not_all_spelled_out(begin: Begin, old: Path) -> None:
    (old / "memory/ltm").mkdir(parents=True)
    for number in range(7):
        (old / f"memory/ltm/p{number}.json").write_text("{", "utf-8")
    desk = begin()
    desk.open()
    desk.moved()
    assert len(desk.shown.warnings) == background.MAX_WARNINGS + 1
    assert "3 more" in desk.shown.warnings[-1]
