from __future__ import annotations

import shutil
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_mind.capture import language
from persona_mind.capture.cues import find_cues
from persona_mind.capture.language import Phrases, languages

if TYPE_CHECKING:
    from collections.abc import Iterator

sentences = st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=3, max_size=9).map(" ".join)


def written(text: str) -> list[tuple[str, str]]:
    return [(cue.kind, cue.candidate) for cue in find_cues(text) if cue.strong]


def hinted(text: str) -> list[str]:
    return [cue.kind for cue in find_cues(text) if not cue.strong]


STRONG = [
    ("Remember that the staging database listens on port 5433.", "note", "the staging database listens on port 5433."),
    ("please remember that I'm vegan", "note", "I'm vegan"),
    ("Remember: no deploys on Fridays", "note", "no deploys on Fridays"),
    ("Remember my birthday is 5 May.", "note", "my birthday is 5 May."),
    ("Always remember that CI is slow.", "note", "CI is slow."),
    ("Hey, don't forget that I'm allergic to nuts.", "note", "I'm allergic to nuts."),
    ("don’t forget: the API is v2", "note", "the API is v2"),
    ("Keep in mind that tests need Docker", "note", "tests need Docker"),
    ("Keep in mind the build needs Node 22", "note", "the build needs Node 22"),
    ("For future reference, the office closes at 6 p.m. on Friday.", "note", "the office closes at 6 p.m. on Friday."),
    ("Commit this to memory: the key lives in the vault.", "note", "the key lives in the vault."),
    ("I want you to remember that we ship on Mondays", "note", "we ship on Mondays"),
    ("From now on, always use tabs.", "convention", "always use tabs."),
    ("From now on use pnpm.", "preference", "use pnpm."),
    ("Going forward, we use ruff.", "preference", "we use ruff."),
    ("In the future, please answer in Italian.", "preference", "please answer in Italian."),
    ("Remember that I prefer short answers", "preference", "I prefer short answers"),
    ("We have adopted a stable convention: all ids are UUIDs.", "rationale", "all ids are UUIDs."),
    ("For this project we made a durable architectural decision: SQLite it is", "rationale", "SQLite it is"),
    ("Ricorda che il database ascolta sulla porta 5433.", "note", "il database ascolta sulla porta 5433."),
    ("Per favore ricordati che sono vegano", "note", "sono vegano"),
    ("Tieni a mente che i test vogliono Docker", "note", "i test vogliono Docker"),
    ("Non dimenticare che la build richiede Node 22", "note", "la build richiede Node 22"),
    ("D’ora in poi usa ruff.", "preference", "usa ruff."),
    ("In futuro, rispondi in inglese.", "preference", "rispondi in inglese."),
    ("Voglio che tu ricordi che il lunedì si rilascia", "note", "il lunedì si rilascia"),
    (
        "Abbiamo stabilito una decisione architetturale durevole per questo progetto: usiamo SQLite.",
        "rationale",
        "usiamo SQLite.",
    ),
]


@pytest.mark.parametrize(("text", "kind", "candidate"), STRONG)
def test_what_a_person_asks_to_be_remembered_is_written_as_it_was_said(text: str, kind: str, candidate: str) -> None:
    assert written(text) == [(kind, candidate)]


@pytest.mark.parametrize(
    "text",
    [
        "Remember when we went to Rome.",
        "Remember that time we went to Rome.",
        "Remember the good old days.",
        "Remember that bug we fixed yesterday.",
        "Remember, just do it!",
        "From now on everything will change.",
        "Remember to buy milk.",
        "Remember the milk.",
        "Remember how it broke last week",
        "Don't forget to deploy.",
        "In the future, cars will fly.",
        "In the future we will all live on Mars.",
        "From now on he was careful.",
        "From now on the town was quiet.",
        "Going forward was hard.",
        "I prefer tabs.",
        "Always check the logs.",
        "We use pytest.",
        "Note that the port is 80.",
        'I read "remember that the port is 80" somewhere.',
        "I heard we made a durable decision: use Mongo.",
        "Ricordati di comprare il latte.",
        "Ricorda quando siamo andati a Roma.",
        "In futuro le auto voleranno.",
        "Preferirei risposte brevi.",
        "Nota che la porta è 80.",
    ],
)
def test_an_errand_a_shared_past_a_story_or_a_wish_is_not_written(text: str) -> None:
    assert written(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember that the port is 80?",
        "Remember that the port is 80?",
        "Remember that the port is 80, right?",
        "do you remember that the port is 80",
        "What should I remember from now on?",
        "Should we always use tabs?",
        "Ti ricordi che la porta è 80?",
        "Ricordi quando siamo andati a Roma?",
    ],
)
def test_a_question_is_neither_written_nor_hinted(text: str) -> None:
    assert find_cues(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "He said: always lint. Remember that the port is 80.",
        'He said "always lint. Remember that the port is 80."',
        "She wrote: “Remember that the port is 80. From now on use 81.”",
        "Bob: hi there. Remember that the port is 80.",
        "[10:32] Bob: hi\nRemember that the port is 80.",
        "Translate this to Italian:\nRemember that the port is 80.",
        "Here is the email:\n\nHi all,\n\nRemember that the port is 80.",
        "The README says:\nFrom now on, use port 80.",
        "> Remember that the port is 80.",
        "- > Remember that the port is 80.",
        "```\nRemember that the port is 80.\n```",
        "~~~~\n~~~\nRemember that the port is 80.",
        "    Remember that the port is 80.",
        "\tRemember that the port is 80.",
        "`Remember that the port is 80.`",
        "Ha detto: usate sempre ruff. Ricorda che la porta è 80.",
        "Traduci la frase seguente:\nRicorda che la porta è 80.",
    ],
)
def test_what_somebody_else_said_is_not_the_persons_word(text: str) -> None:
    assert written(text) == []


