"""Facts, as the original's users know them: what counts as the same one, what is shown, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.mind.test_facts import HOUR, entries, plant, row
from tests.mind.test_identity import old_form

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.mind.conftest import Open
    from tests.support.clock import ManualClock


@pytest.fixture
def private(profile: Path) -> Path:
    return profile / "memory" / "ltm" / "Ann.json"


def found(mind: Mind, query: str = "", **options: Any) -> list[str]:  # noqa: ANN401 - JSON values
    return [line.fact.text for line in mind.recall(query, **options).lines]


def test_a_tag_with_a_comma_and_two_tags_stay_two_facts_although_they_shared_an_id(mind: Mind, private: Path) -> None:
    shared = old_form("note", "x", ["a", "b"])
    plant(private, row("x", tags=("a,b",), id=shared))
    mind.remember("x", tags=["a", "b"])
    assert [entry["tags"] for entry in entries(private)] == [["a,b"], ["a", "b"]]


def test_nothing_is_retired_by_an_id_that_two_facts_share(mind: Mind, private: Path) -> None:
    shared = old_form("note", "x", ["a", "b"])
    plant(private, row("x", tags=("a,b",), id=shared), row("x", tags=("a", "b"), id=shared))
    answer = mind.call("memory.remember", {"text": "y", "supersedes": shared})
    assert (answer.ok, answer.details["reason"]) == (False, "ambiguous_id")
    assert len(entries(private)) == 2


def test_of_three_facts_the_two_that_mention_a_word_are_found_and_the_newest_first(
    mind: Mind, clock: ManualClock
) -> None:
    for text in ("mount smb shares read-only", "use tabs", "the smb server is called attic"):
        mind.remember(text)
        clock.advance(HOUR)
    assert set(found(mind, "smb")) == {"mount smb shares read-only", "the smb server is called attic"}
    assert found(mind, max=2) == ["the smb server is called attic", "use tabs"]


def test_only_what_has_expired_is_pruned(mind: Mind, clock: ManualClock, profile: Path) -> None:
    mind.remember("for good")
    mind.remember("for an hour", scope="stm", ttl_hours=1)
    mind.remember("for two days", scope="stm", ttl_hours=48)
    clock.advance(2 * HOUR)
    mind.settle()
    (working,) = (profile / "memory" / "stm").glob("*.json")
    assert [entry["text"] for entry in entries(working)] == ["for two days"]
    assert sorted(found(mind)) == ["for good", "for two days"]


@pytest.mark.parametrize(
    "bad",
    [None, 7, [], {}, {"id": "abc123abc123"}, row("x") | {"kind": "rule"}, row("x") | {"text": None}],
    ids=["null", "number", "list", "empty", "fields missing", "wrong kind", "no text"],
)
def test_a_row_that_is_none_is_passed_over_and_kept(mind: Mind, private: Path, bad: Any) -> None:  # noqa: ANN401
    plant(private, bad, row("use tabs"))
    assert found(mind) == ["use tabs"]
    mind.remember("use ruff")
    assert entries(private)[0] == bad


def test_an_objective_is_kept_for_good_and_comes_back_as_it_was(opened: Open, clock: ManualClock) -> None:
    saved = opened().remember("Ship version one", kind="objective", tags=["Q3"])
    clock.advance(400 * 24 * HOUR)
    read = opened().read(saved.id)
    assert (read.fact.kind, read.fact.text, read.fact.tags) == ("objective", "Ship version one", ("Q3",))
    assert read.expires_at is None


def test_where_a_fact_comes_from_is_no_part_of_what_it_says(mind: Mind, private: Path) -> None:
    plain = mind.remember("Use tabs")
    sourced = mind.remember("Use tabs", source="the team", derived_from=["abc123abc123"])
    assert sourced.id == plain.id
    (kept,) = entries(private)
    assert (kept["source"], kept["derivedFrom"]) == ("the team", ["abc123abc123"])


def test_what_is_shared_is_seen_by_every_persona_and_what_is_private_by_one(opened: Open) -> None:
    opened("Ann").remember("for everyone", scope="shared")
    opened("Ann").remember("for Ann")
    assert sorted(found(opened("Ann"))) == ["for Ann", "for everyone"]
    assert found(opened("Bob")) == ["for everyone"]


def test_a_page_is_kept_in_bounds_whatever_is_asked_for(mind: Mind) -> None:
    for number in range(55):
        mind.remember(f"match number {number}")
    sizes = [(page.count, page.total) for page in (mind.recall("match", max=most) for most in (999, -1, 2.9, 2))]
    assert sizes == [(50, 55), (1, 55), (2, 55), (2, 55)]


def test_one_block_holds_the_persona_and_what_every_faculty_knows(mind: Mind) -> None:
    mind.remember("use tabs")
    mind.remember("the build is broken", scope="stm")
    mind.call("backlog.add", {"text": "write the changelog"})
    text = mind.inject("what now?")
    for part in ('persona="Ann"', "use tabs", "the build is broken", "write the changelog"):
        assert part in text
    counts = mind.call("mind.snapshot").details
    assert (counts["long"], counts["working"], counts["backlog"]) == (1, 1, 1), counts


def test_the_line_about_an_empty_memory_names_both_tools_and_comes_again_in_the_next_session(opened: Open) -> None:
    first = opened().inject("hello")
    assert "`memory`" in first
    assert "`backlog`" in first
    assert opened().inject("hello") == first
