"""Memory in real Pi as a person sees it, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.pi import pi_argv, pi_env

pytest.importorskip("fcntl", reason="a pseudo-terminal is POSIX")

from tests.support.terminal_program import TerminalProgram

if TYPE_CHECKING:
    from tests.support.pi_home import PiHome


def test_in_the_terminal_a_card_stands_in_the_conversation_also_when_it_is_resumed(memory_home: PiHome) -> None:
    argv = pi_argv(session_dir=memory_home.sessions)
    env = pi_env(memory_home.environ, memory_home.agent_dir)
    with TerminalProgram(argv, env, memory_home.project) as pi:
        pi.wait_for("persona-mind")
        pi.type("Remember that the staging database listens on port 5433.\r")
        pi.wait_for("Remembered 1 fact")
        pi.wait_for("answer 2")
    with TerminalProgram([*argv, "--continue"], env, memory_home.project) as pi:
        pi.wait_for("Remembered 1 fact")
        assert "5433" in pi.drawn
    assert "Remembered 1 fact" not in memory_home.session_text()