def test_a_quotation_that_ends_leaves_the_next_sentence_to_the_person() -> None:
    text = 'He said "always lint. Remember that X is Y." Remember that I use vim.'
    assert written(text) == [("note", "I use vim.")]


def test_a_marked_off_quotation_leaves_what_follows_to_the_person() -> None:
    text = "The docs say:\n> from now on, use spaces\n\nRemember that I use tabs."
    assert written(text) == [("note", "I use tabs.")]


def test_list_items_are_read_without_their_markers() -> None:
    text = (
        "Two notes:\n- Remember that the API is v2\n2) From now on, answer in English\n"
        "- [ ] keep in mind that CI is slow\n> - remember that no"
    )
    assert [candidate for _, candidate in written(text)] == ["the API is v2", "answer in English", "CI is slow"]


def test_the_candidate_is_whole_and_only_the_snippet_is_short() -> None:
    fact = "the " + "very " * 160 + "long fact is kept"
    (cue,) = find_cues(f"Hello there. Remember that {fact}. Thanks!")
    assert cue.candidate == f"{fact}."
    assert cue.snippet.startswith("Remember that")
    assert len(cue.snippet) == 200


def test_a_sentence_that_is_wrapped_over_lines_is_one() -> None:
    assert written("Remember that the staging database\nlistens on port 5433.") == [
        ("note", "the staging database listens on port 5433.")
    ]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert written("Remember that Dr. Smith is my dentist.") == [("note", "Dr. Smith is my dentist.")]


def test_what_goes_on_about_the_same_thing_is_kept_with_it() -> None:
    text = "Remember that the port is 5433. It needs TLS. Now fix the tests."
    assert written(text) == [("note", "the port is 5433. It needs TLS.")]


def test_an_announced_list_takes_in_its_paragraph() -> None:
    text = "Remember the following: the port is 5433. The host is db1.\n\nNow fix the tests."
    assert written(text) == [("note", "the port is 5433. The host is db1.")]


def test_every_phrase_of_every_language_is_well_formed() -> None:
    for known in languages():
        for phrases in patterns(known):
            assert phrases.pattern.pattern


def patterns(part: object) -> Iterator[Phrases]:
    if isinstance(part, Phrases):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from patterns(item)
    elif is_dataclass(part):
        for spec in fields(part):
            yield from patterns(getattr(part, spec.name))


def test_a_new_language_is_a_new_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written("Onthoud dat de poort 5433 is.") == []
    folder = tmp_path / "languages"
    shutil.copytree(Path(language.__file__).parent / language.LANGUAGES, folder)
    english = (folder / "en.toml").read_text(encoding="utf-8")
    dutch = (
        english.replace('name = "en"', 'name = "nl"').replace('"remember"', '"onthoud"').replace('["that"]', '["dat"]')
    )
    (folder / "nl.toml").write_text(dutch, encoding="utf-8")
    monkeypatch.setattr(language, "LANGUAGES", folder)
    languages.cache_clear()
    try:
        assert written("Onthoud dat de poort 5433 is.") == [("note", "de poort 5433 is.")]
        assert written("Remember that the port is 5433.") == [("note", "the port is 5433.")]
    finally:
        languages.cache_clear()


def test_a_language_without_a_list_names_it() -> None:
    data = tomllib.loads((Path(language.__file__).parent / "languages" / "en.toml").read_text(encoding="utf-8"))
    del data["errands"]
    with pytest.raises(KeyError, match="errands"):
        language.compiled(data)


def test_at_most_four_cues_are_taken_from_one_message() -> None:
    assert len(find_cues("\n".join(f"Remember that port {n} is taken." for n in range(9)))) == 4


def test_weak_cues_name_a_kind() -> None:
    assert hinted("I prefer tabs.") == ["preference"]
    assert hinted("Never push to main") == ["convention"]
    assert hinted("Preferirei risposte brevi.") == ["preference"]


@given(sentences)
def test_a_linked_statement_is_written_word_for_word(fact: str) -> None:
    assert written(f"Remember that zz {fact}.") == [("note", f"zz {fact}.")]


@given(sentences)
def test_a_question_about_anything_touches_nothing(fact: str) -> None:
    assert find_cues(f"Remember that {fact}?") == []


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for cue in find_cues(text):
        assert len(cue.snippet) <= 200


@given(st.text(st.characters(exclude_characters="`~\n\r"), max_size=80))
def test_nothing_in_a_fence_is_ever_a_cue(text: str) -> None:
    assert find_cues(f"```\nremember that {text}\n```") == []


HOSTILE = [
    " 'a",
    "a. ",
    "“a. ",
    "Remember that ",
    "please ",
    "“",
    '"a ',
    "x: ",
    "- > ",
    "-",
    "?a",
    ", ",
    "<a> ",
    "**a",
    "(",
    "'''",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_message_is_read_in_one_pass(piece: str) -> None:
    # The suite's time limit is the assertion: quadratic reading of this would take minutes.
    assert len(find_cues(piece * 200_000)) <= 4
    for cue in ("Remember that", "Vergiss nicht", "From now on,", "We", "Use it"):
        assert len(find_cues(f"{cue} {piece * 200_000}")) <= 4
