"""What a person reads, and what a script gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wcwidth import wcswidth

from persona_hooks.cards import render
from persona_hooks.commands import complete, usage
from tests.support.desk import Start, write_brief

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def crowd(personas: Path) -> Path:
    write_brief(personas, "kiri", "description: A careful research assistant.\nprompt: Be exact.\n")
    write_brief(personas, "艾达", f"description: {'長い説明 ' * 20}\nprompt: x\n")
    write_brief(personas, "bad", "prompt: [\n")
    return personas


def test_the_list_says_who_speaks_and_who_could(start: Start, crowd: Path) -> None:
    del crowd
    desk = start()
    desk.open()
    desk.say("/persona use kiri")
    answer = desk.say("/persona")
    lines = answer.text.split("\n")
    assert lines[0] == "kiri speaks here (chosen in this session)."
    assert lines[1].startswith("* kiri  A careful research assistant.")
    assert lines[2].startswith("  艾达  長い説明")
    assert lines[3].startswith("! personas/bad/brief.yml:3: ")
    assert lines[-1] == "Choose with /persona use NAME."
    assert answer.details["active"] == "kiri"
    assert [item["name"] for item in answer.details["personas"]] == ["kiri", "艾达"]
    assert answer.details["problems"][0]["line"] == 3


@pytest.mark.parametrize(
    "line", ["/persona", "/persona show kiri", "/persona doctor", "/persona use kiri", "/persona none"]
)
@pytest.mark.parametrize("persona", [None, "gone"])
def test_every_card_fits_eighty_columns(start: Start, crowd: Path, line: str, persona: str | None) -> None:
    del crowd
    desk = start()
    desk.open(persona=persona)
    for row in render(desk.say(line).card, columns=80, expanded=True):
        assert wcswidth(row) <= 80 or "/brief.yml" in row, row


def test_a_first_run_says_where_personas_live(start: Start, agent_dir: Path) -> None:
    desk = start()
    desk.open()
    text = desk.say("/persona").text
    assert text.startswith("No persona speaks here (no persona was chosen).")
    assert str(agent_dir / "persona" / "personas") in text


def test_a_project_s_personas_are_offered_once_it_is_trusted(start: Start, tmp_path: Path) -> None:
    root = tmp_path / "site"
    (root / ".git").mkdir(parents=True)
    write_brief(root / ".pi" / "personas", "docs", "description: Writes docs.\nprompt: x\n")
    desk = start()
    desk.open(cwd=root)
    assert "once you trust it" in desk.say("/persona").text
    assert not desk.say("/persona use docs").ok
    desk.open(cwd=root, trusted=True)
    assert "  docs  project: Writes docs." in desk.say("/persona").text
    assert desk.say("/persona use docs").ok


def test_showing_a_persona_shows_its_file_and_its_prompt(start: Start, crowd: Path) -> None:
    desk = start()
    desk.open(persona="kiri")
    answer = desk.say("/persona show")
    assert answer.details["prompt"] == "Be exact."
    assert f"{crowd / 'kiri' / 'brief.yml'}:1" in answer.text
    assert answer.text.endswith("Be exact.")


def test_a_choice_under_a_pin_says_that_the_pin_decides_next_time(start: Start, crowd: Path) -> None:
    del crowd
    desk = start(PI_PERSONA_DEFAULT="kiri")
    desk.open()
    assert "PI_PERSONA_DEFAULT" in desk.say("/persona none").text


def test_a_name_of_several_words_needs_no_quotes(start: Start, personas: Path) -> None:
    write_brief(personas, "Ada Lovelace")
    desk = start()
    desk.open()
    assert desk.say("/persona use Ada Lovelace").details["active"] == "Ada Lovelace"


def test_no_refusal_repeats_the_name_it_was_given(start: Start, crowd: Path) -> None:
    del crowd
    desk = start()
    desk.open()
    for name in ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "a\u200bb\U000e0041"):
        for verb in ("persona.use", "persona.show"):
            answer = desk.runtime.call(
                verb, {"name": name}, session=desk.runtime.session, origin="user", audience="script"
            )
            assert not answer.ok
            assert name not in f"{answer.text}{answer.details}"


def test_models_are_offered_no_choice_of_who_they_are(start: Start) -> None:
    desk = start()
    desk.open()
    assert desk.runtime.tools("model") == []
    assert desk.runtime.tools("mcp") == []
    assert usage(desk.runtime.registry.get("persona.use")) == "/persona use NAME…"
    assert complete(desk.runtime.registry, "/persona ") == [
        "/persona doctor", "/persona none", "/persona show", "/persona use",
    ]  # fmt: skip


def test_broken_briefs_are_mentioned_when_a_session_with_a_persona_starts(start: Start, crowd: Path) -> None:
    del crowd
    desk = start()
    desk.open(persona="kiri")
    assert desk.notices.lines == ["Personas: 1 to correct; see /persona doctor."]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.md": "---\npersona: true\nname: kiri\n---\nx\n", "b.md": "---\npersona: true\nname: kiri\n---\ny\n"},
        {"a.md": "---\npersona: true\nname: [\n---\nx\n"},
        {"a.md": "---\nname: kiri\n---\nx\n"},
    ],
    ids=["none", "two of one name", "broken", "not said to be one"],
)
def test_personas_that_cannot_be_used_are_not_said_not_to_be_there(
    start: Start, personas: Path, files: dict[str, str]
) -> None:
    for name, text in files.items():
        (personas / name).write_text(text)
    there = any("persona: true" in text for text in files.values())
    desk = start()
    desk.open()
    listed = desk.say("/persona").text
    assert ("There are no personas yet" in listed, "for these reasons:\n! " in listed) == (not there, there)
    asked = desk.say("/persona use another").text
    assert ("none yet" in asked, "none can be used here" in asked) == (not there, there)
