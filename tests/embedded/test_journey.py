"""Twenty turns of one person: tool calls, a restart, a fork, and another persona."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.model_server import ModelServer, Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.cli import Persona, Ran
    from tests.support.model_server import Request

BRIEF = """---
name: {name}
persona: true
---
You are {name}, and you answer in one sentence.
"""


def scripted(request: Request) -> Reply:
    """Save what the person says after "save"; look up what comes after "find"; else count the person's lines."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return Reply(f"Done: {last['content']}")
    said = request.of("user")[-1]
    verb, _, rest = said.partition(" ")
    match verb:
        case "save":
            arguments = {"action": "remember", "term": "long", "kind": "note", "text": rest}
        case "share":
            arguments = {"action": "remember", "scope": "shared", "kind": "note", "text": rest}
        case "find":
            arguments = {"action": "recall", "query": rest}
        case _:
            return Reply(f"Line {len(request.of('user'))}.")
    return Reply("One moment.", calls=(ToolCall("memory", arguments),))


@pytest.fixture
def model(agent_dir: Path) -> Iterator[ModelServer]:
    personas = agent_dir / "persona" / "personas"
    personas.mkdir(parents=True)
    for name in ("ada", "bert"):
        (personas / f"{name}.md").write_text(BRIEF.format(name=name))
    with ModelServer(scripted) as server:
        models = {"models": {"default": {"model": "openai:scripted", "baseUrl": server.url}}}
        (agent_dir / "persona" / "settings.json").write_text(json.dumps(models))
        yield server
        assert server.unexpected == 0


def replies(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return [outcome["text"] for outcome in ran.of("reply")]


def talk(persona: Persona, *lines: str, session: str = "journey") -> Ran:
    return persona("chat", "--json", "--session", session, stdin="".join(f"{line}\n" for line in lines))


def test_twenty_turns_with_tools_restart_fork_and_another_persona(
    persona: Persona, model: ModelServer, agent_dir: Path
) -> None:
    # 1-7: ada begins; she is told things, by a tool and by a cue, and looks one up.
    first = talk(
        persona,
        "/persona use ada",
        "hello",
        "save the staging database listens on port 5433",
        "Remember that deploys happen on Tuesdays.",
        "find staging port",
        "share the office closes at eight",
        "which port does staging use?",
        "thanks",
    )
    said = replies(first)
    assert (said[0], said[-1]) == ("Line 1.", "Line 7.")
    assert [outcome["ok"] for outcome in first.of("tool")] == [True, True, True]
    assert any("5433" in text for text in said if text.startswith("Done"))
    assert any("Tuesdays" in outcome["text"] for outcome in first.of("card"))
    asked = next(request for request in model.requests if request.of("user")[-1] == "which port does staging use?")
    assert "You are ada" in asked.of("system")[0]
    assert "5433" in asked.of("system")[0]

    # 8-12: another process goes on where the first one was, and forks.
    second = talk(
        persona, "are you still there?", "and when do we deploy?", "/fork", "in the fork", "again", "and again"
    )
    assert replies(second) == ["Line 8.", "Line 9.", "Line 10.", "Line 11.", "Line 12."]
    forked = re.search(r"into session (\S+);", second.of("answer")[0]["text"])
    assert forked is not None
    assert "Tuesdays" in next(r for r in model.requests if r.of("user")[-1] == "and when do we deploy?").of("system")[0]

    # 13-15: the original did not move, and goes on by itself.
    third = talk(persona, "back on the main road", "one more", "find deploys")
    assert replies(third)[:2] == ["Line 10.", "Line 11."]
    assert "in the fork" not in model.requests[-1].of("user")

    # 16-18: bert knows what is shared, and nothing of ada's.
    fourth = talk(
        persona, "/persona use bert", "which port does staging use?", "find staging port", "when does it close?"
    )
    assert replies(fourth)[0].startswith("Line")
    shown = "\n".join(model.requests[-1].of("system"))
    assert "You are bert" in shown
    assert "office closes at eight" in shown
    assert "5433" not in shown
    assert "Tuesdays" not in shown
    assert "5433" not in fourth.of("tool")[0]["text"]

    # 19-20: ada again, in the fork; her memory and its branch are whole.
    fifth = talk(persona, "/persona use ada", "which port does staging use?", "bye", session=forked.group(1))
    assert replies(fifth) == ["Line 13.", "Line 14."]
    assert "5433" in model.requests[-2].of("system")[0]
    assert "in the fork" in model.requests[-1].of("user")

    logs = sorted((agent_dir / "persona-host" / "sessions").rglob("*.jsonl"))
    assert {path.stem for path in logs} == {"journey", forked.group(1)}
    assert not any(b"<persona-mind-" in path.read_bytes() for path in logs)
