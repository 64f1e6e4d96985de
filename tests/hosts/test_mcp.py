"""The MCP server as the SDK's own client sees it: a real child process over its standard streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from persona_hooks.errors import RefusedError
from persona_host.adapters.mcp import serve
from tests.support.pi import gone
from tests.support.stdio_host import ROOT, interpreter, python_env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

ADAPTERS = Path(serve.__file__).parents[1]
CHILD = Path(__file__).with_name("sample_child.py")


@asynccontextmanager
async def connected(home: Path, **options: Any) -> AsyncIterator[Client]:  # noqa: ANN401 - the client's own
    env = python_env(home, SAMPLE_END=str(home / "end"))
    server = StdioServerParameters(command=interpreter(), args=[str(CHILD), "mcp"], env=env, cwd=str(ROOT))
    with (home / "stderr").open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errors), **options) as client:
            yield client


def run(home: Path, test: Callable[[Client], Awaitable[None]], **options: Any) -> None:  # noqa: ANN401
    async def body() -> None:
        with anyio.fail_after(50):
            async with connected(home, **options) as client:
                await test(client)

    anyio.run(body)


async def call(client: Client, action: str, **arguments: str) -> types.CallToolResult:
    return await client.call_tool("sample", {"action": action, **arguments})


def said(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_come_from_the_registry_and_run(home: Path, mode: str) -> None:
    async def test(client: Client) -> None:
        (tool,) = (await client.list_tools()).tools
        assert tool.name == "sample"
        assert "keep" in tool.input_schema["properties"]["action"]["enum"]
        result = await call(client, "keep", text="FERN-2")
        assert not result.is_error
        assert result.structured_content["changed"] == "yes"
        assert client.instructions
        assert "memory" in client.instructions

    run(home, test, mode=mode)


def test_a_refusal_is_a_result_that_the_model_can_read(home: Path) -> None:
    async def test(client: Client) -> None:
        result = await call(client, "keep")
        assert result.is_error
        assert "text" in said(result)
        unknown = await client.call_tool("nothing", {})
        assert unknown.is_error
        assert result.structured_content["ok"] is False

    run(home, test)


def test_an_unexpected_failure_quotes_nothing(home: Path) -> None:
    async def test(client: Client) -> None:
        result = await call(client, "fail", text="private words")
        assert result.is_error
        assert "RuntimeError" in said(result)
        assert "private words" not in str(result)

    run(home, test)
    assert "private words" not in (home / "stderr").read_text(encoding="utf-8")


def test_the_block_and_every_reading_are_resources(home: Path) -> None:
    async def test(client: Client) -> None:
        await call(client, "keep", text="FERN-2")
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == ["persona://block", "persona://sample/seen"]
        (block,) = (await client.read_resource("persona://block")).contents
        assert isinstance(block, types.TextResourceContents)
        assert block.text == "kept=FERN-2\n\nprompt="
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("persona://sample/keep")

    run(home, test)


def test_the_prompt_carries_the_block_for_its_subject(home: Path) -> None:
    async def test(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        message = (await client.get_prompt(prompt.name, {"about": "roses"})).messages[0]
        assert isinstance(message.content, types.TextContent)
        assert "prompt=roses" in message.content.text
        with pytest.raises(MCPError, match="one prompt"):
            await client.get_prompt("other")

    run(home, test)


def test_a_long_call_shows_signs_of_life(home: Path) -> None:
    beats: list[float] = []

    async def test(client: Client) -> None:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            beats.append(progress)

        result = await client.call_tool("sample", {"action": "sleep", "text": "2.5"}, progress_callback=progress)
        assert said(result) == "slept"

    run(home, test)
    assert beats[:2] == [1, 2]


def test_a_call_that_the_client_gives_up_stops_and_the_next_one_works(home: Path) -> None:
    async def test(client: Client) -> None:
        with anyio.move_on_after(0.5) as scope:
            await call(client, "sleep", text="3600")
        assert scope.cancelled_caught
        assert said(await call(client, "seen")) == ""

    run(home, test)


def test_slow_calls_do_not_hold_up_others(home: Path) -> None:
    async def test(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: call(client, "sleep", text="3600"))
            assert not (await call(client, "keep", text="x")).is_error
            group.cancel_scope.cancel()

    run(home, test)


def test_prints_and_child_processes_cannot_disturb_the_protocol(home: Path) -> None:
    async def test(client: Client) -> None:
        assert said(await call(client, "noise", text="line")) == "loud"
        assert said(await call(client, "seen")) == ""

    run(home, test)
    assert "stray line" in (home / "stderr").read_text(encoding="utf-8")


def test_without_an_owner_no_tool_is_offered_and_reading_refuses_in_words(home: Path) -> None:
    async def test(client: Client) -> None:
        await call(client, "off")
        assert (await client.list_tools()).tools == []
        with pytest.raises(MCPError, match="not finished starting"):
            await client.read_resource("persona://block")

    run(home, test)


HALF = {
    "in an argument": (
        r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sample","arguments":{"a":"\ud800"}}}',
        7,
    ),
    "in a key": (r'{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"\udfff":1}}', "x"),
    "in the method": (r'{"jsonrpc":"2.0","id":8,"method":"\ud800\ud800"}', 8),
    "in the id": (r'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}', None),
    "no JSON": ("{", None),
    "no message": ('{"id":9}', 9),
    "a list": ("[1]", None),
    "an id that is none": ('{"jsonrpc":"1.0","id":true,"method":"x"}', None),
}


@pytest.mark.parametrize(("line", "asked"), HALF.values(), ids=HALF)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_works(
    home: Path, line: str, asked: int | str | None
) -> None:
    env = python_env(home, SAMPLE_END=str(home / "end"))
    ping = '{"jsonrpc":"2.0","id":99,"method":"ping"}'
    done = subprocess.run(
        [interpreter(), str(CHILD), "mcp"],
        input=f"{line}\n\n{ping}\n",
        text=True,
        env=env,
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=50,
    )
    problem, *rest = [json.loads(answer) for answer in done.stdout.splitlines()]
    assert problem["id"] == asked
    assert problem["error"]["code"] in {types.PARSE_ERROR, types.INVALID_REQUEST}
    assert ("half a character" in problem["error"]["message"]) == ("\\ud" in line)
    assert [answer["id"] for answer in rest] == [99]


def test_no_adapter_of_one_host_imports_that_of_another() -> None:
    folders = {path.parent.name for path in ADAPTERS.glob("*/__init__.py")}
    found = {
        (path.parent.name, name)
        for path in ADAPTERS.glob("*/*.py")
        for name in folders - {path.parent.name}
        if f"persona_host.adapters.{name}" in path.read_text(encoding="utf-8")
    }
    assert {"mcp", "claude_code", "pi", "stdio"} <= folders
    assert found == set()


@pytest.mark.parametrize("how", ["close", "kill"])
def test_no_orphan_is_left(home: Path, how: str) -> None:
    pids: list[int] = []

    async def test(_: Client) -> None:
        pids.append(int((home / "end.pid").read_text(encoding="utf-8")))
        if how == "kill":
            os.kill(pids[0], signal.SIGKILL)

    run(home, test)
    assert gone(pids[0])
    assert (home / "end").exists() == (how == "close")


def test_without_the_sdk_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "persona_host.adapters.mcp.server", None)
    with pytest.raises(ModuleNotFoundError):
        serve.serve_mcp(agent_dir=home, home=home, cwd=home, environ={})
    monkeypatch.delitem(__import__("sys").modules, "persona_host.adapters.mcp.server")
    monkeypatch.setitem(__import__("sys").modules, "mcp_types", None)
    with pytest.raises(RefusedError, match=r"MCP needs the extra mcp: .+\[mcp\]"):
        serve.serve_mcp(agent_dir=home, home=home, cwd=home, environ={})


def test_the_shipped_plugins_serve_what_another_process_saved_and_are_corrected(
    home: Path, agent_dir: Path, environ: dict[str, str]
) -> None:
    arguments = json.dumps({"action": "remember", "kind": "note", "text": "The staging database listens on port 5433."})
    program = [interpreter(), "-m", "persona_host.cli"]
    subprocess.run([*program, "tool", "memory", arguments], env=environ, cwd=home, check=True, capture_output=True)

    async def body() -> None:
        server = StdioServerParameters(command=program[0], args=[*program[1:], "mcp"], env=environ, cwd=str(home))
        with anyio.fail_after(50), (home / "stderr").open("w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errors)) as client:
                found = await client.call_tool("memory", {"action": "recall", "query": "port of staging"})
                assert "5433" in said(found)
                (block,) = (await client.read_resource("persona://block")).contents
                assert isinstance(block, types.TextResourceContents)
                assert "5433" in block.text
                saved = await client.call_tool(
                    "memory", {"action": "remember", "kind": "note", "text": "Staging moved to port 6000."}
                )
                assert not saved.is_error

    anyio.run(body)
    shown = subprocess.run([*program, "mind", "--plain"], env=environ, cwd=home, check=True, capture_output=True)
    assert b"port 6000" in shown.stdout
    assert agent_dir.is_dir()
