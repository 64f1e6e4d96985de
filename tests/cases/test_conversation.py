"""One conversation through a host: what a model asks with a wrong id, what is captured, and what is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_mind.capture.cues import find_cues
from tests.mind.test_facts import entries, plant, row
from tests.mind.test_identity import old_form

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Start
    from tests.support.desk import Desk


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    desk = start()
    desk.open(cwd=project)
    return desk


def prompt(desk: Desk) -> str:
    return "\n\n".join(block.text for block in desk.runtime.blocks("hello"))


def test_a_query_beyond_its_limit_is_refused_shortly_and_not_repeated(desk: Desk) -> None:
    answer = desk.runtime.tool("memory", {"action": "recall", "query": "zebra " * 700})
    assert not answer.ok
    assert len(answer.text) < 300
    assert "zebra" not in answer.text


def test_a_model_that_forgets_a_shared_id_is_told_one_that_works(desk: Desk, profile: Path) -> None:
    store = profile / "memory" / "ltm" / "_default.json"
    shared = old_form("note", "x", ["a", "b"])
    plant(store, row("x", tags=("a,b",), id=shared), row("x", tags=("a", "b"), id=shared))

    def forget(identity: str) -> tuple[bool, str]:
        answer = desk.runtime.tool("memory", {"action": "forget", "id": identity})
        return answer.ok, answer.text

    first = desk.runtime.tool("memory", {"action": "forget", "id": shared})
    (usable,) = [item["id"] for item in first.details["candidates"] if item["resolves"]]
    assert first.details["reason"] == "ambiguous_id"
    assert usable in first.text
    assert forget(usable)[0]
    assert forget(shared)[0]
    assert entries(store) == []


@pytest.mark.parametrize("action", [{"action": "recall"}, {"action": "forget", "id": "abc123abc123"}])
def test_a_store_of_a_newer_release_is_refused_by_its_version(
    desk: Desk, profile: Path, action: dict[str, str]
) -> None:
    store = profile / "memory" / "ltm" / "_default.json"
    plant(store, row("x"))
    store.write_bytes(store.read_bytes().replace(b'"version": 1', b'"version": 2'))
    before = store.read_bytes()
    answer = desk.runtime.tool("memory", action)
    assert not answer.ok
    assert (answer.details["reason"], answer.details["found"]) == ("unsupported_version", "2")
    assert "newer release" in answer.text
    assert store.read_bytes() == before


def test_a_strong_cue_counts_is_acknowledged_once_and_never_nags(desk: Desk) -> None:
    desk.runtime.input("From now on, always run the linter before a commit.")
    assert any("1" in str(status) for status in desk.notices.statuses.values())
    first = prompt(desk)
    assert "Already captured" in first
    assert "something lasting" not in first
    assert "something lasting" not in prompt(desk)


def test_a_refused_tool_call_counts_nothing_and_a_good_one_counts_at_once(desk: Desk) -> None:
    before = dict(desk.notices.statuses)
    assert not desk.runtime.tool("memory", {"action": "remember", "text": ""}).ok
    assert desk.notices.statuses == before
    assert desk.runtime.tool("memory", {"action": "remember", "text": "use tabs", "kind": "note"}).ok
    assert desk.notices.statuses != before


def test_the_line_about_an_empty_memory_comes_again_after_a_restart_of_the_session(desk: Desk, project: Path) -> None:
    assert "Nothing is remembered yet" in prompt(desk)
    assert prompt(desk) == ""
    desk.open("s2", cwd=project)
    assert "Nothing is remembered yet" in prompt(desk)


@pytest.mark.parametrize(
    ("message", "kind", "strong"),
    [
        ("From now on, always run the linter.", "convention", True),
        ("Remember that the port is 5433.", "note", True),
        ("For future reference, the port is 5433.", "note", True),
        ("Always remember that the port is 5433.", "note", True),
        ("I prefer short answers.", "preference", False),
        ("Always check the port first.", "convention", False),
        ("We use tabs here.", "preference", False),
        ("Note that the port is 5433.", "note", False),
        ("Preferirei risposte brevi.", "preference", False),
    ],
)
def test_a_cue_has_a_kind_and_is_strong_or_a_hint(message: str, kind: str, *, strong: bool) -> None:
    (cue,) = find_cues(message)
    assert (cue.kind, cue.strong) == (kind, strong)


def test_an_italian_decision_is_kept_as_what_was_decided() -> None:
    (cue,) = find_cues(
        "Abbiamo stabilito una decisione architetturale duratura per questo progetto: i file restano in JSON."
    )
    assert (cue.kind, cue.strong) == ("rationale", True)
    assert "i file restano in JSON" in cue.candidate


def test_of_a_message_the_direct_sentences_are_taken_and_neither_the_quoted_nor_the_fenced_line() -> None:
    message = (
        "Remember that the port is 5433.\n\n> Remember that the sky is green.\n\n"
        "```\nRemember that two is three.\n```\n\nFrom now on, use tabs."
    )
    assert [cue.strong for cue in find_cues(message)] == [True, True]
    found = " ".join(cue.candidate for cue in find_cues(message))
    assert "5433" in found
    assert "tabs" in found
    assert "green" not in found
    assert "three" not in found


def test_a_report_that_quotes_a_request_in_the_middle_is_not_written() -> None:
    assert not any(cue.strong for cue in find_cues('The report says: "remember that the port is 5433", twice.'))
