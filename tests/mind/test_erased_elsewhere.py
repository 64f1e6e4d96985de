"""What one program erases is at once gone from what another one gives a model or a person, whatever it had read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.mind.test_safekeeping import done

if TYPE_CHECKING:
    from persona_mind.library import Mind
    from tests.mind.conftest import Open

WORDS = "The summer house key is under the blue pot"
ASKED = "summer house key"

Verb = tuple[str, dict[str, Any]]
STANDS: dict[str, Verb] = {
    "a private fact": ("memory.remember", {"text": WORDS}),
    "a shared fact": ("memory.remember", {"text": WORDS, "scope": "shared"}),
    "a project's fact": ("memory.remember", {"text": WORDS, "scope": "project"}),
    "a working fact": ("memory.remember", {"text": WORDS, "scope": "stm"}),
    "an item": ("backlog.add", {"text": WORDS}),
    "a note": ("notes.save", {"text": WORDS}),
    "an objective": ("notes.save", {"text": WORDS, "kind": "objective"}),
    "a note's source": ("notes.save", {"text": "The pot is blue.", "source": WORDS}),
}
LOOKS: dict[str, dict[str, Any]] = {
    "memory.recall": {"query": ASKED},
    "backlog.list": {},
    "notes.list": {},
}


def given(mind: Mind) -> str:
    """Return all that a program says of what it remembers."""
    answers = [mind.call(verb, arguments) for verb, arguments in LOOKS.items()]
    answers += [mind.call("notes.read", {"id": handle}) for handle in answers[-1].details["ids"]]
    return "\n".join([mind.inject(ASKED), str(mind.snapshot()), *(answer.text for answer in answers)])


@pytest.mark.parametrize("place", STANDS)
def test_what_another_program_erased_is_given_to_nobody_any_more(opened: Open, place: str) -> None:
    here, there = opened(), opened()
    verb, arguments = STANDS[place]
    done(there, verb, **arguments)
    assert WORDS in given(there)
    handle = here.remember(WORDS, scope="stm").id

    here.erase(handle, everywhere=True)

    assert WORDS not in given(there)


def test_a_note_is_given_again_once_a_person_insists_on_its_words_elsewhere(opened: Open) -> None:
    here, there = opened(), opened()
    done(there, "notes.save", text=WORDS)
    here.erase(here.remember(WORDS).id)
    assert WORDS not in there.inject(ASKED)

    here.remember(WORDS, insist=True)

    assert WORDS in there.call("notes.list").text
