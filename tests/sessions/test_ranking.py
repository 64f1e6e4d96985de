"""Turns ranked and cut: pure functions, and their laws."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persona_mind.sessions.model import Turn
from persona_mind.sessions.pieces import pieces
from persona_mind.sessions.ranking import Ranking, rank


def turns(*texts: str) -> list[Turn]:
    return [Turn(f"s/{at}", "s", str(at), text, at, 1.7e9 + at) for at, text in enumerate(texts)]


def test_ranking_once_and_keeping_a_ranking_give_the_same() -> None:
    said = turns("The mast is red.", "Lunch is at noon.", "Who paints the mast?", "Ann does.")
    kept = Ranking()
    kept.sync(said[:2])
    kept.sync(said)
    assert rank(said, "the mast", 3) == [turn for turn, _ in kept.rank("the mast", 3)]
    assert len(kept) == 4


def test_every_hit_explains_its_score() -> None:
    kept = Ranking()
    kept.sync(turns("The mast is red.", "Lunch is at noon.", "Who paints the mast?"))
    for _, hit in kept.rank("mast", 3):
        assert hit.score == sum(term.weight * term.value for term in hit.terms)


def test_what_is_no_longer_there_is_not_found() -> None:
    kept = Ranking()
    said = turns("The mast is red.", "Lunch is at noon.")
    kept.sync(said)
    kept.sync(said[1:])
    assert kept.rank("mast", 3) == []


@given(st.text(alphabet="ab .\n\u20ac\U0001f680", max_size=400), st.integers(1, 60))
def test_pieces_lose_nothing_but_white_space_and_keep_to_their_length(text: str, longest: int) -> None:
    cut = list(pieces(text, longest))
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(0 < len(piece) <= longest for piece in cut)
