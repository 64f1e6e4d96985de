"""Near-duplicates step back, contradictions do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from persona_mind.recall import ITEMS, Doc, Hit, Index


def search(*said: str, query: str, k: int = 10, repeats: float = 0.5) -> list[Hit]:
    index = Index()
    index.sync([Doc(str(at), text, at=float(-at)) for at, text in enumerate(said)])
    return index.search(query, k, replace(ITEMS, repeats=repeats, recency=0.0))


def test_what_says_the_same_again_gives_way_and_names_what_it_repeats() -> None:
    said = ("deploy the staging cluster by hand", "Deploy the staging clusters by hand!", "the cluster has six nodes")
    hits = search(*said, query="staging cluster deploy hand nodes", k=3)
    assert [hit.key for hit in hits] == ["0", "2", "1"]
    assert hits[2].terms[-1].name == "repeats:0"
    assert hits[2].terms[-1].amount < 0
    assert [hit.key for hit in search(*said, query="staging cluster deploy hand nodes", k=2, repeats=0.0)] == ["0", "1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("we use tabs in the parser", "we never use tabs in the parser"),
        ("postgres listens on port 5432", "postgres listens on port 5433"),
    ],
)
def test_a_contradiction_is_no_repetition(one: str, other: str) -> None:
    for hit in search(one, other, query=one):
        assert not [term for term in hit.terms if term.name.startswith("repeats")]


def test_copies_stay_in_the_answer_when_there_is_room() -> None:
    assert len(search("green tea at noon", "green tea at noon", "green tea at noon", query="green tea")) == 3
