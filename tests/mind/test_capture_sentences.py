"""Sentences in five languages, half of them near misses.

``data/capture_own.json`` was written by someone who knew the rules, ``data/capture_blind.json`` by someone who did not;
its sentences and labels stand as they came.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from persona_mind.capture.cues import find_cues
from persona_mind.capture.language import languages

DATA = Path(__file__).parent / "data"


class Labelled(NamedTuple):
    language: str
    text: str
    strong: bool


def labelled(name: str) -> list[Labelled]:
    rows = json.loads((DATA / name).read_text(encoding="utf-8"))
    return [Labelled(row["language"], row["text"], row["strong"]) for row in rows]


OWN, BLIND = labelled("capture_own.json"), labelled("capture_blind.json")
ALL = [*OWN, *BLIND]
SHARE = 0.95


def is_written(text: str) -> bool:
    return any(cue.strong for cue in find_cues(text))


@pytest.mark.parametrize("row", [row for row in ALL if not row.strong], ids=lambda row: row.text[:50])
def test_a_near_miss_is_never_written(row: Labelled) -> None:
    assert not is_written(row.text)


@pytest.mark.parametrize("language", sorted({row.language for row in ALL}))
def test_nearly_every_request_is_written_in_each_language(language: str) -> None:
    asked = [row for row in ALL if row.strong and row.language == language]
    missed = [row.text for row in asked if not is_written(row.text)]
    assert len(missed) <= (1 - SHARE) * len(asked), missed


def test_there_are_enough_sentences_and_half_of_each_kind() -> None:
    assert len(ALL) >= 400
    assert len(BLIND) >= len(ALL) / 2
    count = Counter((row.language, row.strong) for row in ALL)
    assert set(count) == {(language.name, strong) for language in languages() for strong in (True, False)}
    assert min(count.values()) >= 20
    assert sum(not row.strong for row in ALL) >= len(ALL) / 2


def test_no_sentence_is_there_twice() -> None:
    assert len({row.text for row in ALL}) == len(ALL)
