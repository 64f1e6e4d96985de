"""Meaning: a model on this machine, its vectors among the words, two lists under one budget."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import CorruptError, NotFoundError
from persona_mind.kernel.compared import Compared
from persona_mind.meaning import service
from persona_mind.meaning.service import Meaning
from persona_mind.recall import CONVERSATION, ITEMS, Doc, Index
from persona_mind.recall.embed import load
from persona_mind.recall.pool import Patience, reading
from tests.recall import tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

np = pytest.importorskip("numpy", reason="the extra embeddings is not installed")
pytest.importorskip("onnxruntime", reason="the extra embeddings is not installed")
pytest.importorskip("tokenizers", reason="the extra embeddings is not installed")

SAID = (
    "we booked a flight to lisbon",
    "the recipe wants bread",
    "pytest runs the parser",
    "the branch is ready to deploy",
    "dinner and coffee",
    "we sat there and said nothing of note",
)
CUE = "my luggage is old"
"""Shares no word with what was said of Lisbon."""
SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_model.write(tmp_path / "model")


@pytest.fixture
def meaning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Meaning]:
    for patience in Patience:
        monkeypatch.setitem(service.SECONDS, patience, SECONDS)
    made = Meaning(str(folder))
    assert made.finish(SECONDS)
    yield made
    made.close()


@pytest.fixture
def filled(meaning: Meaning) -> Callable[..., Index]:
    def fill(*made: Doc) -> Index:
        index = Index(meaning=lambda: meaning)
        index.sync(made)
        index.prepare()
        assert meaning.finish(SECONDS)
        return index

    return fill


def docs(*said: str) -> list[Doc]:
    return [Doc(str(at), text) for at, text in enumerate(said)]


def test_a_model_gives_unit_vectors_that_do_not_depend_on_company(folder: Path) -> None:
    model = load(str(folder))
    together = model.embed(["trip", "a long text about bread and dinner", "flight"])
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0)
    assert np.allclose(together[1], model.embed(["a long text about bread and dinner"])[0])
    assert together[0] @ together[2] > together[0] @ together[1]
    assert len(model.embed([])) == 0


def test_more_texts_than_one_batch_keep_their_order(folder: Path) -> None:
    model = load(str(folder))
    texts = [("bread " * (at % 7 + 1) if at % 2 else "trip").strip() for at in range(80)]
    many = model.embed(texts)
    assert all(np.allclose(many[at], model.embed([texts[at]])[0], atol=1e-6) for at in range(80))


def test_a_cue_finds_what_shares_no_word_with_it(filled: Callable[..., Index]) -> None:
    hit = filled(*docs(*SAID)).search(CUE)[0]
    assert hit.key == "0"
    assert "meaning" in {term.name for term in hit.terms}
    assert Index().search(CUE) == []


def test_a_score_is_the_sum_of_its_terms_with_vectors_too(filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID))
    for query in (CUE, "where is the flight?", "coffee trip", "parser"):
        for profile in (ITEMS, CONVERSATION):
            hits = index.search(query, 5, profile)
            assert hits
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            for hit in hits:
                assert hit.score == sum(term.weight * term.value for term in hit.terms)


def test_places_kept_for_meaning_go_to_what_words_would_outweigh(filled: Callable[..., Index]) -> None:
    loud = [Doc(f"w{at}", f"old {name} old") for at, name in enumerate(("oak", "elm", "ash", "yew", "fir", "fig"))]
    index = filled(*loud, *docs(*SAID), *(Doc(f"n{at}", f"talk number {at}") for at in range(20)))
    profile = replace(ITEMS, meaning=0.1)
    without = [hit.key for hit in index.search(CUE, 4, replace(profile, seats_of_cue=0.0))]
    kept = index.search(CUE, 4, profile)
    assert "0" not in without
    assert "0" in {hit.key for hit in kept}
    seat = next(hit for hit in kept if hit.key == "0").terms[-1]
    assert (seat.name, seat.weight) == ("seat", 1.0)


def test_while_most_is_unread_words_keep_their_places(filled: Callable[..., Index], meaning: Meaning) -> None:
    loud = [Doc(f"w{at}", f"old {name} old") for at, name in enumerate(("oak", "elm", "ash", "yew", "fir", "fig"))]
    index = filled(*loud, *docs(*SAID))
    profile = replace(ITEMS, meaning=0.1)

    def seated() -> bool:
        hits = index.search(CUE, 4, profile, patience=Patience.PASSING)
        assert index.compared is not None
        assert (index.compared.state, index.compared.vectors) == ("used", 12)
        return "seat" in {term.name for hit in hits for term in hit.terms}

    assert seated()
    over = threading.Event()
    meaning._worker.ask(over.wait, 0.0)
    index.sync([*loud, *docs(*SAID), *(Doc(f"n{at}", f"talk number {at}") for at in range(100))])
    assert not seated()
    over.set()


def test_a_question_keeps_fewer_places_than_a_cue(filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID))
    asked = replace(ITEMS, seats=0.0, seats_of_cue=1.0, meaning=0.1)
    assert "seat" not in {t.name for h in index.search(CUE + "?", 4, asked) for t in h.terms}
    assert "seat" in {t.name for h in index.search(CUE, 4, asked) for t in h.terms}


def test_a_search_says_how_many_rows_had_a_vector(meaning: Meaning, filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID))
    assert index.search(CUE)
    assert index.compared == Compared("used", len(SAID), len(SAID))
    index.sync([*docs(*SAID), *(Doc(f"n{at}", f"bread, number {at}") for at in range(40))])
    assert index.search(CUE, patience=Patience.PASSING)
    assert index.compared is not None
    assert (index.compared.state, index.compared.rows) == ("used", 46)
    assert len(SAID) <= index.compared.vectors <= index.compared.rows
    assert meaning.finish(SECONDS)
    assert index.search(CUE)
    assert index.compared == Compared("used", 46, 46)


def test_a_few_new_rows_are_read_while_somebody_waits(filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID[1:]))
    index.sync([*docs(*SAID[1:]), Doc("new", SAID[0])])
    assert index.search(CUE)[0].key == "new"


def test_a_changed_text_is_found_by_its_new_meaning_only(filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID))
    index.sync(docs("the bakery is closed", *SAID[1:]))
    assert [hit.key for hit in index.search(CUE, 1)] != ["0"]
    assert "0" in {hit.key for hit in index.search("what dinner is there?", 3)}


def test_a_removed_document_leaves_no_vector_in_the_index(filled: Callable[..., Index]) -> None:
    index = filled(*docs(*SAID))
    assert index.search(CUE)[0].key == "0"
    index.sync(docs(*SAID)[1:])
    found = index._vectors
    assert found is not None
    assert not found._rows[~found._held].any()
    assert "0" not in {hit.key for hit in index.search(CUE)}


def test_texts_that_are_the_same_share_a_vector(meaning: Meaning, filled: Callable[..., Index]) -> None:
    index = filled(Doc("a", SAID[0]), Doc("b", SAID[0]), *docs(*SAID[1:]))
    index.sync([Doc("b", SAID[0]), *docs(*SAID[1:])])
    assert index.search(CUE)[0].key == "b"
    assert meaning.examine(0).held == (len(SAID), 0)


def test_an_index_takes_up_a_model_that_is_set_later(meaning: Meaning) -> None:
    there: list[Meaning] = []
    index = Index(meaning=lambda: there[0] if there else None)
    index.sync(docs(*SAID))
    assert index.search(CUE) == []
    assert index.compared is None
    there.append(meaning)
    assert index.search(CUE)[0].key == "0"
    there.clear()
    assert index.search(CUE) == []


def test_the_speaker_is_part_of_what_is_read() -> None:
    assert reading(Doc("a", "we booked a flight", ("Caroline",)))[1:3] == (
        "Caroline: we booked a flight",
        "we booked a flight",
    )


def test_one_document_alone_is_not_taken_for_the_usual(filled: Callable[..., Index]) -> None:
    index = filled(Doc("a", "trip to lisbon"))
    assert [hit.key for hit in index.search(CUE)] == ["a"]
    assert index.search("pytest branch") == []


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(NotFoundError) as refused:
        load(str(folder))
    assert refused.value.reason == "model_missing"
    assert str(refused.value.details["path"]).endswith(missing)


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_no_model_is_named(folder: Path, broken: str) -> None:
    (folder / broken).write_bytes(b"{not a model")
    with pytest.raises(CorruptError) as refused:
        load(str(folder))
    assert str(refused.value.details["path"]).endswith(broken)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as refused:
        load(str(tmp_path / "nowhere"))
    assert refused.value.details["path"] == str(tmp_path / "nowhere")


def test_another_model_has_another_name(folder: Path, tmp_path: Path) -> None:
    assert load(str(tiny_model.write(tmp_path / "same"))).name == load(str(folder)).name
    other = tiny_model.write(tmp_path / "other", "huge")
    assert load(str(other)).name != load(str(folder)).name


def test_without_the_extra_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from persona_hooks.errors import NotFoundError\n"
        "from persona_mind.recall.embed import load\n"
        "try:\n    load('.')\n"
        "except NotFoundError as error:\n"
        "    assert error.reason == 'extra_missing' and 'persona-mind[embeddings]' in str(error), error\n"
        "else:\n    raise SystemExit('loaded without onnxruntime')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["model.onnx_data", "model.onnx.data", "weights.bin"])
def test_weights_beside_a_model_tell_it_from_others(folder: Path, name: str) -> None:
    alone = load(str(folder)).name
    (folder / name).write_bytes(b"1" * 200_000)
    with_weights = load(str(folder)).name
    (folder / name).write_bytes(b"1" * 100_000 + b"2" + b"1" * 99_999)
    os.utime(folder / name, ns=(1, 1))
    (folder / ".DS_Store").write_bytes(b"x")
    (folder / "more").mkdir()
    changed = load(str(folder)).name
    assert len({alone, with_weights, changed}) == 3
    (folder / ".DS_Store").unlink()
    assert load(str(folder)).name == changed
