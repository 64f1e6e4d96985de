"""Commands in messages: each host names them as they are typed there, and never changes what it quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import persona_mind.plugin  # noqa: F401 - it speaks once it is loaded
from persona_hooks.speech import Voice, phrase, say, say_n, speaking, spelled, worded
from persona_host.adapters.claude_code.told import here
from persona_host.helping import shell_text
from tests.speech.test_catalogues import PATHS, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLASHED = re.compile(r"(?<![\w/.:])/(?:mind|persona)(?![\w/:-])")
SHELL = Voice(lambda: ("en", True), shell_text)


def naming() -> Iterator[str]:
    """Yield every message, and every translation of one, that names a command of a conversation."""
    for path in PATHS:
        for found, told in messages(path):
            yield from (text for text in (*found, *told) if SLASHED.search(text))


@pytest.mark.parametrize("spell", [shell_text, here])
def test_every_message_that_names_a_command_can_be_spelled(spell: Callable[[str], str]) -> None:
    texts = list(naming())
    assert len(texts) > 40
    # A list of personas, or one of them, is asked for in a conversation only.
    assert [
        text for text in texts if SLASHED.search(spell(text)) and not re.search(r"/persona(?! (use|none|d))", text)
    ] == []


@pytest.mark.parametrize("spell", [shell_text, here])
def test_spelling_twice_changes_nothing_more(spell: Callable[[str], str]) -> None:
    assert all(spell(spell(text)) == spell(text) for text in naming())


def test_a_shell_chooses_a_persona_by_an_option() -> None:
    assert shell_text("Choose with /persona use NAME, or /persona none.") == (
        "Choose with --persona NAME, or --persona none."
    )


def test_a_message_is_spelled_in_every_language_and_its_values_are_not() -> None:
    for language, told in (("en", "lists facts"), ("it", "elenca")):
        with speaking(Voice(lambda language=language: (language, True), shell_text)):  # type: ignore[misc]
            text = worded(phrase("`/mind recall` lists facts with their ids."))
        assert "`persona mind recall`" in text
        assert told in text
    with speaking(SHELL):
        assert (
            say("{id} is off, `/mind on`", id="a note on /mind off") == "a note on /mind off is off, `persona mind on`"
        )
        assert say_n("{number} in `/mind`", "{number} of `/mind`", 2) == "2 of `persona mind`"


def test_without_a_spelling_messages_stay_as_in_a_conversation() -> None:
    assert say("`/mind on`") == "`/mind on`"
    with speaking(Voice(lambda: ("en", True))):
        assert spelled("/mind on") == say("/mind on") == "/mind on"
