from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import PersonaError
from persona_hooks.tools import tools
from persona_mind.backlog import lines
from persona_mind.backlog.lines import due_label
from persona_mind.backlog.params import limit
from persona_mind.kernel.identity import content_id, key
from tests.backlog.desk import CREATED, T0, entries, item, plant

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import Answer
    from persona_mind.library import Mind
    from tests.backlog.conftest import Open
    from tests.support.clock import ManualClock

HOUR = 3600.0


@pytest.fixture
def store(mind: Mind, profile: Path) -> Path:
    return profile / "backlog" / f"{mind.doctor().slug}.json"


def call(mind: Mind, action: str, **arguments: Any) -> Answer:  # noqa: ANN401 - JSON values
    return mind.call(f"backlog.{action}", arguments)


def add(mind: Mind, text: str = "write the changelog", **more: Any) -> str:  # noqa: ANN401 - JSON values
    answer = call(mind, "add", text=text, **more)
    assert answer.ok, answer.text
    return str(answer.details["id"])


def texts(mind: Mind, **arguments: Any) -> list[str]:  # noqa: ANN401 - JSON values
    return [line.partition(") ")[2] for line in call(mind, "list", **arguments).card.body]


def reason(answer: Answer) -> str:
    assert not answer.ok
    assert answer.changed == "no"
    return str(answer.details["reason"])


def test_an_item_stands_in_the_projects_file_in_the_known_format(mind: Mind, store: Path) -> None:
    handle = add(mind, "  Write the changelog ", tags=["Docs"], due=600)
    assert handle == content_id(key("backlog", "write the changelog", ["docs"]))
    (row,) = entries(store)
    history = row.pop("history")
    assert row == {
        "id": handle,
        "text": "Write the changelog",
        "state": "open",
        "tags": ["Docs"],
        "persona": "Ann",
        "createdAt": CREATED,
        "dueAtEpochMs": T0 + 600_000,
        "expiresAt": "2026-03-04T09:30:00.000Z",
        "origin": "user",
    }
    assert history == [{"to": "open", "at": CREATED, "dueAtEpochMs": T0 + 600_000}]


def test_a_receipt_names_id_and_deadline_and_not_the_text(mind: Mind) -> None:
    answer = call(mind, "add", text="call the printers", due="in 2 days")
    assert answer.details["due"] == "2026-03-04T09:30:00.000Z"
    assert "due in 2d (Wed 4 Mar 2026 09:30)" in answer.text
    assert "printers" not in answer.text


@pytest.mark.parametrize(
    ("due", "told"),
    [
        ("in 1 hour", "It expires Wed 4 Mar 2026 09:30."),
        ("in 2 days", "It stays until a day after its reminder."),
        ("in 5 days", "It stays until a day after its reminder."),
        (None, "It expires Wed 4 Mar 2026 09:30."),
    ],
)
def test_a_receipt_says_until_when_the_item_really_stays(
    mind: Mind, clock: ManualClock, due: str | None, told: str
) -> None:
    answer = call(mind, "add", text="call the printers", **({"due": due} if due else {}))
    assert told in answer.text
    if "reminder" in told:
        clock.advance(6 * 86_400)
        assert call(mind, "list").details["total"] == 1, "nobody was reminded yet"


def test_a_deadline_after_the_end_moves_the_end(mind: Mind) -> None:
    assert call(mind, "add", text="a", due=600).details["expiresAt"] == "2026-03-04T09:30:00.000Z"
    assert call(mind, "add", text="b", due="in 5 days").details["expiresAt"] == "2026-03-07T09:30:00.000Z"
    assert call(mind, "add", text="c", ttlHours=96).details["expiresAt"] == "2026-03-06T09:30:00.000Z"


