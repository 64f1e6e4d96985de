from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.cards import render
from persona_hooks.errors import BusyError
from persona_hooks.journal import MemoryJournal
from persona_mind.backlog.model import AFTER_REMINDER
from persona_mind.backlog.reminders import CHUNK, WAKE
from persona_store.locks import LockName, Rank
from tests.backlog.desk import T0, Keeper, entries, item, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.backlog.conftest import Begin
    from tests.support.clock import ManualClock

DAY = 86_400.0


def store_of(keeper: Keeper, cwd: Path) -> Path:
    project = keeper.mind.access.project(keeper.runtime._session) if keeper.runtime._session else None
    if project is None:
        from persona_mind.kernel.scope import find_project  # noqa: PLC0415

        project = find_project(cwd, keeper.runtime.setup.home)
    return keeper.mind.backlog.files.document(project).path


@pytest.fixture
def keeper(begin: Begin, project: Path) -> Keeper:
    started = begin()
    started.open(project)
    return started


def test_an_item_is_shown_at_its_deadline_and_once(keeper: Keeper, project: Path) -> None:
    handle = keeper.add("call the printers", due=10)
    keeper.clock.advance(9.999)
    assert (keeper.cards(), keeper.shown.lines) == ([], [])
    keeper.clock.advance(0.001)
    (card,) = keeper.cards()
    assert card.body == (f"[{handle}] (by user) call the printers",)
    assert keeper.shown.lines == ["Reminder: call the printers"]
    (row,) = entries(store_of(keeper, project))
    assert "dueAtEpochMs" not in row
    assert row["remindedDueEpochMs"] == T0 + 10_000
    assert row["history"][-1] == {"to": "reminded", "at": "2026-03-02T09:30:10.000Z", "dueAtEpochMs": T0 + 10_000}
    keeper.add("something else")
    keeper.clock.advance(DAY)
    assert len(keeper.cards()) == 1
    assert len(keeper.shown.lines) == 1


def test_a_reminder_is_a_card_and_a_line_and_never_a_turn(keeper: Keeper) -> None:
    keeper.add("call the printers", due=10)
    keeper.clock.advance(10)
    entry_types = [entry.type for entry in keeper.runtime.session.journal.entries()]
    assert entry_types == ["custom"]


def test_the_log_holds_ids_and_the_words_are_looked_up_when_shown(keeper: Keeper) -> None:
    handle = keeper.add("call the printers", due=10)
    keeper.clock.advance(10)
    assert "printers" not in keeper.logged()
    keeper.say(f"/mind backlog done {handle}")
    assert keeper.cards()[0].body == (f"[{handle}] (by user) call the printers (done)",)
    keeper.say("/mind off")
    assert keeper.cards()[0].body == (f"[{handle}] (memory is off)",)


def test_what_is_due_at_once_is_shown_at_once(keeper: Keeper) -> None:
    keeper.add("right now", dueInSeconds=0.0001)
    assert keeper.shown.lines == ["Reminder: right now"]


def test_an_item_that_came_due_while_another_was_added_is_shown(keeper: Keeper) -> None:
    keeper.add("first", due=5)
    keeper.clock.set(keeper.clock.now() + timedelta(seconds=6))
    keeper.add("second")
    assert keeper.shown.lines == ["Reminder: first"]


@pytest.mark.parametrize("command", ["done", "drop"])
def test_a_closed_item_is_not_shown(keeper: Keeper, command: str) -> None:
    handle = keeper.add("call the printers", due=10)
    keeper.say(f"/mind backlog {command} {handle}")
    keeper.clock.advance(DAY)
    assert keeper.shown.lines == []


def test_a_taken_item_is_shown(keeper: Keeper) -> None:
    handle = keeper.add("call the printers", due=10)
    keeper.say(f"/mind backlog take {handle}")
    keeper.clock.advance(10)
    assert keeper.shown.lines == ["Reminder: call the printers"]


