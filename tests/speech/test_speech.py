"""The gate: which language is spoken, by whom, and that values are never read as messages."""

from __future__ import annotations

import pickle
import threading
from contextvars import copy_context

import pytest

import persona_mind.plugin  # noqa: F401 - it speaks once it is loaded
from persona_hooks import speech
from persona_hooks.cards import Card
from persona_hooks.errors import UNCHANGED, InvalidError, RefusedError
from persona_hooks.speech import IN_ENGLISH, Voice, chosen, phrase, phrase_n, say, say_n, speaking, thousands, worded
from persona_hooks.verbs import refusal

ITALIAN = Voice(lambda: ("it", True))


@pytest.mark.parametrize(
    ("environ", "setting", "language"),
    [
        ({}, None, "en"),
        ({"LANG": "it_IT.UTF-8"}, None, "it_IT"),
        ({"LANG": "it"}, None, "it"),
        ({"LC_ALL": "C", "LANG": "it_IT.UTF-8"}, None, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "it_CH", "LANG": "de_DE"}, None, "it_CH"),
        ({"LANG": "POSIX"}, None, "en"),
        ({"LANG": "C.UTF-8"}, None, "en"),
        ({"LANG": "ca_ES@valencia"}, None, "ca_ES"),
        ({"LANG": "../../etc"}, None, "en"),
        ({"LANG": "C"}, "it", "it"),
        ({"LANG": "it_IT"}, "en", "en"),
        ({"LANG": "it_IT"}, "IT-it", "it_it"),
        ({"LANG": "it_IT"}, 5, "it_IT"),
        ({"LANG": "it_IT"}, "", "it_IT"),
    ],
)
def test_the_setting_then_the_environment_names_the_language(
    environ: dict[str, str], setting: object, language: str
) -> None:
    assert chosen(environ, setting) == language


def test_without_a_voice_english_is_spoken() -> None:
    assert say("{number} entries", number=2) == "2 entries"
    assert say_n("{number} fact", "{number} facts", 1) == "1 fact"


def test_a_language_without_a_catalogue_is_answered_in_english() -> None:
    with speaking(Voice(lambda: ("tlh", True))):
        assert say_n("{number} fact", "{number} facts", 2) == "2 facts"


def test_plurals_follow_the_language() -> None:
    # As data: the catalogue's forms are what is asked for, not that these are messages of this file.
    with speaking(ITALIAN):
        told = [say_n("{number} fact", "{number} facts", number) for number in (0, 1, 2)]
    assert told == ["0 ricordi", "1 ricordo", "2 ricordi"]


def test_a_region_falls_back_on_its_language() -> None:
    with speaking(Voice(lambda: ("it_CH", True))):
        assert say("is missing") == "manca"


def test_a_phrase_is_english_to_programs_and_worded_for_people() -> None:
    made = phrase("{field} {broken}", field="max", broken=phrase("is missing"))
    assert (str(made), f"{made}", made == "max is missing") == ("max is missing", "max is missing", True)
    with speaking(ITALIAN):
        assert worded(made) == "max manca"
        assert worded("is missing") == "is missing"
    assert worded(made) == "max is missing"


def test_a_refusal_is_worded_in_its_card_only() -> None:
    error = RefusedError(
        phrase("The memory's owner changed meanwhile; {unchanged}.", unchanged=UNCHANGED), reason="owner_changed"
    )
    with speaking(ITALIAN):
        answer = refusal("memory.recall", error)
    assert answer.card.title.startswith("Nel frattempo")
    assert str(error).startswith("The memory's owner")
    assert answer.details == {"reason": "owner_changed"}
    assert "non è cambiato nulla" in answer.card.title
    error.changed = "unknown"
    with speaking(ITALIAN):
        assert "non è cambiato nulla" not in refusal("memory.recall", error).card.title


def test_values_are_never_read_as_messages() -> None:
    hostile = "{0} {field.__class__} {missing} %s is missing"
    with speaking(ITALIAN):
        assert say("{field} {broken}", field=hostile, broken="is missing") == f"{hostile} is missing"
        assert worded(phrase("{field} {broken}", field=hostile, broken=phrase("is missing"))) == f"{hostile} manca"


def test_a_translation_that_asks_for_what_is_not_there_gives_way_to_english(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def gettext(self, message: str, /) -> str:
            return message + " {unheard}"

        def ngettext(self, one: str, many: str, number: int, /) -> str:
            return "{0}" if number else one + many

    monkeypatch.setattr(speech, "catalogue", lambda _: Wrong())
    with speaking(Voice(lambda: ("xx", True))):
        assert say("{number} entries", number=3) == "3 entries"
        assert say_n("{number} fact", "{number} facts", 3) == "3 facts"


def test_a_phrase_crosses_process_pools_and_keeps_its_parts() -> None:
    made = InvalidError(phrase_n("{number} fact", "{number} facts", 2), field="x")
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    with speaking(ITALIAN):
        assert worded(again.message) == "2 ricordi"


def test_thousands_are_set_apart_as_the_language_does() -> None:
    made = phrase("{number} bytes", number=thousands(1_234_567))
    assert made == "1,234,567 bytes"
    with speaking(ITALIAN):
        assert worded(made) == "1.234.567 byte"


def test_threads_speak_the_language_of_the_context_they_copy() -> None:
    heard: list[str] = []

    def speak() -> None:
        heard.append(say("is missing"))

    with speaking(ITALIAN):
        copied = threading.Thread(target=copy_context().run, args=(speak,))
        with speaking(IN_ENGLISH):
            plain = threading.Thread(target=copy_context().run, args=(speak,))
    for thread in (copied, plain):
        thread.start()
        thread.join()
    assert heard == ["manca", "is missing"]


def test_a_voice_asks_again_until_it_is_settled_and_after_it_forgot() -> None:
    answers = [("en", False), ("it", True), ("en", True)]
    voice = Voice(lambda: answers.pop(0))
    with speaking(voice):
        told = [say("is missing"), say("is missing"), say("is missing")]
        voice.forget()
        told.append(say("is missing"))
    assert told == ["is missing", "manca", "manca", "is missing"]


def test_a_card_is_made_of_texts_that_are_worded_already() -> None:
    with speaking(ITALIAN):
        card = Card(say("is missing"))
    assert card.text() == "manca"