def test_the_older_name_of_the_deadline_is_taken_but_not_both(mind: Mind) -> None:
    assert call(mind, "add", text="a", dueInSeconds=0.5).details["due"] == "2026-03-02T09:30:00.500Z"
    both = call(mind, "add", text="b", due=5, dueInSeconds=5)
    assert (reason(both), both.details["field"]) == ("invalid", "due")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"due": "sometime soon"}, "due"),
        ({"due": "03/04"}, "due"),
        ({"due": "2026-03-01T00:00:00Z"}, "due"),
        ({"due": 0}, "due"),
        ({"dueInSeconds": 0}, "dueInSeconds"),
        ({"dueInSeconds": 1e12}, "dueInSeconds"),
        ({"ttlHours": 0}, "ttlHours"),
        ({"tags": ["x" * 257]}, "tags.0"),
    ],
)
def test_a_wrong_argument_is_refused_by_name_and_nothing_is_queued(
    mind: Mind, arguments: dict[str, Any], field: str, profile: Path
) -> None:
    answer = call(mind, "add", text="a", **arguments)
    assert not answer.ok
    assert answer.details["field"] == field
    assert "soon" not in answer.text
    assert not profile.exists()


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("text", {"text": "the token is gh" + "p_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"}),
        ("tags", {"text": "a", "tags": ["api\u200bdocs"]}),
    ],
)
def test_unsafe_texts_are_refused(mind: Mind, place: str, arguments: dict[str, Any]) -> None:
    answer = call(mind, "add", **arguments)
    assert (reason(answer), answer.details["field"]) == ("unsafe_text", place)


def test_an_unsafe_note_leaves_the_item_as_it_is(mind: Mind, store: Path) -> None:
    handle = add(mind)
    before = store.read_bytes()
    answer = call(mind, "done", id=handle, note="done\u2066ly")
    assert (reason(answer), answer.details["field"]) == ("unsafe_text", "note")
    assert store.read_bytes() == before


def test_take_then_done_with_a_note_leaves_a_history_with_times(mind: Mind, clock: ManualClock, store: Path) -> None:
    handle = add(mind)
    clock.advance(60)
    assert call(mind, "take", id=handle).details["state"] == "taken"
    clock.advance(60)
    assert call(mind, "done", id=handle, note="shipped").details["state"] == "done"
    (row,) = entries(store)
    assert (row["state"], row["note"]) == ("done", "shipped")
    assert [(step["to"], step["at"][11:19]) for step in row["history"]] == [
        ("open", "09:30:00"),
        ("taken", "09:31:00"),
        ("done", "09:32:00"),
    ]
    whole = call(mind, "list", id=handle).text
    assert "Mon 2 Mar 2026 09:31 taken" in whole
    assert "note: shipped" in whole
    assert call(mind, "list").details["total"] == 0


def test_taking_shows_the_item_whole_and_taking_twice_changes_nothing(mind: Mind, store: Path) -> None:
    long = "Write it down. " * 100
    handle = add(mind, long)
    assert call(mind, "take", id=handle).card.body == (f"| {long.strip()}",)
    before = store.read_bytes()
    again = call(mind, "take", id=handle)
    assert (again.ok, again.changed) == (True, "no")
    assert store.read_bytes() == before


@pytest.mark.parametrize("closed", ["done", "dropped"])
def test_a_closed_item_stays_closed(mind: Mind, closed: str) -> None:
    handle = add(mind)
    assert call(mind, "done" if closed == "done" else "drop", id=handle).ok
    for action in ("take", "done", "drop", "snooze"):
        answer = call(mind, action, id=handle)
        assert reason(answer) == f"already_{closed}"
        assert closed in answer.text
    assert call(mind, "list", state=closed).details["total"] == 1


def test_an_unknown_id_is_not_found(mind: Mind) -> None:
    assert reason(call(mind, "take", id="nope")) == "not_found"
    add(mind)
    assert reason(call(mind, "take", id="nope")) == "not_found"


def test_a_take_on_an_empty_backlog_creates_nothing(mind: Mind, agent_dir: Path) -> None:
    assert reason(call(mind, "done", id="nope")) == "not_found"
    assert not agent_dir.exists()


def test_adding_again_refreshes_an_open_item_and_reopens_nothing(mind: Mind, clock: ManualClock) -> None:
    handle = add(mind, due=600)
    clock.advance(HOUR)
    answer = call(mind, "add", text="WRITE the  changelog", due=HOUR)
    assert (answer.details["id"], answer.details["refreshed"]) == (handle, True)
    assert answer.details["due"] == "2026-03-02T11:30:00.000Z"
    assert answer.details["expiresAt"] == "2026-03-04T10:30:00.000Z"
    call(mind, "take", id=handle)
    assert reason(call(mind, "add", text="write the changelog")) == "already_taken"
    call(mind, "done", id=handle)
    assert reason(call(mind, "add", text="write the changelog")) == "already_done"
    assert call(mind, "list", state="done").details["total"] == 1


