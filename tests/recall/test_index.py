"""The index follows its documents."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from persona_mind.recall import CONVERSATION, ITEMS, Doc, Index, Synced

WORDS = ("deploy", "friday", "pytest", "coffee", "milan", "suitcase", "never", "the", "caffè", "2023", "harbour?")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
docs = st.builds(
    Doc,
    key=st.sampled_from("abcdefgh"),
    text=texts,
    tags=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    group=st.sampled_from(("", "s1", "s2")),
    seq=st.integers(0, 3),
    at=st.none() | st.floats(0, 2e9),
    prior=st.floats(0, 1),
)
states = st.lists(st.lists(docs, max_size=8), min_size=1, max_size=5)


@given(states, texts)
def test_an_index_that_followed_changes_answers_like_a_fresh_one(history: list[list[Doc]], query: str) -> None:
    index, fresh = Index(), Index()
    for state in history:
        index.sync(state)
    fresh.sync(history[-1])
    for profile in (ITEMS, CONVERSATION):
        followed, new = index.search(query, 20, profile), fresh.search(query, 20, profile)
        assert {hit.key for hit in followed} == {hit.key for hit in new}
        for one, other in zip(followed, new, strict=True):
            assert abs(one.score - other.score) < 1e-9


@given(states)
def test_sync_counts_what_it_did(history: list[list[Doc]]) -> None:
    index = Index()
    before: dict[str, Doc] = {}
    for state in history:
        done = index.sync(state)
        after = {doc.key: doc for doc in state}
        assert done.added == len(after.keys() - before.keys())
        assert done.removed == len(before.keys() - after.keys())
        assert done.kept == sum(before.get(key) == doc for key, doc in after.items())
        assert done.added + done.changed + done.kept == len(after) == len(index)
        before = after


def test_the_later_of_two_documents_with_one_key_counts() -> None:
    index = Index()
    assert index.sync([Doc("a", "coffee"), Doc("a", "tea")]) == Synced(1, 0, 0, 0)
    assert [hit.doc.text for hit in index.search("tea")] == ["tea"]
    assert index.search("coffee") == []


def test_a_changed_time_or_prior_shows_without_new_analysis() -> None:
    index = Index()
    doc = Doc("a", "coffee in Milan", at=1.0)
    index.sync([doc])
    assert index.sync([replace(doc, at=2.0, prior=0.5)]).changed == 1
    (hit,) = index.search("coffee")
    assert (hit.doc.at, hit.doc.prior) == (2.0, 0.5)


def test_nothing_of_a_removed_document_stays() -> None:
    index = Index()
    index.sync([Doc("a", "the harbour of Zanzibar", ("Quetzal",), "s", 1, 5.0), Doc("b", "coffee")])
    index.search("Zanzibar harbours of the quetzal", profile=CONVERSATION)
    index.sync([Doc("b", "coffee")])
    held = repr((vars(index._analyser), vars(index._postings), vars(index._postings._worth))).lower()
    assert "zanzibar" not in held
    assert "quetzal" not in held
    assert index.search("Zanzibar quetzal harbour") == []


def test_membership_is_by_key() -> None:
    index = Index()
    index.sync([Doc("a", "coffee")])
    assert "a" in index
    assert "coffee" not in index


def test_the_core_imports_neither_numpy_nor_the_stemmer_before_it_is_used() -> None:
    code = (
        "import sys; from persona_mind.recall import Doc, Index; i = Index();"
        "assert 'Stemmer' not in sys.modules; i.sync([Doc('a', 'coffee')]); i.search('coffee');"
        "assert not {'numpy', 'onnxruntime', 'tokenizers', 'pydantic'} & set(sys.modules) - before"
    )
    run = f"import sys; import persona_hooks.errors; before = set(sys.modules); {code}"
    subprocess.run([sys.executable, "-c", run], check=True)


def test_the_count_is_of_all_that_a_search_without_a_limit_finds() -> None:
    index = Index()
    docs = [Doc(str(n), f"share {n} on smb" if n % 3 else f"share {n}", ("disk",) if n % 5 else ()) for n in range(60)]
    index.sync(docs)
    for query in ("smb", "smb disk", "share", "nothing of this", ""):
        assert index.count(query) == len(index.search(query, 1000))
