"""Several hosts on one profile at once: nothing that was acknowledged is lost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from persona_hooks.errors import BusyError
from tests.support.claude_code import ClaudeCode
from tests.support.stdio_host import StdioHost, interpreter, python_env

if TYPE_CHECKING:
    from tests.support.pi_home import PiHome

WRITES = 8


def by_pi(home: PiHome) -> list[str]:
    """Save facts by command in a real Pi; return those that were acknowledged."""
    with home.start() as pi:
        for number in range(WRITES):
            pi.say(f"/mind remember Pi learned fact number {number}")
        return [f"Pi learned fact number {n}" for n, said in enumerate(pi.notices()[-WRITES:]) if "Saved" in said]


def by_stdio(home: PiHome) -> list[str]:
    """Save facts by tool over the wire; return those that were acknowledged."""
    env = python_env(home.home, PI_AGENT_DIR=str(home.agent_dir))
    kept = []
    with StdioHost([interpreter(), "-P", "-m", "persona_host.adapters.stdio"], env, home.project) as host:
        host.initialize(cwd=str(home.project))
        for number in range(WRITES):
            text = f"Wire learned fact number {number}"
            arguments = {"action": "remember", "kind": "note", "text": text}
            answer = host.call("tool", {"name": "memory", "arguments": arguments})
            assert answer["ok"] or answer["details"]["reason"] == BusyError.default_reason
            kept += [text] if answer["ok"] else []
    return kept


def by_command(home: PiHome) -> list[str]:
    """Save facts by processes of their own."""
    texts = [f"Shell learned fact number {number}" for number in range(WRITES)]
    for text in texts:
        home.remember(text)
    return texts


def by_hooks(home: PiHome) -> list[str]:
    """Save facts by prompts in Claude Code, half of them with its server running; return those that were shown."""
    claude = ClaudeCode({**home.environ, "PI_AGENT_DIR": str(home.agent_dir)}, home.project)
    facts = [f"hook number {number} has a fact of its own." for number in range(WRITES)]
    with claude.server():
        shown = [claude.say(f"Remember that {fact}").shown for fact in facts[: WRITES // 2]]
        # What a busy machine was late with is told with the next prompt.
        shown.append(claude.say("Well then.").shown)
    shown += [claude.say(f"Remember that {fact}").shown for fact in facts[WRITES // 2 :]]
    return [fact for fact in facts if fact in "\n".join(shown)]


def test_what_four_hosts_save_at_once_is_all_there(memory_home: PiHome) -> None:
    with ThreadPoolExecutor() as pool:
        writers = [pool.submit(write, memory_home) for write in (by_pi, by_stdio, by_hooks, by_command)]
        acknowledged = [text for writer in writers for text in writer.result()]
    stored = json.loads((memory_home.agent_dir / "persona-mind" / "memory" / "ltm" / "_default.json").read_bytes())
    texts = [entry["text"] for entry in stored["entries"]]
    assert len(acknowledged) == 4 * WRITES
    assert sorted(texts) == sorted(acknowledged)
