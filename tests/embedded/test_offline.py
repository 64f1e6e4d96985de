"""Without a model, everything works with sockets forbidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Persona


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, str]:
    return {"PERSONA_TEST_NO_SOCKETS": str(tmp_path / "report")}


def test_no_command_opens_a_socket(persona: Persona, guarded: dict[str, str], tmp_path: Path) -> None:
    lines = "Remember that staging listens on port 5433.\nwhich port?\n/help\n/model\n/tree\n/fork\n/mind recall port\n"
    talked = persona("chat", "--json", stdin=lines, **guarded)
    assert (talked.code, talked.err) == (0, "")
    assert [outcome["kind"] for outcome in talked.outcomes()][:3] == ["card", "no_model", "no_model"]
    for words in (
        ["mind"],
        ["mind", "recall", "port"],
        ["tool", "memory", '{"action": "recall"}'],
        ["inject", "--prompt", "x"],
        ["doctor"],
    ):
        assert persona(*words, **guarded).code == 0
    assert not (tmp_path / "report").exists()


def test_the_guard_would_notice(persona: Persona, guarded: dict[str, str], tmp_path: Path) -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "none", **guarded}
    persona("chat", "--model", "openai:any", "--once", "hi", **environ)
    assert (tmp_path / "report").exists()
