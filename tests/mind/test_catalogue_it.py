"""Rows I and T of the catalogue of bad inputs, and two of rows J: names, scopes and moments, through the verbs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import InvalidError, PersonaError
from persona_mind.kernel import clock as clocks
from persona_mind.kernel.scope import find_project

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.mind.conftest import Open
    from tests.support.clock import ManualClock


def names(mind: Mind, text: str, **options: Any) -> str:  # noqa: ANN401 - JSON values
    """The field that a refusal names."""
    with pytest.raises(InvalidError) as caught:
        mind.remember(text, **options)
    assert "harbour" not in str(caught.value)
    return str(caught.value.details["field"])


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\x1f"])
def test_j12_a_control_character_is_refused_but_for_breaks_and_tabs(mind: Mind, character: str) -> None:
    with pytest.raises(PersonaError):
        mind.remember(f"The harbour{character} opens at six.")
    assert mind.remember("The harbour\topens\nat six.").id
    assert mind.recall("harbour").count == 1


@pytest.mark.parametrize("tags", [[["nested"]], [7], ["t"] * 10_000, "word", [None]])
def test_j13_tags_are_few_and_texts(mind: Mind, tags: object) -> None:
    assert names(mind, "The harbour opens at six.", tags=tags).startswith("tags")


def test_i4_a_long_name_has_a_short_file(opened: Open, profile: Path) -> None:
    one, other = "é" * 100, "é" * 99 + "e"
    opened(persona=one).remember("The harbour opens at six.")
    opened(persona=other).remember("The harbour opens at seven.")

    files = [path.name for path in (profile / "memory/ltm").glob("*.json")]
    assert len(files) == 2
    assert max(map(len, files)) < 100


@pytest.mark.parametrize("kind", ["root", "deleted", "loop", "file"])
def test_i9_a_project_that_is_none_is_no_crash(opened: Open, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    match kind:
        case "root":
            place = tmp_path.parents[-1]
        case "loop":
            place.symlink_to(tmp_path / "back")
            (tmp_path / "back").symlink_to(place)
        case "file":
            place.write_text("no directory")
        case _:
            pass
    mind = opened(cwd=place)

    assert mind.remember("The harbour opens at six.").scope == "persona"
    assert mind.recall("harbour").count == 1


def test_i9_a_project_that_is_renamed_meanwhile_is_another_one_and_loses_nothing(opened: Open, tmp_path: Path) -> None:
    old, new = tmp_path / "rocket", tmp_path / "missile"
    (old / ".git").mkdir(parents=True)
    mind = opened(cwd=old)
    mind.remember("The harbour opens at six.", scope="project")
    old.rename(new)

    # The session goes on where it began, and that place is no longer there.
    assert mind.remember("The ferry leaves at nine.", scope="project").scope == "project"
    assert mind.recall("harbour").count == mind.recall("ferry").count == 1
    mind.close()
    renamed = opened(cwd=new)
    assert renamed.recall("harbour").count == 0
    renamed.close()

    new.rename(old)
    assert opened(cwd=old).recall("harbour").count == 1


def test_i10_two_projects_of_one_name_are_two(opened: Open, home: Path, tmp_path: Path) -> None:
    places = [tmp_path / side / "rocket" for side in ("left", "right")]
    for place in places:
        (place / ".git").mkdir(parents=True)
    left, right = (opened(cwd=place) for place in places)
    left.remember("The harbour opens at six.", scope="project")

    assert right.recall("harbour").count == 0
    assert len({find_project(place, home).slug for place in places}) == 2


def test_i12_ancestors_are_counted_and_never_followed(mind: Mind) -> None:
    assert names(mind, "The harbour opens.", derived_from=["a" * 12] * 10_000) == "derivedFrom"
    first = mind.remember("The harbour opens at six.")
    second = mind.remember("The harbour opens early.", derived_from=[first.id])
    mind.remember("The harbour opens at six.", derived_from=[second.id])

    assert mind.read(first.id).derived_from == (second.id,)
    assert mind.recall("harbour").count == 2


def test_t2_a_clock_that_goes_back_revives_nothing_and_takes_nothing_early(
    mind: Mind, clock: ManualClock, profile: Path
) -> None:
    began = clock.now()
    mind.remember("The harbour opens at six.", scope="stm", ttl_hours=1)
    mind.remember("The harbour closes at nine.", scope="stm", ttl_hours=3)
    clock.advance(2 * 3600)
    mind.settle()
    clock.set(began)
    mind.settle()

    assert mind.recall("harbour").count == 1
    [file] = (profile / "memory/stm").glob("*.json")
    assert [row["text"] for row in json.loads(file.read_text())["entries"]] == ["The harbour closes at nine."]


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "-1",
        "9999",
        "0000-01-01T00:00:00Z",
        "2026-W05-1",
        "2026-W05-1T00:00:00Z",
        "20260302T093000Z",
        "2026-03-02T09:30:60Z",
        "2026-03-02T24:00:00Z",
        "2026-03-02T09:30:00+25:00",
        "2026-03-02T09:30Z",
    ],
)
def test_t3_t5_only_a_moment_of_rfc_3339_is_one(text: str) -> None:
    with pytest.raises(InvalidError):
        clocks.parse(text)


@pytest.mark.parametrize("hours", [0, -1, 1e308, "48h", float("nan"), float("inf"), True])
def test_t6_hours_that_are_none_are_refused_by_name(mind: Mind, hours: object) -> None:
    assert names(mind, "The harbour opens at six.", scope="stm", ttl_hours=hours) == "ttlHours"


def test_t8_what_happens_in_one_millisecond_stands_in_its_order(mind: Mind, profile: Path) -> None:
    texts = [f"The harbour has {number} piers." for number in range(5)]
    for text in texts:
        mind.remember(text)

    written = json.loads((profile / "memory/ltm/Ann.json").read_text())
    assert ([row["text"] for row in written["entries"]], written["sequence"]) == (texts, 5)
