"""Excerpts never say something else than the text."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from persona_mind.recall.analyse import tokens
from persona_mind.recall.excerpt import ELLIPSIS, Excerpt, excerpt
from persona_mind.recall.language import NEGATIONS

PIECES = (
    *("Deploy", "on Fridays", "never", "not", "we", "use tabs", "don't", "mai", "the parser", "e.g.", "is green"),
    *(".", ". ", "; ", ", ", ": ", "\n- ", "\n\n", "? ", "! ", " ", " ", " ", "nicht", "Because", "東京。"),
    *("👨‍👩‍👧‍👦", "e\u0301"),
)
written = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def bare(shown: str) -> str:
    return shown.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS)


def test_a_text_that_fits_is_shown_whole() -> None:
    assert excerpt("  Use tabs.\n", 9) == Excerpt("Use tabs.", whole=True)


def test_whole_sentences_are_shown_before_any_is_cut() -> None:
    text = "The build is green. The deploy was slow and took an hour. Coffee is out."
    assert excerpt(text, 30).text == "The build is green.…"


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    text = "Use the new parser, e.g. for all the long files in the repository that we own"
    assert excerpt(text, 40).text == "Use the new parser, e.g. for all the…"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("On Fridays, after lunch or when the team is away, we never deploy anything at all", 50),
        ("Never, under any circumstances that you can think of, deploy on Fridays", 30),
        ("Deploying on a Friday afternoon? Never.", 34),
        ("Do not:\n- deploy on Fridays\n- merge at night", 20),
        ("Il venerdì pomeriggio il deploy di produzione non si fa", 40),
        ("Am Freitag nach dem Mittagessen wird hier nicht ausgeliefert", 40),
    ],
)
def test_a_sentence_with_a_negation_is_shown_whole_or_not_at_all(text: str, limit: int) -> None:
    assert excerpt(text, limit) == Excerpt("", whole=False)
    assert excerpt(text, len(text)).whole


def test_another_sentence_is_shown_where_the_first_cannot_be() -> None:
    text = "We deploy every day of the week, on Fridays we never do. Ask Anna first."
    assert excerpt(text, 40).text == "…Ask Anna first."


def test_what_follows_a_semicolon_behind_the_negation_may_be_left_out() -> None:
    text = "Use tabs; never spaces; align comments with the code wherever it is possible"
    assert excerpt(text, 50).text == "Use tabs; never spaces; align comments with the…"


def test_the_sentence_that_the_query_is_about_is_shown() -> None:
    text = "The build is green. The pytest suites were slow. We should buy coffee for everyone."
    assert excerpt(text, 35, "how slow is pytest?").text == "…The pytest suites were slow.…"


def test_an_abbreviation_ends_no_sentence() -> None:
    assert (
        excerpt("Mr. Rossi does not eat fish. He likes pasta with basil.", 35).text == "Mr. Rossi does not eat fish.…"
    )


def test_a_text_without_spaces_is_cut_between_graphemes() -> None:
    family = "👨‍👩‍👧‍👦"
    assert excerpt(family * 9, 2 * len(family) + 3).text == family * 2 + ELLIPSIS


@pytest.mark.parametrize("limit", [0, 1, -5])
def test_a_limit_without_room_shows_nothing(limit: int) -> None:
    assert excerpt("Use tabs.", limit) == Excerpt("", whole=False)


@given(written, st.integers(0, 120), st.sampled_from(("", "Fridays", "parser tabs")))
def test_an_excerpt_keeps_its_bounds(text: str, limit: int, query: str) -> None:
    part = excerpt(text, limit, query)
    stripped = text.strip()
    assert len(part.text) <= max(limit, 0) or part.whole
    assert part.whole == (len(stripped) <= limit)
    if part.text and not part.whole:
        assert bare(part.text) in stripped
        assert ELLIPSIS in {part.text[0], part.text[-1]}


@given(written, st.integers(1, 120))
def test_no_cut_splits_a_grapheme(text: str, limit: int) -> None:
    text = text.strip()
    shown = excerpt(text, limit)
    if shown.whole or not shown.text:
        return
    start = text.index(bare(shown.text))
    ends = {0}
    for grapheme in regex.findall(r"\X", text):
        ends.add(max(ends) + len(grapheme))
    starts = [at for at in range(len(text)) if text.startswith(bare(shown.text), at)]
    assert start in starts
    assert any(at in ends and at + len(bare(shown.text)) in ends for at in starts)


@given(written, st.integers(1, 120))
def test_no_cut_stands_in_a_sentence_with_a_negation_that_is_not_over(text: str, limit: int) -> None:
    """Stated anew, without the code's own sentences: from the cut to the sentence's end nothing is negated, and a
    negation before the cut has a stop or a semicolon between itself and the cut."""
    text = text.strip()
    shown = excerpt(text, limit)
    if shown.whole or not shown.text.endswith(ELLIPSIS):
        return
    end = text.index(bare(shown.text)) + len(bare(shown.text))
    ahead = regex.split(r"[.!?;。]\s|\n|。", text[end:])[0]
    behind = regex.split(r"[.!?;。](?:\s|$)|\n|。", text[:end])[-1]
    if behind.strip() and ahead.strip():
        assert NEGATIONS.isdisjoint(tokens(behind))
        assert NEGATIONS.isdisjoint(tokens(ahead))
