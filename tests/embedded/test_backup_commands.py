"""``persona backup`` and ``persona restore``: real processes on a home of their own."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.support.cli import CHILD, PERSONA, Persona
from tests.support.terminal_program import TerminalProgram

ROOT = Path(__file__).parents[2]
FACT = "The staging database listens on port 5433."


@pytest.fixture
def persona(environ: dict[str, str], tmp_path: Path) -> Persona:
    place = tmp_path / "rocket"
    place.mkdir()
    return Persona(environ, place)


def recalled(persona: Persona) -> str:
    return persona("mind", "recall").out


def test_a_profile_is_backed_up_and_brought_back(persona: Persona) -> None:
    persona("mind", "remember", FACT)
    assert persona("backup", "saved").code == 0
    assert persona("backup", "saved").code == 1
    handle = persona.tool("memory", action="recall").json()["details"]["ids"][0]
    persona("mind", "forget", handle)
    assert "5433" not in recalled(persona)

    assert "--newer" in persona("restore", "saved", "--yes").err
    assert persona("restore", "saved", "--yes", "--newer").code == 0
    assert "5433" in recalled(persona)


def test_without_a_terminal_nothing_is_replaced_that_nobody_said_yes_to(persona: Persona) -> None:
    persona("mind", "remember", FACT)
    persona("backup", "saved")
    persona("mind", "remember", "The gate opens at nine.")

    asked = persona("restore", "saved", "--newer", "--json")

    assert (asked.code, asked.json()["details"]["reason"]) == (1, "unconfirmed")


@pytest.mark.parametrize(
    ("language", "key", "status", "said"),
    [
        ("C.UTF-8", "y\r", 0, "Restored"),
        ("C.UTF-8", "n\r", 1, "Nothing was changed."),
        ("C.UTF-8", "\r", 1, "Nothing was changed."),
        ("it_IT.UTF-8", "s\r", 0, "Ripristinat"),
        ("it_IT.UTF-8", "S\u00ec\r", 0, "Ripristinat"),
        ("it_IT.UTF-8", "yes\r", 0, "Ripristinat"),
        ("it_IT.UTF-8", "no\r", 1, "Non è cambiato nulla."),
    ],
)
def test_on_a_terminal_it_asks(persona: Persona, language: str, key: str, status: int, said: str) -> None:
    persona("mind", "remember", FACT)
    persona("backup", "saved")
    persona("mind", "remember", "The gate opens at nine.")
    argv = [str(PERSONA), "restore", "saved", "--newer", "--plain"]
    environ = {**persona.environ, **CHILD, "LC_ALL": language, "PYTHONUTF8": "1"}
    with TerminalProgram(argv, environ, persona.cwd) as program:
        program.wait_for("[s/N]" if language.startswith("it") else "[y/N]")
        program.type(key)
        program.wait_for(said)
        assert program.process.wait(20) == status
        assert "--yes" not in program.drawn
        assert not re.search(r"\d-\d\dT\d", program.drawn), "a moment as files have it"


def test_what_is_there_already_is_left_alone_with_a_way_on(persona: Persona) -> None:
    for words, way in ((["backup", "saved"], "persona backup DIR"), (["export", "saved.zip"], "--force")):
        assert persona(*words).code == 0
        again = persona(*words)
        assert (again.code, again.err.count(way), again.err.count("\n")) == (1, 1, 1)
    nowhere = persona("restore", "./nowhere")
    assert "There is no backup at ./nowhere" in nowhere.err


def test_what_is_written_into_a_git_working_tree_is_told_of(persona: Persona) -> None:
    assert "git" not in persona("export", "before.zip").out
    (persona.cwd / ".git").mkdir()
    (persona.cwd / "below").mkdir()
    for words in (["backup"], ["export"], ["export", "below/memory.zip"]):
        assert "git working tree" in persona(*words).out
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()]
    made = [path.name for path in persona.cwd.iterdir() if path.name.startswith("persona-mind")]
    assert len(made) == 2
    assert all(any(fnmatch(name, pattern) for pattern in ignored) for name in made)


def test_erasing_from_a_shell_names_what_still_holds_it(persona: Persona, agent_dir: Path) -> None:
    persona("chat", "--once", f"Remember that {FACT}")
    handle = persona.tool("memory", action="recall").json()["details"]["ids"][0]

    erased = persona("mind", "erase", handle)

    assert erased.code == 0
    logs = [str(path) for path in (agent_dir / "persona-host").rglob("*.jsonl") if b"5433" in path.read_bytes()]
    assert logs
    assert all(log in erased.out.replace("\n", "") for log in logs)
    assert "5433" not in erased.out
    profile = agent_dir / "persona-mind"
    assert not [path for path in profile.rglob("*") if path.is_file() and b"5433" in path.read_bytes()]