def test_refreshing_without_a_deadline_keeps_it_and_never_shortens_a_life(mind: Mind) -> None:
    add(mind, due=600, ttlHours=96)
    answer = call(mind, "add", text="write the changelog", ttlHours=1)
    assert answer.details["due"] == "2026-03-02T09:40:00.000Z"
    assert answer.details["expiresAt"] == "2026-03-06T09:30:00.000Z"


def test_again_queues_a_new_item_beside_the_closed_one(mind: Mind) -> None:
    first = add(mind)
    call(mind, "done", id=first)
    second = add(mind, again=True)
    assert second != first
    assert call(mind, "list").details["ids"] == [second]
    assert call(mind, "list", state="done").details["ids"] == [first]
    assert call(mind, "done", id=second).ok
    third = add(mind, again=True)
    assert len({first, second, third}) == 3
    assert add(mind, again=True) == third


def test_an_expired_closed_item_blocks_nothing(mind: Mind, clock: ManualClock) -> None:
    call(mind, "done", id=add(mind, ttlHours=1))
    clock.advance(2 * HOUR)
    assert call(mind, "add", text="write the changelog").ok


def test_equal_words_of_two_personas_are_two_items(opened: Open, store: Path) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    hers, his = add(ann), add(bob)
    assert hers != his
    assert len(entries(store)) == 2
    assert call(ann, "list").details["ids"] == [hers]
    assert call(bob, "list").details["ids"] == [his]
    assert call(bob, "list", all=True).details["total"] == 2
    assert "· Ann ·" in call(bob, "list", all=True).text


@pytest.mark.parametrize("action", ["take", "done", "drop", "snooze"])
def test_only_its_persona_changes_an_item(opened: Open, action: str, store: Path) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    hers = add(ann)
    before = store.read_bytes()
    assert reason(call(bob, action, id=hers)) == "not_owner"
    assert store.read_bytes() == before
    # With equal words of his own, the id of the words is his.
    his = add(bob)
    assert call(bob, action, id=hers).details["id"] == his
    assert call(ann, action, id=hers).details["id"] == hers


def test_an_item_of_nobody_is_listed_for_all_and_becomes_the_takers(mind: Mind, store: Path) -> None:
    row = item("left over")
    del row["persona"]
    plant(store, row)
    assert call(mind, "list").details["total"] == 0
    assert call(mind, "list", all=True).details["total"] == 1
    assert call(mind, "take", id=row["id"]).ok
    assert call(mind, "list").details["total"] == 1


def test_the_list_is_ordered_by_what_was_taken_and_what_is_due(mind: Mind, clock: ManualClock) -> None:
    taken = add(mind, "taken one")
    add(mind, "due soon", due=10)
    clock.advance(1)
    add(mind, "older, never due")
    clock.advance(1)
    add(mind, "newer, never due")
    add(mind, "due later", due=9_000)
    call(mind, "take", id=taken)
    clock.advance(60)
    assert texts(mind) == [
        "taken one",
        "due soon · 52s overdue",
        "due later · due in 2h",
        "newer, never due",
        "older, never due",
    ]


def test_a_page_says_what_it_leaves_out(mind: Mind) -> None:
    for number in range(3):
        add(mind, f"item {number}")
    page = call(mind, "list", max=1)
    assert {name: page.details[name] for name in ("count", "total", "withheld", "max")} == {
        "count": 1,
        "total": 3,
        "withheld": 2,
        "max": 1,
    }
    assert "+2 more" in page.text
    assert "Nothing of that kind" in call(mind, "list", state="dropped").text


@pytest.mark.parametrize(
    ("asked", "given"),
    [(None, 20), (float("nan"), 20), (-1.0, 1), (2.9, 2), (999.0, 50), (float("inf"), 50)],
)
def test_a_limit_is_floored_and_kept_in_range(asked: float | None, given: int) -> None:
    assert limit(asked) == given


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        (0, "now"),
        (1, "now"),
        (-1, "now"),
        (1.5, "in 2s"),
        (8.4, "in 8s"),
        (59.4, "in 59s"),
        (59.6, "in 1m"),
        (61, "in 1m"),
        (90, "in 2m"),
        (299, "in 5m"),
        (-301, "5m overdue"),
        (3_580, "in 1h"),
        (7_201, "in 2h"),
        (91_020, "in 25h"),
        (172_000, "in 2d"),
        (float("inf"), "unknown"),
    ],
)
def test_a_deadline_is_told_in_the_nearest_number_of_one_unit(seconds: float, label: str, clock: ManualClock) -> None:
    assert due_label(clock.now().timestamp() * 1000 + seconds * 1000, clock.now()) == label


