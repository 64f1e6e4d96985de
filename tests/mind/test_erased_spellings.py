"""An erased text does not come back in other capitals, also where lower case alone keeps the two spellings apart."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

from persona_hooks.errors import RefusedError
from persona_mind.kernel.erased import stone, stones
from tests.mind.test_safekeeping import done

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_mind.library import Mind

WORDS = {
    "sharp s": "Der Schlüssel heißt Rosenstraße und liegt links",
    "capital sharp s": "Der Schlüssel hei\u1e9et Rosenstra\u1e9ee und liegt links",
    "dotted capital i": "Kilidin \u0130ZM\u0130R evinde, anahtar ise \u0130stanbul evinde",
    "long s": "Der Schlü\u017f\u017fel liegt link\u017f im Hau\u017fe",
    "final sigma": "Το κλειδί του κήπου είναι στο τέλος της οδός",  # noqa: RUF001
    "iota below": "Το κλειδί είναι \u1fb3δου και \u1ff3δη αριστερά",  # noqa: RUF001
    "ligature": "The o\ufb03ce key lies in the \ufb02owerbed",
    "plain letters": "The summer house key is under the blue pot",
}
REFUSING: dict[str, tuple[str, str]] = {
    "a fact": ("memory.remember", "text"),
    "its source": ("memory.remember", "source"),
    "an item": ("backlog.add", "text"),
    "a note": ("notes.save", "text"),
}


def refused(mind: Mind, text: str) -> dict[str, bool]:
    """Return for each door whether it refuses a text because it was erased."""
    answers = {
        door: mind.call(verb, {"text": "The pot is blue.", field: text}) for door, (verb, field) in REFUSING.items()
    }
    return {door: answer.details.get("reason") == "erased" for door, answer in answers.items()}


@pytest.mark.parametrize("turned", [False, True], ids=["as written", "in capitals"])
@pytest.mark.parametrize("words", WORDS)
def test_an_erased_text_is_refused_in_every_spelling_whichever_was_erased(mind: Mind, words: str, turned: bool) -> None:  # noqa: FBT001 - a parameter
    text = WORDS[words].upper() if turned else WORDS[words]
    done(mind, "memory.erase", id=mind.remember(text).id)

    for said in (WORDS[words], WORDS[words].upper(), WORDS[words].upper().lower(), WORDS[words].casefold()):
        assert refused(mind, said) == dict.fromkeys(REFUSING, True), said

    mind.remember(text, insist=True)
    assert mind.remember(text).again


def test_capture_does_not_bring_another_spelling_back(mind: Mind) -> None:
    mind.hear("Remember that the key of the Rosenstraße is under the blue pot.")
    (handle,) = mind.recall("blue pot").ids
    done(mind, "memory.erase", id=handle)

    mind.hear("Remember that THE KEY OF THE ROSENSTRASSE IS UNDER THE BLUE POT.")

    assert mind.recall("blue pot").count == 0
    assert any("erased for good" in notice for notice in mind.notices)


def from_backup(mind: Mind, saved: Path) -> None:
    done(mind, "profile.restore", path=str(saved / "backup"), yes=True, newer=True)


def from_archive(mind: Mind, saved: Path) -> None:
    done(mind, "archive.import", path=str(saved / "memory.zip"))


def from_copy(mind: Mind, saved: Path) -> None:
    live = mind._plugin.services.facts.files.profile.root / "memory/ltm"
    (file,) = saved.glob("Ann*.json")
    (live / f"{file.stem} (conflicted copy 2026-03-02).json").write_bytes(file.read_bytes())
    done(mind, "profile.merge")


@pytest.mark.parametrize("bring", [from_backup, from_archive, from_copy])
def test_nothing_that_is_brought_back_brings_another_spelling(
    mind: Mind, profile: Path, tmp_path: Path, bring: Callable[[Mind, Path], None]
) -> None:
    other = mind.remember(WORDS["sharp s"].upper()).id
    mind.remember("The staging database listens on port 5433.")
    done(mind, "profile.backup", path=str(tmp_path / "backup"))
    done(mind, "archive.export", path=str(tmp_path / "memory.zip"))
    (live,) = (profile / "memory/ltm").glob("Ann*.json")
    (tmp_path / live.name).write_bytes(live.read_bytes())
    mind.forget(other)
    done(mind, "memory.erase", id=mind.remember(WORDS["sharp s"]).id)

    bring(mind, tmp_path)

    assert [line.fact.text for line in mind.recall().lines] == ["The staging database listens on port 5433."]


def test_two_spellings_are_one_text_that_goes_with_all_its_rows(mind: Mind) -> None:
    mind.remember(WORDS["sharp s"].upper())
    handle = mind.remember(WORDS["sharp s"]).id

    done(mind, "memory.erase", id=handle)

    assert mind.recall().total == 0


def test_nobody_insists_on_another_spelling_of_what_is_just_being_erased(
    mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = mind.remember(WORDS["sharp s"]).id
    with monkeypatch.context() as broken:
        broken.setattr("persona_store.copies.sweep_backups", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            done(mind, "memory.erase", id=handle)

    with pytest.raises(RefusedError) as told:
        mind.remember(WORDS["sharp s"].upper(), insist=True)

    assert told.value.reason == "erasing"


# A dotless i is no spelling of the dotted one. A mark that stands apart may move to another letter in capitals.
@given(some.text(some.characters(categories=("L", "N", "P", "Z"), exclude_characters="\u0131"), max_size=20))
def test_what_capitals_make_of_a_text_has_a_tombstone_with_it_in_common(text: str) -> None:
    for other in (text.upper(), text.lower(), text.title(), text.swapcase(), text.casefold()):
        assert set(stones(text)) & set(stones(other))


@given(some.text(string.ascii_letters + string.digits + " .,äöüéñжд"))
def test_most_texts_have_one_tombstone_as_they_always_had(text: str) -> None:
    assert stones(text) == (stone(text),)
