"""Another process holds memory, or everything comes at once: what was asked is saved, or it is said that it was not."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.claude_code import ClaudeCode
from tests.support.cli import PERSONA, Persona
from tests.support.stdio_host import StdioHost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

FACT = "the staging database listens on port 5433."
HOLD = """
import sys
from pathlib import Path
from persona_store.transaction import Profile
from datetime import UTC, datetime
with Profile(Path(sys.argv[1]), lambda: datetime.now(UTC)).transaction():
    print(flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def claude(environ: dict[str, str], home: Path) -> Iterator[ClaudeCode]:
    project = home / "project"
    project.mkdir()
    with tempfile.TemporaryDirectory() as short:
        yield ClaudeCode({**environ, "PI_AGENT_DIR": f"{short}/a"}, project)


@contextmanager
def held(claude: ClaudeCode) -> Iterator[None]:
    """Hold the transaction of memory in another process."""
    argv = [sys.executable, "-c", HOLD, str(claude.agent_dir / "persona-mind")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.stdin.close()


def serving(claude: ClaudeCode, kind: str) -> AbstractContextManager[object]:
    if kind == "warm" and os.name != "posix":
        pytest.skip("the socket is a POSIX one")
    return claude.server() if kind == "warm" else nullcontext()


@pytest.mark.parametrize("kind", ["cold", "warm"])
def test_what_a_held_lock_keeps_from_being_saved_is_told_with_the_same_prompt(claude: ClaudeCode, kind: str) -> None:
    claude.say(f"Remember that {FACT}")
    with serving(claude, kind), held(claude):
        done = claude.say("Remember that the cat is called Ada.")
        assert "saved" in done.shown or "Not remembered" in done.shown
        assert "5433" in done.context
        assert "Not remembered" not in claude.say("Which port does staging use?").shown
    assert "Remembered 1 fact" in claude.say("Remember that the cat is called Ada.").shown


@pytest.mark.parametrize("kind", ["cold", "warm"])
def test_of_many_prompts_at_once_each_is_saved_or_said_not_to_be(claude: ClaudeCode, kind: str) -> None:
    facts = [f"drawer number {number} holds the {number + 70} saws." for number in range(8)]
    with serving(claude, kind), ThreadPoolExecutor(8) as pool:
        claude.say("Hello.")
        done = list(pool.map(lambda fact: claude.say(f"Remember that {fact}"), facts))
        told = "".join([*(one.shown for one in done), claude.say("Hello.").shown])
    kept = {row["text"] for row in claude.remembered()}
    assert all(one.shown for one in done)
    assert all(
        fact in kept or "saved" in one.shown or "Not remembered" in told for fact, one in zip(facts, done, strict=True)
    )


def test_a_sessions_end_is_not_held_up_by_a_lock(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    with held(claude):
        done = replace(claude, session="another").hook("SessionEnd")
    assert (done.code, done.err) == (0, "")


def test_a_conversation_at_a_terminal_tells_of_it_too(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    with held(claude):
        persona = Persona(claude.environ, claude.project)
        done = persona("chat", "--plain", stdin="Remember that the cat is called Ada.\n")
    assert "saved" in done.out + done.err or "Not remembered" in done.out + done.err


def test_a_host_at_the_other_end_of_a_pipe_is_told_too(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    with StdioHost([str(PERSONA), "stdio"], claude.env, claude.project) as host:
        host.initialize(cwd=str(claude.project))
        with held(claude):
            said = "Remember that the cat is called Ada."
            host.call("event/input", {"text": said, "source": "interactive"})
            host.call("event/before_agent_start", {"prompt": said})
            host.wait_for(lambda: [text for text in told(host) if "saved" in text or "Not remembered" in text])


def test_a_tool_that_a_lock_keeps_from_saving_says_so(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    with held(claude):
        persona = Persona(claude.environ, claude.project)
        done = persona.tool("memory", action="remember", kind="note", text="Tea at five.")
    assert not done.json()["ok"]


def told(host: StdioHost) -> list[str]:
    return [str(params.get("text")) for method, params in host.notices if method == "ui.notify"]