def test_a_snoozed_item_is_shown_again_at_its_new_deadline(keeper: Keeper) -> None:
    handle = keeper.add("call the printers", due=10)
    keeper.clock.advance(10)
    keeper.say(f"/mind backlog snooze {handle} in 20 minutes")
    keeper.clock.advance(1_199)
    assert len(keeper.cards()) == 1
    keeper.clock.advance(1)
    assert len(keeper.cards()) == 2


def test_a_deadline_weeks_away_is_waited_for_in_short_stretches(keeper: Keeper) -> None:
    keeper.add("renew the certificate", due=3_000_000.0)
    waits = [timer.due - keeper.clock.monotonic() for _, _, timer in keeper.clock._timers if not timer.cancelled]
    assert waits == [CHUNK]
    keeper.clock.advance(2_999_999)
    assert keeper.shown.lines == []
    keeper.clock.advance(1)
    assert keeper.shown.lines == ["Reminder: renew the certificate"]


def test_a_laptop_that_slept_through_a_deadline_shows_it_soon_after(keeper: Keeper) -> None:
    keeper.add("call the printers", due=3_600)
    keeper.clock.set(keeper.clock.now() + timedelta(hours=5))
    keeper.clock.advance(CHUNK)
    assert keeper.shown.lines == ["Reminder: call the printers"]


def test_what_came_due_meanwhile_is_shown_together_at_the_next_start(
    begin: Begin, project: Path, clock: ManualClock
) -> None:
    first = begin()
    first.open(project)
    for number in range(25):
        first.add(f"item {number:02} " + "x" * 8_000, due=1 + number)
    first.runtime.close()
    clock.advance(3_600)
    assert first.shown.lines == []
    second = begin()
    second.open(project, "s2")
    (card,) = second.cards()
    assert card.title == "25 reminders"
    assert len(card.body) == 20
    assert "+5 more" in card.text()
    assert len(card.text()) < 6_000
    assert len(second.shown.lines) == 1
    assert len(second.shown.lines[0]) <= 160
    assert second.runtime.session.journal.branch("message") == []
    second.open(project, "s3")
    assert second.cards() == []


def test_after_a_restart_the_timer_is_set_again(begin: Begin, project: Path, clock: ManualClock) -> None:
    first = begin()
    first.open(project)
    first.add("call the printers", due=600)
    first.runtime.close()
    clock.advance(300)
    second = begin()
    second.open(project, "s2")
    clock.advance(299)
    assert second.shown.lines == []
    clock.advance(1)
    assert second.shown.lines == ["Reminder: call the printers"]
    assert first.shown.lines == []


def test_a_session_that_ended_shows_nothing(keeper: Keeper) -> None:
    keeper.add("call the printers", due=10)
    keeper.runtime.shut_session()
    keeper.clock.advance(DAY)
    assert keeper.shown.lines == []


