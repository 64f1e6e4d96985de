"""Without a model, everything works with sockets forbidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cli import Persona

# An audit hook cannot be taken back and sees what any library does, however it got its socket module.
GUARD = """
import os, sys

def forbid(event, arguments):
    # A lock's holder is recorded with this machine's name, which is asked for without a socket.
    if event.startswith("socket.") and event != "socket.gethostname":
        with open(os.environ["OFFLINE_REPORT"], "a") as report:
            report.write(event + "\\n")
        raise PermissionError("sockets are forbidden: " + event)

sys.addaudithook(forbid)
"""


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "guard"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(GUARD)
    return {"PYTHONPATH": str(folder), "OFFLINE_REPORT": str(tmp_path / "report")}


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
