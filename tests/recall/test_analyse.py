"""Words, languages, stems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import InvalidError
from persona_mind.recall.analyse import Analyser, language_of, tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Deploys never run on Fridays!", ["deploys", "never", "run", "on", "fridays"]),
        ("dueInSeconds and due_in_seconds", ["due", "in", "seconds", "and", "due", "in", "seconds"]),
        ("core/retrieval.ts", ["core", "retrieval", "ts"]),
        ("l’amica di Zoë", ["l", "amica", "di", "zoë"]),
        ("ﬁne", ["fine"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("Tokyo東京2024", ["tokyo", "東京", "2024"]),
        ("", []),
        ("—…!?", []),
    ],
)
def test_a_text_splits_into_the_words_people_would_type(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the build of our project is broken", "english"),
        ("la nostra build non è più quella di ieri", "italian"),
        ("wir haben das nicht so gemacht wie die anderen", "german"),
        ("nous avons fait tout ce qui est dans le dossier", "french"),
        ("nosotros no tenemos nada para el proyecto", "spanish"),
    ],
)
def test_a_sentence_is_told_by_its_function_words(text: str, language: str) -> None:
    assert language_of(frozenset(tokens(text))) == language


def test_a_text_without_function_words_takes_the_default_language() -> None:
    assert Analyser("italian").analyse("pytest xdist").language == "italian"


def test_one_foreign_function_word_changes_no_language() -> None:
    assert Analyser().analyse("CI runs nightly").terms == ("ci", "run", "night")


def test_a_language_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(InvalidError) as refused:
        Analyser("klingon")
    assert refused.value.details["field"] == "language"


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("we are deploying the releases", "the release was deployed", "english"),
        ("ho prenotato le vacanze", "la vacanza che ho prenotata", "italian"),
        ("die Häuser in der Stadt", "das Haus und die Städte", "german"),
        ("les chevaux sont dans les prairies", "un cheval est dans la prairie", "french"),
        ("los perros que yo tengo", "el perro que tengo", "spanish"),
    ],
)
def test_inflections_of_one_word_share_a_stem(one: str, other: str, language: str) -> None:
    first, second = Analyser().analyse(one), Analyser().analyse(other)
    assert first.language == second.language == language
    assert set(first.terms) & set(second.terms)


def test_accents_that_are_left_out_make_no_difference() -> None:
    analyser = Analyser("italian")
    assert analyser.analyse("il caffè è nella città").terms[-1] == analyser.analyse("il caffe nella citta").terms[-1]


def test_function_words_are_no_terms() -> None:
    assert Analyser().analyse("what is it that we would have been?").terms == ()


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Never deploy on Fridays", True),
        ("we don't use tabs", True),
        ("we don’t use tabs", True),
        ("non usare mai i tab", True),
        ("niemals am Freitag", True),
        ("jamais le vendredi", True),
        ("nunca los viernes", True),
        ("deploy on Fridays", False),
        ("a knot in the notebook", False),
    ],
)
def test_a_negation_is_seen_in_five_languages(text: str, *, negated: bool) -> None:
    assert Analyser().analyse(text).negated is negated


@pytest.mark.parametrize(
    ("text", "timed"),
    [
        ("I went there yesterday", True),
        ("since 2019", True),
        ("ci siamo visti martedì", True),
        ("the port is 5432", False),
        ("you may march", False),
    ],
)
def test_a_text_that_tells_a_time_is_seen(text: str, *, timed: bool) -> None:
    assert Analyser().analyse(text).timed is timed


@given(st.text(max_size=200))
def test_any_text_is_analysed_and_its_terms_are_lower_case_words(text: str) -> None:
    for term in Analyser().analyse(text).terms:
        assert term
        assert term == term.strip()


@given(st.text(max_size=120))
def test_analysing_twice_gives_the_same(text: str) -> None:
    analyser = Analyser()
    assert analyser.analyse(text) == analyser.analyse(text) == Analyser().analyse(text)


def test_words_of_a_forgotten_text_are_not_remembered() -> None:
    analyser = Analyser()
    analyser.analyse("Zanzibar and the harbour")
    analyser.forget("Zanzibar and the harbour")
    assert "zanzibar" not in repr(vars(analyser))
