"""What is found, in which order, and why."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_mind.recall import CONVERSATION, ITEMS, Doc, Index, Profile, rank, why
from tests.recall.test_index import docs, texts

WORDS_ONLY = Profile(**{field.name: 0.0 for field in fields(Profile) if field.name not in {"words", "half_life_days"}})


def found(index: Index, query: str, k: int = 10, profile: Profile = ITEMS) -> list[str]:
    return [hit.key for hit in index.search(query, k, profile)]


def index_of(*made: Doc | str) -> Index:
    index = Index()
    index.sync([doc if isinstance(doc, Doc) else Doc(str(at), doc) for at, doc in enumerate(made)])
    return index


def turns(*said: str, group: str = "s") -> list[Doc]:
    return [Doc(f"{group}{at}", text, group=group, seq=at) for at, text in enumerate(said)]


@given(st.lists(docs, max_size=8), texts, st.integers(0, 10), st.sampled_from((ITEMS, CONVERSATION, WORDS_ONLY)))
def test_a_score_is_the_sum_of_its_terms_and_hits_come_best_first(
    held: list[Doc], query: str, k: int, profile: Profile
) -> None:
    index = Index()
    index.sync(held)
    hits = index.search(query, k, profile)
    assert len(hits) <= k
    assert len({hit.key for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == sum(term.weight * term.value for term in hit.terms)
        assert all(term.value and term.weight for term in hit.terms)


def test_the_rarer_word_counts_more() -> None:
    index = index_of("coffee in Milan", "coffee in Rome", "coffee at home", "a suitcase in the hall")
    assert found(index, "coffee suitcase")[0] == "3"


def test_what_shares_nothing_with_the_question_does_not_come_back() -> None:
    index = index_of("coffee in Milan", "a suitcase")
    assert found(index, "Which umbrella is ours?") == []


def test_a_short_word_does_not_match_inside_others() -> None:
    index = index_of("the cartographer", "a cart of apples")
    assert found(index, "cart", profile=WORDS_ONLY) == ["1"]


def test_kin_finds_another_form_of_the_word_and_says_so() -> None:
    (hit,) = index_of("she is a counselor").search("counseling")
    assert [term.name for term in hit.terms] == ["kin:counsel"]
    assert index_of("she is a counselor").search("counseling", profile=WORDS_ONLY) == []


def test_a_tag_is_matched_as_a_word() -> None:
    index = index_of(Doc("a", "runs in random order", ("ci", "tests")), "nothing of the kind")
    (hit,) = index.search("ci")
    assert (hit.key, hit.terms[0].name) == ("a", "tag:ci")


@pytest.mark.parametrize("query", ["", "   ", "what is it?", "…"])
def test_a_query_that_names_nothing_lists_the_newest_first(query: str) -> None:
    index = index_of(Doc("old", "coffee", at=1.0), Doc("new", "tea", at=3.0), Doc("mid", "milk", at=2.0))
    assert found(index, query, 2) == ["new", "mid"]
    assert found(index, query, 2, WORDS_ONLY) == ["new", "mid"]


@pytest.mark.parametrize("k", [0, -3])
def test_no_hit_is_returned_when_none_is_asked_for(k: int) -> None:
    assert found(index_of("coffee"), "coffee", k) == []


def test_an_empty_index_finds_nothing() -> None:
    assert found(Index(), "coffee") == []


def test_the_prior_decides_between_equals() -> None:
    index = index_of(Doc("a", "coffee beans", prior=0.1), Doc("b", "coffee cups", prior=0.9))
    assert found(index, "coffee") == ["b", "a"]


def test_the_newer_of_equals_comes_first() -> None:
    index = index_of(Doc("a", "coffee beans", at=1e9), Doc("b", "coffee cups", at=1.1e9))
    assert found(index, "coffee") == ["b", "a"]
    assert found(index, "coffee", profile=WORDS_ONLY) == ["b", "a"]


def test_an_answer_inherits_the_words_of_its_question() -> None:
    index = Index()
    index.sync(
        [*turns("Where did you buy the suitcase?", "At the market behind the station."), *turns("Hm.", group="t")]
    )
    hits = index.search("suitcase", profile=CONVERSATION)
    answer = next(hit for hit in hits if hit.key == "s1")
    assert {"before", "answer"} <= {term.name for term in answer.terms}
    assert "s1" not in found(index, "suitcase", profile=ITEMS)


def test_neighbours_do_not_reach_into_another_group() -> None:
    index = Index()
    index.sync([*turns("Where is the suitcase?", group="a"), *turns("On the shelf.", group="b")])
    assert found(index, "suitcase", profile=CONVERSATION) == ["a0"]


def test_the_group_that_covers_more_of_the_question_wins() -> None:
    index = Index()
    filler = [Doc(f"f{n}", "small talk", group=f"g{n}") for n in range(8)]
    trip = turns("We went to Lisbon.", "Lovely.", "Good.", "Yes.", "The hotel had a pool.", group="trip")
    other = turns("They went to Lisbon.", "Lovely.", "Good.", "Yes.", "The office had a view.", group="work")
    index.sync([*filler, *other, *trip])
    assert found(index, "the hotel in Lisbon", profile=CONVERSATION).index("trip0") < found(
        index, "the hotel in Lisbon", profile=CONVERSATION
    ).index("work0")


def test_words_too_frequent_to_select_still_weigh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank, "SELECTED", 1)
    index = index_of("coffee in Milan", "coffee beans", "tea", "a suitcase of coffee", "a suitcase")
    (first, *rest) = index.search("coffee suitcase", profile=CONVERSATION)
    assert first.key == "3"
    assert {term.name for term in first.terms} >= {"word:coffe", "word:suitcas"}
    assert "2" not in {hit.key for hit in rest}


def test_a_tag_that_most_items_have_selects_nothing_beside_a_word() -> None:
    said = [Doc(f"s{at}", "talk", ("Ann",), at=float(at)) for at in range(200)]
    index = index_of(*said, Doc("a", "a suitcase", ("Ann",)), Doc("b", "a suitcase", ("Ben",)))
    assert found(index, "Ann's suitcase") == ["a", "b"]
    assert len(found(index, "Ann", 3)) == 3


def test_who_asks_for_many_gets_every_match() -> None:
    said = [Doc(f"s{at}", "talk", ("Ann",)) for at in range(200)]
    index = index_of(*said, Doc("a", "a suitcase", ("Ann",)))
    assert len(found(index, "Ann's suitcase", 500)) == index.count("Ann's suitcase") == 201


@given(st.dictionaries(st.integers(0, 5000), st.floats(0, 20), max_size=900), st.integers(1, 60))
def test_the_top_of_a_long_list_is_what_sorting_gives(sums: dict[int, float], most: int) -> None:
    expected = sorted(sums.values(), reverse=True)[:most]
    assert [sums[slot] for slot in rank._top(sums, most)] == expected


def test_a_question_finds_texts_in_each_language_of_the_index() -> None:
    index = index_of("abbiamo prenotato le vacanze in Portogallo", "we booked the holidays in Portugal")
    assert found(index, "quando sono le nostre vacanze?") == ["0"]
    assert found(index, "when are our holidays?") == ["1"]
    assert found(index, "vacanza") == ["0"]


def test_the_reasons_are_given_strongest_first_and_quote_no_text() -> None:
    (hit,) = index_of(Doc("a", "the confidential harbour of Zanzibar", ("ci",), at=1.0, prior=0.2)).search(
        "harbours ci"
    )
    reasons = why(hit)
    assert [abs(amount) for _, amount in reasons] == sorted((abs(amount) for _, amount in reasons), reverse=True)
    assert "zanzibar" not in repr(reasons).lower()


def test_a_weight_of_zero_switches_its_evidence_off() -> None:
    index = index_of(Doc("a", "coffee", ("coffee",), at=5.0, prior=1.0))
    (hit,) = index.search("coffee", profile=replace(WORDS_ONLY, words=1.0))
    assert [term.name for term in hit.terms] == ["word:coffe"]


def test_of_a_long_prompt_the_rarest_words_are_looked_for() -> None:
    names = ("oak", "elm", "ash", "yew", "fir", "fig", "box", "bay", "tea", "rye")
    kinds = [f"{one}{other}" for one in names[:5] for other in names]
    index = index_of(*(f"{kind} grows" for kind in kinds * 3), "the quetzal sings")
    hits = index.search(" ".join([*kinds, "quetzal", "unheard"]), 3)
    assert hits[0].key == "150"
    assert all(len(hit.terms) <= rank.TERMS + len(fields(Profile)) for hit in hits)


def test_a_prompt_of_unknown_words_finds_nothing_however_long() -> None:
    assert found(index_of("the quetzal sings"), " ".join(f"unknown{at}" for at in range(100))) == []
