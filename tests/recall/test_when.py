"""Times that questions name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_mind.recall import CONVERSATION, ITEMS, Doc, Index
from persona_mind.recall.analyse import tokens
from persona_mind.recall.when import window

NOW = datetime(2023, 8, 15, 12, tzinfo=UTC).timestamp()


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did we do on 8 May 2022?", "2022-05-08", "2022-05-09"),
        ("on May 8th, 2022", "2022-05-08", "2022-05-09"),
        ("on the 8th of May 2022", "2022-05-08", "2022-05-09"),
        ("l'8 maggio 2022", "2022-05-08", "2022-05-09"),
        ("am 3. März 2023", "2023-03-03", "2023-03-04"),
        ("el 3 de marzo de 2023", "2023-03-03", "2023-03-04"),
        ("2022-05-08", "2022-05-08", "2022-05-09"),
        ("in 2022-05", "2022-05-01", "2022-06-01"),
        ("in December 2022", "2022-12-01", "2023-01-01"),
        ("last May", "2023-05-01", "2023-06-01"),
        ("in October", "2022-10-01", "2022-11-01"),
        ("what did I say in August?", "2023-08-01", "2023-09-01"),
        ("what happened in 2022", "2022-01-01", "2023-01-01"),
        ("yesterday", "2023-08-14", "2023-08-15"),
        ("cosa ho detto ieri", "2023-08-14", "2023-08-15"),
        ("last week", "2023-08-01", "2023-08-15"),
    ],
)
def test_a_named_time_is_a_stretch_of_time(question: str, start: str, end: str) -> None:
    span = window(tokens(question), NOW)
    assert span is not None
    assert (span.start, span.end) == (at(start), at(end))


@pytest.mark.parametrize(
    "question",
    ["may I march to Mars?", "port 2048 is open", "May", "31 February 2023", "the 1999 bottles", "", "how are you"],
)
def test_what_names_no_time_is_none(question: str) -> None:
    assert window(tokens(question), NOW) is None


def test_without_a_now_only_full_dates_are_understood() -> None:
    assert window(["last", "may"], None) is None
    assert window(["yesterday"], None) is None
    assert window(["may", "2022"], None) is not None


@given(
    st.lists(st.sampled_from(("may", "8", "31", "2022", "00", "13", "in", "of", "last", "week", "june")), max_size=6)
)
def test_no_order_of_dates_and_numbers_is_an_error(words: list[str]) -> None:
    span = window(words, NOW)
    assert span is None or span.start < span.end


def test_items_of_the_named_time_are_preferred_and_those_soon_after_count_half() -> None:
    index = Index()
    index.sync(
        [
            Doc("april", "a trip to the lake", at=at("2023-04-02")),
            Doc("may", "a trip to the hills", at=at("2023-05-20")),
            Doc("june", "a trip to the coast", at=at("2023-06-05")),
            Doc("august", "a trip to the city", at=at("2023-08-01")),
        ]
    )
    hits = index.search("the trip last May")
    values = {hit.key: [term.value for term in hit.terms if term.name == "when:2023-05"] for hit in hits}
    assert hits[0].key == "may"
    assert values["june"] == [values["may"][0] / 2]
    assert values["april"] == values["august"] == []


def test_a_time_alone_finds_what_was_said_then() -> None:
    index = Index()
    index.sync([Doc("a", "coffee", at=at("2023-05-20")), Doc("b", "tea", at=at("2023-08-01"))])
    assert [hit.key for hit in index.search("what was it in May?")] == ["a"]
    assert [hit.key for hit in index.search("what was it last month?", now=at("2023-06-10"))] == ["a"]


def test_a_question_for_a_time_prefers_what_tells_one() -> None:
    index = Index()
    index.sync([Doc("a", "we saw the museum again"), Doc("b", "we saw the museum yesterday")])
    assert index.search("when did we see the museum?", profile=CONVERSATION)[0].key == "b"
    assert "told_when" not in {t.name for h in index.search("the museum", profile=ITEMS) for t in h.terms}
