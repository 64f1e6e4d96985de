"""One memory, three hosts and a shell: what is told in one is known in the next, and each row says where it came from.

What the shell prints on the way is ``docs/hosts-transcript.md``; with ``PERSONA_TEST_WRITE=1`` it is written, and
otherwise compared.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.hosts import install
from tests.hosts.test_mcp import said
from tests.support.claude_code import ClaudeCode
from tests.support.cli import PERSONA

if TYPE_CHECKING:
    from tests.support.model_server import ModelServer
    from tests.support.pi_home import PiHome

TRANSCRIPT = Path(__file__).resolve().parents[2] / "docs" / "hosts-transcript.md"
TOLD = "the staging database listens on port 5433."
MOVED = "The staging database listens on port 6000."
QUESTION = "Which port does the staging database use?"
HEAD = """# One memory, three hosts: a transcript

A person tells Pi a fact, asks Claude Code about it, corrects it through an MCP client, and looks at it in a shell. The
hosts and the client are the real ones, started in a home with nothing in it; Claude Code's hooks are driven by the
payloads that its reference documents. `tests/hosts/test_across_hosts.py` writes this page, and fails when what happens
is no longer what it says. Ids, times and paths are replaced, since they differ each time.

"""


@dataclass
class Transcript:
    """What happened, as a person would have seen it, without what differs each time."""

    home: PiHome
    parts: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    def scene(self, title: str) -> None:
        """Begin another part."""
        self.parts.append(f"## {title}\n")

    def tell(self, sentence: str) -> None:
        """Say something about what follows."""
        self.parts.append(f"{sentence}\n")

    def show(self, text: str, kind: str = "text") -> None:
        """Show what somebody typed or saw."""
        self.parts.append(f"```{kind}\n{self.same(text).rstrip()}\n```\n")

    def shell(self, *words: str) -> str:
        """Run ``persona`` and show it; return what it printed."""
        printed = self.home.persona(*words)
        shown = " ".join(f'"{word}"' if " " in word else word for word in words)
        self.show(f"$ persona {shown}\n{printed}", "console")
        return printed

    def same(self, text: str) -> str:
        """Return a text without ids, times and paths."""
        text = text.replace(str(self.home.project), "~/project").replace(str(self.home.agent_dir), "~/.pi/agent")
        text = text.replace(str(PERSONA), "persona").replace(str(self.home.home), "~")
        # A card of Pi's is cut at the width of a line, and so within the path.
        text = re.sub(r"(Memory is stored in ).*", r"\1~/.pi/agent/persona-mind. …", text)
        text = re.sub(r"persona-mind-[0-9a-f]{16}", "persona-mind-KEY", text)
        text = re.sub(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z?", "TIME", text)
        return re.sub(r"\b[0-9a-f]{12}\b", lambda found: self._id(found[0]), text)

    def _id(self, found: str) -> str:
        return self.ids.setdefault(found, f"{len(self.ids) + 1:012d}")

    def text(self) -> str:
        """Return the page."""
        return HEAD + "\n".join(self.parts)


def in_pi(home: PiHome, transcript: Transcript) -> None:
    transcript.scene("Told in Pi")
    transcript.shell("install", "pi", "--plain")
    with home.start() as pi:
        pi.say(f"Remember that {TOLD}")
        pi.wait_for(pi.notices)
        card = next(notice for notice in pi.notices() if "Remembered" in notice)
        pi.say("Remember that the office plant is watered on Mondays.")
        pi.wait_for(lambda: sum("Remembered" in notice for notice in pi.notices()) == 2)
    transcript.tell(f"In Pi, the person types “Remember that {TOLD}” and sees:")
    transcript.show(card)


def in_claude_code(claude: ClaudeCode, transcript: Transcript) -> None:
    transcript.scene("Known in Claude Code")
    transcript.shell("install", "claude-code", "--plain")
    with claude.server():
        claude.hook("SessionStart")
        asked = claude.say(QUESTION)
        assert TOLD in asked.context
        transcript.tell(f"The person asks “{QUESTION}”. The hook of that prompt gives Claude:")
        transcript.show(asked.context)
        saved = claude.say("Remember that reviews happen on Thursday afternoons.")
        assert "Remembered 1 fact" in saved.shown
        transcript.tell("“Remember that reviews happen on Thursday afternoons.” is answered beside the conversation:")
        transcript.show(saved.shown)
        listed = claude.say("/persona:mind recall port")
        assert listed.json["decision"] == "block"
        transcript.tell("`/persona:mind recall port` is answered without Claude:")
        transcript.show(listed.json["reason"])
        claude.hook("SessionEnd")


def over_mcp(home: PiHome, transcript: Transcript) -> None:
    transcript.scene("Corrected over MCP")

    async def body() -> None:
        env = {**home.environ, "PI_AGENT_DIR": str(home.agent_dir)}
        server = StdioServerParameters(command=str(PERSONA), args=["mcp"], env=env, cwd=str(home.project))
        with anyio.fail_after(80), (home.home / "stderr").open("w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errors)) as client:
                found = await client.call_tool("memory", {"action": "recall", "query": "port of staging"})
                assert isinstance(found.structured_content, dict)
                handle = found.structured_content["ids"][0]
                transcript.tell("The client’s model looks the port up, and saves what it is now in place of it:")
                transcript.show(said(found))
                new = {"action": "remember", "kind": "note", "text": MOVED, "supersedes": handle}
                saved = await client.call_tool("memory", new)
                assert not saved.is_error
                transcript.show(said(saved))

    anyio.run(body)


def in_a_shell(claude: ClaudeCode, transcript: Transcript) -> None:
    transcript.scene("Seen in a shell")
    transcript.tell("Every row says who brought its words, and through which host:")
    listed = transcript.shell("mind", "recall", "--plain")
    assert f"by model via mcp) {MOVED}" in listed
    assert "by user via pi) the office plant is watered on Mondays." in listed
    assert "by user via claude-code) reviews happen on Thursday afternoons." in listed
    assert "5433" not in listed
    shown = transcript.shell("mind", "--plain")
    assert "6000" in shown
    assert "6000" in claude.say(QUESTION).context
    transcript.tell("And both hosts are left as they were found:")
    transcript.shell("uninstall", "claude-code", "--plain")
    transcript.shell("uninstall", "pi", "--plain")


def test_a_fact_told_in_pi_is_known_in_claude_code_corrected_over_mcp_and_seen_in_a_shell(
    memory_home: PiHome, model: ModelServer
) -> None:
    memory_home.persona("uninstall", "pi")
    # Whether a machine has more hosts on its path, or another Node, must not show.
    path = os.pathsep.join([str(install.node().parent), os.defpath])
    home = replace(memory_home, environ={**memory_home.environ, "PATH": path})
    transcript = Transcript(home)
    claude = ClaudeCode(home.environ, home.project)
    in_pi(home, transcript)
    in_claude_code(claude, transcript)
    over_mcp(home, transcript)
    in_a_shell(claude, transcript)
    assert len(model.requests) == 2
    assert not (home.home / ".claude").exists()
    assert not (home.agent_dir / "extensions").exists()
    if os.environ.get("PERSONA_TEST_WRITE") == "1":
        TRANSCRIPT.write_text(transcript.text(), encoding="utf-8")
    assert transcript.text() == TRANSCRIPT.read_text(encoding="utf-8")
