"""What lies among the personas and does not say that it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_companion.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

    from tests.companion.conftest import Start


@pytest.mark.parametrize(
    "text",
    [
        "Just notes.",
        "---\nname: Kiri\n---\nBe brief.",
        "---\nname: Kiri\nPersona: true\n---\n",
        "---\npersonae: true\n",
    ],
)
def test_what_does_not_say_that_it_is_a_persona_is_named_to_whoever_asks(
    agent_dir: Path, home: Path, personas: Path, text: str
) -> None:
    (personas / "kiri.md").write_text(text)
    (personas / "meta").mkdir()
    (personas / "no.md").write_text("---\npersona: false\n---\n")
    catalogue = discover(agent_dir, home, home, trusted=False)
    assert catalogue.faults == ()
    markdown, folder = catalogue.bystanders
    assert ("kiri.md" in markdown.text, "`persona: true`" in markdown.text) == (True, True)
    assert ("meta" in folder.text, "brief.yml" in folder.text) == (True, True)


def test_only_persona_doctor_tells_of_it(start: Start, personas: Path, home: Path) -> None:
    (personas / "kiri.md").write_text("---\nname: Kiri\nPersona: true\n---\nBe brief.")
    desk = start()
    desk.open(cwd=home)
    listed, checked = desk.say("/persona"), desk.say("/persona doctor")
    assert "kiri.md" not in listed.text
    assert "`persona: true`" in checked.text


def test_without_a_persona_the_list_says_how_to_make_one(start: Start, home: Path) -> None:
    desk = start()
    desk.open(cwd=home)
    text = " ".join(desk.say("/persona").text.split())
    assert text.index("Markdown file") < text.index("brief.yml")
    assert "persona: true" in text