def test_a_session_that_ends_while_the_backlog_is_read_shows_nothing(
    begin: Begin, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = begin()
    keeper.open(project)
    keeper.add("call the printers", due=10)
    log = keeper.runtime.session.journal
    read = keeper.mind.backlog.awaited

    def slow(*arguments: Any) -> Any:  # noqa: ANN401 - as it is
        found = read(*arguments)
        keeper.mind.reminders.stop()
        return found

    monkeypatch.setattr(keeper.mind.backlog, "awaited", slow)
    keeper.clock.advance(10)
    assert keeper.shown.lines == []
    assert log.branch(WAKE) == []


def test_a_replaced_session_is_not_written_to(keeper: Keeper) -> None:
    keeper.add("call the printers", due=10)
    journal = keeper.runtime.session.journal
    journal.generation += 1
    keeper.clock.advance(10)
    assert journal.branch(WAKE) == []
    assert keeper.shown.lines == keeper.shown.warnings == []


@contextmanager
def held(keeper: Keeper, project: Path) -> Iterator[None]:
    """Keep the backlog's lock as another process would."""
    path = store_of(keeper, project)
    script = (
        "import sys, datetime\nfrom pathlib import Path\nfrom persona_store.locks import LockName, Locks, Rank\n"
        "with Locks(Path(sys.argv[1])).hold(LockName(Rank.STORE, 'backlog', sys.argv[2])):\n"
        "    print('held', flush=True)\n    sys.stdin.readline()\n"
    )
    root = keeper.mind.backlog.files.profile.root
    name = f"backlog/{path.name}"
    assert (root / ".locks" / LockName(Rank.STORE, "backlog", name).file).exists()
    with subprocess.Popen(
        [sys.executable, "-c", script, str(root), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield
        child.communicate("\n")


def test_while_the_note_on_disk_waits_it_is_not_shown_twice_and_a_new_deadline_is_shown(
    keeper: Keeper, project: Path
) -> None:
    handle = keeper.add("call the printers", due=10)
    with held(keeper, project):
        keeper.clock.advance(10)
        assert len(keeper.cards()) == 1
        assert "dueAtEpochMs" in entries(store_of(keeper, project))[0]
    keeper.clock.advance(5)
    assert "dueAtEpochMs" not in entries(store_of(keeper, project))[0]
    assert len(keeper.cards()) == 1
    keeper.say(f"/mind backlog snooze {handle} 30")
    keeper.clock.advance(30)
    assert [card.body for card in keeper.cards()] == [(f"[{handle}] (by user) call the printers",)] * 2


def test_a_deadline_renewed_while_the_old_one_is_shown_is_not_lost(
    keeper: Keeper, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = keeper.add("call the printers", due=10)
    acknowledge = keeper.mind.backlog.acknowledge

    def renewed(*arguments: Any) -> None:  # noqa: ANN401 - as it is
        monkeypatch.setattr(keeper.mind.backlog, "acknowledge", acknowledge)
        with monkeypatch.context() as patch:
            patch.setattr(keeper.mind.reminders, "changed", lambda _: None)
            keeper.runtime.tool("backlog", {"action": "snooze", "id": handle, "due": 100})
        acknowledge(*arguments)

    monkeypatch.setattr(keeper.mind.backlog, "acknowledge", renewed)
    keeper.clock.advance(10)
    assert entries(store_of(keeper, project))[0]["dueAtEpochMs"] == T0 + 110_000
    keeper.clock.advance(100)
    assert len(keeper.cards()) == 2


def test_a_session_resumed_before_the_note_was_written_does_not_show_it_again(
    begin: Begin, project: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin()
    log = MemoryJournal("s1", project, now=clock.now)
    first.open(project, journal=log)
    first.add("call the printers", due=10)

    def fail(*_: object) -> None:
        raise BusyError("held")

    monkeypatch.setattr(first.mind.backlog, "acknowledge", fail)
    clock.advance(10)
    first.runtime.close()
    second = begin()
    second.open(project, journal=log)
    assert (second.shown.lines, len(second.cards())) == ([], 1)
    assert "dueAtEpochMs" not in entries(store_of(second, project))[0]


def test_an_item_due_at_its_end_is_shown_and_kept_for_a_day(keeper: Keeper, project: Path) -> None:
    handle = keeper.add("renew the certificate", due=72 * 3_600.0)
    keeper.clock.advance(72 * 3_600.0 - 1)
    keeper.runtime.settled()
    keeper.clock.advance(1)
    keeper.runtime.settled()
    assert keeper.shown.lines == ["Reminder: renew the certificate"]
    assert keeper.cards()[0].body == (f"[{handle}] (by user) renew the certificate",)
    assert keeper.say(f"/mind backlog take {handle}").ok
    keeper.clock.advance(AFTER_REMINDER.total_seconds())
    keeper.runtime.settled()
    assert entries(store_of(keeper, project)) == []
    assert keeper.cards()[0].body == (f"[{handle}] (no longer in the backlog)",)


def test_an_item_past_its_end_is_shown_once_and_then_swept(begin: Begin, project: Path, clock: ManualClock) -> None:
    first = begin()
    first.open(project)
    first.add("call the printers", due=60, ttlHours=1)
    first.runtime.close()
    clock.advance(7_200)
    second = begin()
    second.open(project, "s2")
    assert second.shown.lines == ["Reminder: call the printers"]
    second.runtime.settled()
    assert entries(store_of(second, project)) == []
    second.open(project, "s3")
    assert len(second.shown.lines) == 1


def test_a_sweep_before_the_reminder_leaves_the_item(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin(scheduler=False)
    keeper.open(project)
    keeper.add("call the printers", due=60, ttlHours=1)
    clock.advance(7_200)
    owner = keeper.runtime.owner()
    scope = keeper.mind.access.scope(keeper.runtime.session, owner)
    keeper.mind.backlog.sweep(scope.project, lambda: None)
    assert len(entries(store_of(keeper, project))) == 1


def test_without_a_scheduler_what_is_due_is_shown_at_the_next_turn(
    begin: Begin, project: Path, clock: ManualClock
) -> None:
    keeper = begin(scheduler=False)
    keeper.open(project)
    keeper.add("call the printers", due=60)
    clock.advance(120)
    keeper.add("something else")
    assert keeper.shown.lines == []
    assert clock._timers == []
    keeper.runtime.fire("agent_start")
    assert keeper.shown.lines == ["Reminder: call the printers"]
    keeper.runtime.settled()
    assert len(keeper.shown.lines) == 1


def test_where_nothing_can_be_shown_nothing_is_ticked_off(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin(ui=False, journal=False, scheduler=False)
    keeper.open(project)
    keeper.add("call the printers", due=60)
    clock.advance(120)
    keeper.runtime.fire("agent_start")
    keeper.runtime.settled()
    assert "dueAtEpochMs" in entries(store_of(keeper, project))[0]


def test_at_home_nobody_is_reminded(begin: Begin, home: Path, clock: ManualClock) -> None:
    keeper = begin()
    keeper.open(home)
    keeper.add("tidy the attic", due=10)
    clock.advance(DAY)
    assert keeper.shown.lines == []
    assert clock._timers == [] or all(timer.cancelled for _, _, timer in clock._timers)


def test_a_delegated_worker_is_not_reminded(begin: Begin, project: Path, clock: ManualClock) -> None:
    first = begin()
    first.open(project)
    first.add("call the printers", due=10)
    first.runtime.close()
    clock.advance(20)
    worker = begin({"PI_PERSONA_CHILD": "1"})
    worker.open(project, "s2")
    clock.advance(DAY)
    assert worker.shown.lines == []
    assert not any("printers" in block.text for block in worker.runtime.blocks("printers"))


def test_with_memory_off_nothing_is_shown_until_it_is_on(keeper: Keeper) -> None:
    keeper.add("call the printers", due=10)
    keeper.say("/mind off")
    keeper.clock.advance(3_600)
    assert keeper.shown.lines == []
    keeper.say("/mind on")
    keeper.clock.advance(CHUNK)
    assert keeper.shown.lines == ["Reminder: call the printers"]


def test_a_session_without_reminders_creates_nothing(begin: Begin, project: Path, agent_dir: Path) -> None:
    keeper = begin()
    keeper.open(project)
    keeper.clock.advance(DAY)
    keeper.runtime.settled()
    assert not agent_dir.exists()


def test_of_two_sessions_one_shows_it(begin: Begin, project: Path, clock: ManualClock) -> None:
    one, other = begin(), begin()
    one.open(project, "s1")
    other.open(project, "s2")
    one.add("call the printers", due=10)
    other.add("order paper", due=20)
    clock.advance(CHUNK * 2)
    assert sorted(one.shown.lines + other.shown.lines) == ["Reminder: call the printers", "Reminder: order paper"]
    assert len(one.cards()) + len(other.cards()) == 2
    assert [] in (one.shown.lines, other.shown.lines)


def test_another_session_takes_over_from_one_that_ended(begin: Begin, project: Path, clock: ManualClock) -> None:
    one, other = begin(), begin()
    one.open(project, "s1")
    one.add("call the printers", due=1_000)
    other.open(project, "s2")
    clock.advance(CHUNK)
    one.runtime.close()
    clock.advance(1_000)
    assert (one.shown.lines, other.shown.lines) == ([], ["Reminder: call the printers"])


def note_of(keeper: Keeper, cwd: Path) -> Path:
    store = store_of(keeper, cwd)
    return store.with_name(f"{store.name}.wakeowner")


def _live() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:abc"


def test_reminders_are_left_to_a_live_original_without_a_word(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin()
    keeper.open(project)
    keeper.add("call the printers", due=10)
    note = note_of(keeper, project)
    note.write_text(_live())
    clock.advance(3_600)
    assert (keeper.shown.lines, keeper.shown.warnings) == ([], [])
    assert any("left to process" in warning for warning in keeper.say("/mind doctor").details["warnings"])
    note.unlink()
    clock.advance(CHUNK)
    assert keeper.shown.lines == ["Reminder: call the printers"]


@pytest.mark.parametrize(
    "write",
    [
        lambda note: note.write_text("elsewhere:12:abc"),
        lambda note: note.write_text("garbage"),
        lambda note: note.write_text("x" * 2_000),
        lambda note: note.mkdir(),
    ],
    ids=["another host", "garbage", "oversized", "no file"],
)
def test_an_unclear_note_of_the_original_is_respected_and_told_once(
    begin: Begin, project: Path, clock: ManualClock, write: Callable[[Path], None]
) -> None:
    keeper = begin()
    keeper.open(project)
    keeper.add("call the printers", due=10)
    write(note_of(keeper, project))
    clock.advance(3_600)
    assert keeper.shown.lines == []
    assert len(keeper.shown.warnings) == 1
    assert note_of(keeper, project).exists()
    assert any("Reminders are left to" in warning for warning in keeper.say("/mind doctor").details["warnings"])


def test_the_note_of_a_dead_original_stands_in_nobodys_way(begin: Begin, project: Path, clock: ManualClock) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    keeper = begin()
    keeper.open(project)
    keeper.add("call the printers", due=10)
    note_of(keeper, project).write_text(f"{socket.gethostname()}:{child.pid}:abc")
    clock.advance(10)
    assert keeper.shown.lines == ["Reminder: call the printers"]
    assert note_of(keeper, project).exists()


def test_a_row_of_the_original_is_reminded_of(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin()
    plant(store_of(keeper, project), item("from before", dueAtEpochMs=T0 + 5_000.5))
    keeper.open(project)
    clock.advance(6)
    assert keeper.shown.lines == ["Reminder: (by import) from before"]
    (row,) = entries(store_of(keeper, project))
    assert [step["to"] for step in row["history"]] == ["open", "reminded"]


def test_a_poisoned_item_is_shown_as_withheld(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin()
    plant(store_of(keeper, project), item("fine\u2066ly", dueAtEpochMs=T0 + 5_000))
    keeper.open(project)
    clock.advance(6)
    (line,) = keeper.shown.lines
    assert line.startswith("Reminder: (by import) [withheld: ")
    assert "fine" not in "\n".join(render(keeper.cards()[0], expanded=True))


def test_a_toast_is_at_most_160_characters_and_one_line(begin: Begin, project: Path, clock: ManualClock) -> None:
    keeper = begin()
    keeper.open(project)
    keeper.add("First line\nsecond " + "é\u0301\u0302" * 90 + " 漢字" * 60, due=5)
    clock.advance(5)
    (line,) = keeper.shown.lines
    assert len(line) <= 160
    assert "\n" not in line


def test_a_reminder_of_a_models_own_making_says_so(keeper: Keeper) -> None:
    keeper.runtime.tool("backlog", {"action": "add", "text": "call the printers", "due": 5})
    keeper.clock.advance(5)
    assert keeper.shown.lines == ["Reminder: (by model) call the printers"]


def test_the_status_line_counts(keeper: Keeper) -> None:
    keeper.say("/mind remember use tabs")
    handle = keeper.add("call the printers")
    assert keeper.shown.statuses["mind"] == "mind 1L·0S · backlog 1"
    keeper.say(f"/mind backlog done {handle}")
    assert keeper.shown.statuses["mind"] == "mind 1L·0S · backlog 0"
