"""Row A6 of the reliability catalogue: an agent that takes what is done, and says again what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.backlog.desk import entries

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind


def test_a6_taking_what_is_done_says_the_same_each_time_and_changes_nothing(mind: Mind, profile: Path) -> None:
    handle = mind.call("backlog.add", {"text": "write the changelog"}).details["id"]
    assert mind.call("backlog.done", {"id": handle, "note": "it is out"}).ok
    store = profile / "backlog" / f"{mind.doctor().slug}.json"
    before = store.read_bytes()
    first, second = (mind.call("backlog.take", {"id": handle}) for _ in range(2))
    assert (first.ok, first.changed, first.text) == (False, "no", second.text)
    assert "done" in first.text
    assert store.read_bytes() == before


def test_a6_closing_twice_and_taking_twice_are_safe_to_repeat(mind: Mind) -> None:
    handle = mind.call("backlog.add", {"text": "write the changelog"}).details["id"]
    for action in ("take", "done"):
        first, second = (mind.call(f"backlog.{action}", {"id": handle}) for _ in range(2))
        assert (first.ok, first.changed) == (True, "yes")
        assert second.changed == "no"


def test_a6_adding_it_again_does_not_reopen_it_and_a_new_one_is_asked_for_in_so_many_words(
    mind: Mind, profile: Path
) -> None:
    handle = mind.call("backlog.add", {"text": "write the changelog"}).details["id"]
    mind.call("backlog.done", {"id": handle, "note": "it is out"})
    again = mind.call("backlog.add", {"text": "Write the  changelog"})
    assert (again.ok, again.changed) == (False, "no")
    store = profile / "backlog" / f"{mind.doctor().slug}.json"
    assert [row["state"] for row in entries(store)] == ["done"]
    assert mind.call("backlog.add", {"text": "write the changelog", "again": True}).ok
    assert [row["state"] for row in entries(store)] == ["done", "open"]
