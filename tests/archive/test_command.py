"""``persona import`` and ``persona export`` as people and scripts run them."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import CHILD, PERSONA, Persona

if TYPE_CHECKING:
    from pathlib import Path

SAID = "Wants short answers.\n§\nLives in Trieste.\n"


@pytest.fixture
def persona(environ: dict[str, str], project: Path) -> Persona:
    return Persona(environ, project)


@pytest.fixture
def user(project: Path) -> Path:
    path = project / "USER.md"
    path.write_text(SAID, "utf-8")
    return path


def test_memories_move_in_out_and_into_another_home(persona: Persona, user: Path, home: Path, project: Path) -> None:
    rehearsed = persona("import", user.name, "--dry-run", "--json").json()
    assert (rehearsed["details"]["added"], rehearsed["details"]["changed"]) == (2, "no")
    assert persona("import", user.name).code == 0
    assert "Trieste" in persona("mind", "recall", "where", "lives").out

    assert persona("export", "all.zip").code == 0
    assert persona("export", "all.zip").code == 1
    assert persona("export", "all.zip", "--force").code == 0

    moved = persona("import", "all.zip", "--agent-dir", str(home / "new"), "--json").json()
    assert moved["details"]["added"] == 2
    assert "Trieste" in persona("mind", "recall", "--agent-dir", str(home / "new")).out
    assert (project / "USER.md").read_text("utf-8") == SAID


def test_nothing_but_the_answer_is_printed_where_no_terminal_is(persona: Persona, user: Path) -> None:
    ran = persona("import", user.name)
    assert ran.err == ""
    assert ran.out.splitlines()[0].endswith("Imported 2 memories from 1 source.")


def test_a_terminal_sees_a_bar(persona: Persona, user: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        command = [str(PERSONA), "import", user.name]
        environ = {**persona.environ, **CHILD, "TERM": "xterm"}
        subprocess.run(command, cwd=persona.cwd, env=environ, stderr=theirs, stdout=subprocess.DEVNULL, check=True)
        seen = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "import 2 entries" in seen
    assert "100%" in seen


def test_what_is_not_there_is_told_on_standard_error(persona: Persona) -> None:
    ran = persona("import", "nowhere.zip")
    assert (ran.code, ran.out) == (1, "")
    assert "no such file" in ran.err


def test_an_unknown_format_is_wrong_usage(persona: Persona, user: Path) -> None:
    assert persona("import", user.name, "--from", "notes").code == 2
