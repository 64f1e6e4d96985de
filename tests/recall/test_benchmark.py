"""The benchmark measures what it says."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from benchmarks import locomo
from benchmarks.retrieval import Question, measures, sessions_hit, table
from persona_mind.recall.analyse import Analyser
from tests.recall import tiny_model

if TYPE_CHECKING:
    from pathlib import Path

HALVES = json.loads(locomo.CUES.read_text(encoding="utf-8"))
PAIRS = [pair for half in HALVES.values() for pair in half]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[1][:40])
def test_a_cue_shares_no_word_with_what_it_should_recall(pair: list[str]) -> None:
    told, cue = (set(Analyser().analyse(text).terms) for text in pair)
    assert told
    assert cue
    assert told.isdisjoint(cue)


def test_no_pair_is_there_twice() -> None:
    assert len({told for told, _ in PAIRS}) == len({cue for _, cue in PAIRS}) == len(PAIRS)


def test_measures_are_those_of_the_textbook() -> None:
    row = measures(["x", "a", "y", "z", "w", "b"], {"a", "b"})
    assert row["R@5"] == 0.5
    assert row["R@10"] == 1.0
    assert row["MRR"] == 0.5
    assert row["NDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / (1 + 1 / math.log2(3)))
    assert measures([], {"a"}) == {"R@5": 0, "R@10": 0, "NDCG@10": 0, "MRR": 0}


def test_adversarial_questions_are_apart() -> None:
    asked = [Question("1", "?", "temporal", frozenset({"a"})), Question("2", "?", "adversarial", frozenset({"b"}))]
    lines = table(asked, {"1": ["a"]}).splitlines()
    assert [line.split()[0] for line in lines] == ["(adversarial)", "ALL", "adversarial", "temporal"]
    assert "R@5 100.0" in lines[1]
    assert "R@5   0.0" in lines[0]


def test_only_the_first_distinct_sessions_count() -> None:
    session_of = {f"t{at}": str(at // 2) for at in range(12)}
    ranked = [f"t{at}" for at in range(12)]
    assert sessions_hit(ranked, session_of, {"t9"})
    assert not sessions_hit(ranked, session_of, {"t10"})


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    turn = {"session": 1, "time": "1:56 pm on 8 May, 2023"}
    turns = [
        {**turn, "id": "D1:1", "speaker": "Ann", "text": "Where did you put the suitcase?"},
        {**turn, "id": "D1:2", "speaker": "Ben", "text": "Under the stairs.", "caption": "a red suitcase"},
        {**turn, "id": "D1:3", "speaker": "Ann", "text": "Thanks, let us eat."},
    ]
    asked = {"id": "q", "category": "single-hop", "question": "Where is Ben's suitcase?", "evidence": ["D1:2"]}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"id": "c", "turns": turns, "questions": [asked]}]), encoding="utf-8")
    return file


def test_a_file_of_conversations_is_measured(conversations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    locomo.main(["--data", str(conversations)])
    shown = capsys.readouterr().out
    assert "ALL            n=   1 R@5 100.0 R@10 100.0 NDCG@10 100.0 MRR 100.0" in shown
    assert "session hit@5  n=   1 100.0" in shown


def test_a_peer_that_cannot_run_says_why(conversations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    locomo.main(["--data", str(conversations), "--peers"])
    shown = capsys.readouterr().out
    for name in ("mem0", "LangGraph SqliteStore"):
        assert f"{name}: cannot run: it searches by vectors only, and no model was given (--vectors)" in shown
    assert "bm25s: p50" in shown or "bm25s: cannot run: bm25s is not installed" in shown


def test_questions_and_cues_are_ranked_with_a_model_as_the_product_does(
    conversations: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("numpy", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=f"the peer {package} is not installed")
    model = tiny_model.write(tmp_path / "model")
    locomo.main(["--data", str(conversations), "--vectors", str(model)])
    shown = capsys.readouterr().out
    assert "persona-mind with vectors: p50" in shown
    assert f"all          n={len(PAIRS):4d} 100.0" in shown
    with pytest.raises(SystemExit, match=r"There is no embedding model at"):
        locomo.main(["--data", str(conversations), "--vectors", str(tmp_path / "nowhere")])