def test_what_has_expired_is_not_seen_and_leaves_the_disk_when_nobody_waits(
    mind: Mind, clock: ManualClock, store: Path
) -> None:
    add(mind, "short", ttlHours=1)
    add(mind, "long", ttlHours=96)
    row = item("without an end", id="noend", persona="Ann")
    del row["expiresAt"]
    plant(store, *entries(store), row)
    assert len(texts(mind)) == 3
    clock.advance(49 * HOUR)
    assert texts(mind) == ["long"]
    assert len(entries(store)) == 3
    mind.settle()
    assert [entry["text"] for entry in entries(store)] == ["long"]


def test_only_the_newest_thousand_closed_items_are_kept_and_every_active_one(mind: Mind, store: Path) -> None:
    later = "2026-03-02T09:00:00.000Z"
    rows = [
        item(
            f"done {n}", id=f"id{n}", state="done", persona="Ann", createdAt=f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z"
        )
        for n in range(1_002)
    ]
    # Made first, but closed last.
    rows[0]["history"] = [{"to": "done", "at": later}]
    plant(store, item("open", id="open"), item("taken", id="taken", state="taken"), *rows)
    add(mind, "one more")
    kept = {entry["id"] for entry in entries(store)}
    assert {"open", "taken", "id0"} <= kept
    assert not kept & {"id1", "id2"}
    assert len(kept) == 1_003


def test_rows_that_cannot_be_read_and_fields_that_are_unknown_are_kept(mind: Mind, store: Path) -> None:
    broken = [item("a", state="asleep"), item("b", createdAt="yesterday"), item("c", expiresAt="never"), None, 7]
    known = item("known", id="known", persona="Ann", futureField={"x": 1})
    plant(store, *broken, known)  # type: ignore[arg-type]
    assert texts(mind) == ["known"]
    call(mind, "take", id="known")
    found = entries(store)
    assert found[:5] == broken
    assert (found[5]["futureField"], found[5]["state"]) == ({"x": 1}, "taken")


def test_a_deadline_that_no_calendar_reaches_breaks_nothing(mind: Mind, store: Path) -> None:
    plant(store, item("some day", persona="Ann", dueAtEpochMs=1e300))
    assert call(mind, "list").ok
    assert call(mind, "list", id="abc123abc123").ok
    assert call(mind, "take", id="abc123abc123").ok
    mind.settle()
    assert "some day" in mind.inject()


def test_a_poisoned_row_is_withheld_wherever_it_would_be_shown(mind: Mind, store: Path) -> None:
    plant(store, item("fine\u2066ly", persona="Ann"))
    listed = call(mind, "list")
    assert listed.details["withheldUnsafe"] == 1
    assert "[withheld: " in listed.text
    assert "fine" not in listed.text + mind.inject()
    assert call(mind, "take", id="abc123abc123").card.body[0].startswith("[withheld: ")


def test_snoozing_moves_the_deadline_and_the_end(mind: Mind, clock: ManualClock) -> None:
    handle = add(mind, due=60)
    clock.advance(30)
    assert call(mind, "snooze", id=handle).details["due"] == "2026-03-02T10:30:30.000Z"
    answer = call(mind, "snooze", id=handle, due="in 5 days")
    assert answer.details["due"] == "2026-03-07T09:30:30.000Z"
    clock.advance(100 * HOUR)
    assert len(texts(mind)) == 1


