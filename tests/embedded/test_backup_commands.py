"""``persona backup`` and ``persona restore``: real processes on a home of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cli import CHILD, PERSONA, Persona
from tests.support.terminal_program import TerminalProgram

if TYPE_CHECKING:
    from pathlib import Path

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

    asked = persona("restore", "saved", "--json")

    assert (asked.code, asked.json()["details"]["reason"]) == (1, "unconfirmed")


@pytest.mark.parametrize(("key", "status", "said"), [("y\r", 0, "already as the backup"), ("n\r", 1, "Nothing was")])
def test_on_a_terminal_it_asks(persona: Persona, key: str, status: int, said: str) -> None:
    persona("mind", "remember", FACT)
    persona("backup", "saved")
    argv = [str(PERSONA), "restore", "saved", "--plain"]
    with TerminalProgram(argv, {**persona.environ, **CHILD}, persona.cwd) as program:
        program.wait_for("[y/N]")
        program.type(key)
        program.wait_for(said)
        assert program.process.wait(20) == status


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