def test_commands_take_words_as_people_write_them(mind: Mind) -> None:
    from persona_hooks.commands import parse_line  # noqa: PLC0415

    found = parse_line(mind.registry, '/mind backlog add call the printers --due "tomorrow at 9"')
    assert mind.call(found.verb.name, found.arguments, lax=True).details["due"] == "2026-03-03T09:00:00.000Z"
    (handle,) = call(mind, "list").details["ids"]
    found = parse_line(mind.registry, f"/mind backlog snooze {handle} friday at 14:30")
    assert mind.call(found.verb.name, found.arguments, lax=True).details["due"] == "2026-03-06T14:30:00.000Z"
    found = parse_line(mind.registry, f"/mind backlog done {handle} they will come on Monday")
    assert mind.call(found.verb.name, found.arguments, lax=True).ok
    found = parse_line(mind.registry, "/mind backlog add once more --due 600")
    assert mind.call(found.verb.name, found.arguments, lax=True).details["due"] == "2026-03-02T09:40:00.000Z"


def test_models_are_offered_the_backlog_and_told_when_to_use_it(mind: Mind) -> None:
    tool = {tool.name: tool for tool in tools(mind.registry, "model")}["backlog"]
    assert tool.parameters["properties"]["action"]["enum"] == ["add", "done", "drop", "list", "snooze", "take"]
    assert all(schema.get("description") for schema in tool.parameters["properties"].values())
    assert "intent, not facts" in tool.description


def test_a_request_holds_the_owners_most_urgent_items(opened: Open, clock: ManualClock) -> None:
    ann, bob = opened("Ann"), opened("Bob")
    add(bob, "Bob's own")
    add(ann, "plain")
    add(ann, "overdue", due=1)
    for number in range(6):
        add(ann, f"later {number}", due=1_000 + number)
    clock.advance(60)
    block = ann.inject("what now?")
    lines = [line for line in block.split("\n") if "] (open) " in line]
    assert len(lines) == 6
    assert "overdue (59s overdue)" in lines[0]
    assert "later 0" in lines[1]
    assert "+2 backlog" in block
    assert "`backlog` list" in block
    assert "Bob's own" not in block


def test_long_items_leave_room_for_facts_and_facts_for_items(mind: Mind) -> None:
    for number in range(6):
        mind.remember(f"fact {number}. " + "All of it matters. " * 60, scope="stm")
        add(mind, f"item {number}. " + "All of it matters too. " * 60)
    block = mind.inject("fact item")
    assert "fact " in block
    assert "] (open) item " in block
    assert len(block.encode()) <= 2_400 * 3


def test_at_home_items_are_kept_but_not_put_into_requests(opened: Open, home: Path) -> None:
    mind = opened(cwd=home)
    add(mind, "tidy the attic")
    assert texts(mind) == ["tidy the attic"]
    assert "attic" not in mind.inject()
    assert mind.snapshot().backlog == 0


def test_the_snapshot_and_doctor_count_items(mind: Mind) -> None:
    add(mind)
    call(mind, "done", id=add(mind, "other"))
    assert mind.snapshot().backlog == 1
    (store,) = [store for store in mind.doctor().stores if store.name == "backlog"]
    assert (store.state, store.entries) == ("ok", 2)


def test_an_owner_that_changes_under_a_write_stops_it(mind: Mind, store: Path) -> None:
    handle = add(mind)
    before = store.read_bytes()
    seen: list[int] = []

    def alive() -> bool:
        seen.append(1)
        return len(seen) < 2

    from persona_hooks.owner import live_owner  # noqa: PLC0415
    from persona_hooks.turn import Turn  # noqa: PLC0415
    from persona_hooks.verbs import Call, perform, validate  # noqa: PLC0415

    verb = mind.registry.get("backlog.take")
    owner = live_owner(mind._client, mind._session.id, mind._session.seat)
    call_ = Call(owner, mind._session, "user", "script", Turn(1, alive=alive))
    answer = perform(verb, validate(verb, {"id": handle}), call_)
    assert (answer.ok, answer.changed) == (False, "no")
    assert store.read_bytes() == before


def test_refusals_are_persona_errors_with_data(mind: Mind) -> None:
    answer = call(mind, "take", id="nope")
    assert isinstance(answer.error, PersonaError)


def test_what_was_judged_of_an_item_is_forgotten_when_it_is_erased(mind: Mind) -> None:
    handle = add(mind, "write to Marlene about the summer house")
    assert texts(mind)
    assert any("Marlene" in judged.texts[0] for judged in lines._known.values())

    mind.erase(handle)
    gc.collect()

    assert not texts(mind)
    assert not any("Marlene" in judged.texts[0] for judged in lines._known.values())
