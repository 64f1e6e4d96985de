"""The MCP server over HTTP: a real process on the loopback interface, the SDK's client, and whoever is turned away."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.hosts.test_mcp import CHILD, call, said
from tests.support.cli import PERSONA, Persona
from tests.support.stdio_host import ROOT, interpreter, python_env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator


SIGNALLED = """
import signal, sys, weakref
from persona_host.cli import main

class Nothing:
    pass

class Told:
    flush, isatty = sys.stdout.flush, sys.stdout.isatty

    def write(self, text):
        sys.__stdout__.write(text)
        nothing = Nothing()
        kept = weakref.ref(nothing, lambda _: signal.raise_signal(number))
        del nothing

number = int(sys.argv[1])
sys.argv[1:] = ["mcp", "--http"]
sys.stdout = Told()
main()
"""
"""``persona mcp --http`` to which a signal comes before it serves, while Python runs a weak reference's callback."""


ENDS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""Whatever asks a server to end."""


@dataclass(frozen=True)
class Serving:
    """A running server.

    Attributes:
        process: The process.
        url: Where it answers.
        token: What it asks for.
        printed: What it printed at its start.
    """

    process: subprocess.Popen[str]
    url: str
    token: str
    printed: list[str]

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)

    def ask(
        self, body: bytes = b"{}", method: str = "POST", host: str = "127.0.0.1", **headers: str
    ) -> tuple[int, str]:
        """Send one request as it is; return the status and the body."""
        connection = http.client.HTTPConnection(host, self.port, timeout=20)
        given = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        connection.putrequest(method, "/mcp", skip_host=True)
        for name, value in {**given, "Content-Length": str(len(body))}.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        with answer:
            text = answer.read().decode()
        connection.close()
        return answer.status, text


@contextmanager
def serving(argv: list[str], env: dict[str, str], cwd: Path) -> Iterator[Serving]:
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=cwd
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        printed = [process.stdout.readline().strip() for _ in range(3)]
        assert printed[0], process.stderr.read()
        yield Serving(process, printed[0], printed[1].removeprefix("Authorization: Bearer "), printed)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        finally:
            process.kill()
            process.communicate()


@contextmanager
def listening(running: Serving) -> Iterator[http.client.HTTPResponse]:
    """Give the stream on which a client that has introduced itself hears what the server has to say."""
    headers = {
        "Authorization": f"Bearer {running.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        asking = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        asking.request("POST", "/mcp", json.dumps(message), headers)
        answer = asking.getresponse()
        answer.read()
        headers.setdefault("Mcp-Session-Id", answer.headers["Mcp-Session-Id"])
        asking.close()
    asking = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    asking.request("GET", "/mcp", headers={**headers, "Accept": "text/event-stream"})
    with closing(asking), asking.getresponse() as stream:
        assert stream.status == 200
        yield stream


@pytest.fixture
def server(environ: dict[str, str], home: Path) -> Iterator[Serving]:
    """A server with the shipped plugins."""
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as running:
        yield running


@asynccontextmanager
async def connected(running: Serving) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {running.token}"}, timeout=30) as web,
        Client(streamable_http_client(running.url, http_client=web)) as client,
    ):
        yield client


def run(running: Serving, test: Callable[[Client], Awaitable[None]]) -> None:
    async def body() -> None:
        with anyio.fail_after(50):
            async with connected(running) as client:
                await test(client)

    anyio.run(body)


@pytest.fixture
def sample(home: Path) -> Iterator[Serving]:
    """A server with the sample plugin."""
    env = python_env(home, SAMPLE_END=str(home / "end"))
    with serving([interpreter(), str(CHILD), "mcp-http"], env, ROOT) as running:
        yield running


def test_tools_resources_and_prompt_are_those_of_standard_streams(sample: Serving) -> None:
    async def test(client: Client) -> None:
        (tool,) = (await client.list_tools()).tools
        assert tool.name == "sample"
        assert not (await call(client, "keep", text="FERN-2")).is_error
        assert (await call(client, "keep")).is_error
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == ["persona://block", "persona://sample/seen"]
        (block,) = (await client.read_resource("persona://block")).contents
        assert "kept=FERN-2" in str(block)
        (prompt,) = (await client.list_prompts()).prompts
        assert "prompt=roses" in str((await client.get_prompt(prompt.name, {"about": "roses"})).messages[0])

    run(sample, test)


def test_a_long_call_shows_signs_of_life_and_one_that_is_given_up_stops(sample: Serving) -> None:
    beats: list[float] = []

    async def test(client: Client) -> None:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            beats.append(progress)

        result = await client.call_tool("sample", {"action": "sleep", "text": "2.5"}, progress_callback=progress)
        assert said(result) == "slept"
        with anyio.move_on_after(0.5) as scope:
            await call(client, "sleep", text="3600")
        assert scope.cancelled_caught
        assert said(await call(client, "seen")) == ""

    run(sample, test)
    assert beats[:2] == [1, 2]


def test_what_another_process_saved_is_served_and_corrected(
    server: Serving, environ: dict[str, str], home: Path
) -> None:
    persona = Persona(environ, home)
    saved = persona.tool(
        "memory", action="remember", kind="note", text="The staging database listens on port 5433."
    ).json()

    async def test(client: Client) -> None:
        found = await client.call_tool("memory", {"action": "recall", "query": "port of staging"})
        assert "5433" in said(found)
        new = {
            "action": "remember",
            "kind": "note",
            "text": "Staging moved to port 6000.",
            "supersedes": saved["details"]["id"],
        }
        assert not (await client.call_tool("memory", new)).is_error

    run(server, test)
    listed = persona("mind", "recall", "--plain").out
    assert "by model via mcp) Staging moved to port 6000." in listed
    assert "5433" not in listed


def test_several_clients_are_served_at_once(server: Serving) -> None:
    async def body() -> None:
        with anyio.fail_after(50):
            async with connected(server) as one, connected(server) as two:
                text = {"action": "remember", "kind": "note", "text": "Tea at five."}
                assert not (await one.call_tool("memory", text)).is_error
                assert "Tea at five." in said(await two.call_tool("memory", {"action": "recall"}))

    anyio.run(body)


TURNED_AWAY = {
    "no token": (401, {"Authorization": ""}),
    "a wrong token": (401, {"Authorization": "Bearer " + "x" * 43}),
    "another scheme": (401, {"Authorization": "Basic eA=="}),
    "another name": (403, {"Host": "memory.example:80"}),
    "another port": (403, {"Host": "127.0.0.1:1"}),
    "a web page": (403, {"Origin": "https://memory.example"}),
    "a page without an address": (403, {"Origin": "null"}),
    "a page of another port": (403, {"Origin": "http://127.0.0.1:1"}),
}


@pytest.mark.parametrize(("status", "headers"), TURNED_AWAY.values(), ids=TURNED_AWAY)
def test_who_has_no_token_or_comes_from_elsewhere_gets_one_plain_line(
    server: Serving, status: int, headers: dict[str, str]
) -> None:
    for method in ("POST", "GET", "DELETE", "OPTIONS"):
        got, text = server.ask(method=method, **headers)
        assert (method, got) == (method, status)
        assert text.count("\n") == 1
        assert server.token not in text


def test_a_request_that_names_no_server_is_refused(server: Serving) -> None:
    assert server.ask(Host="")[0] == 400


def test_the_token_is_refused_in_words_and_bytes_that_are_no_text(server: Serving) -> None:
    assert server.ask(Authorization="Bearer \xff\xfe")[0] == 401


def test_what_is_no_message_is_refused_and_the_server_goes_on(server: Serving) -> None:
    for body in (b"", b"{", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', b"\xff"):
        status, text = server.ask(body)
        assert 400 <= status < 500
        assert text
    run(server, _listed)


async def _listed(client: Client) -> None:
    assert (await client.list_tools()).tools


def test_it_listens_on_the_loopback_interface_only(server: Serving) -> None:
    listening = [line.split() for table in ("tcp", "tcp6") for line in _table(table)]
    addresses = {row[1].rpartition(":")[0] for row in listening if int(row[1].rpartition(":")[2], 16) == server.port}
    assert addresses <= {"0100007F", "00000000000000000000000001000000"}
    assert addresses


def _table(name: str) -> list[str]:
    path = Path("/proc/net") / name
    if not path.exists():
        pytest.skip("this system does not list its sockets")
    return path.read_text(encoding="ascii").splitlines()[1:]


def test_address_and_token_are_kept_for_this_user_and_go_with_the_server(
    environ: dict[str, str], home: Path, agent_dir: Path
) -> None:
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as running:
        kept = agent_dir / "persona-host" / f"mcp-{running.port}.json"
        assert json.loads(kept.read_bytes()) == {"url": running.url, "token": running.token}
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert running.printed[2].startswith("Both are in")
        assert len(running.token) >= 43
    assert running.process.returncode == 0
    assert not kept.exists()


def test_each_server_has_a_token_of_its_own(environ: dict[str, str], home: Path) -> None:
    argv = [str(PERSONA), "mcp", "--http"]
    with serving(argv, environ, home) as one, serving(argv, environ, home) as two:
        assert one.token != two.token
        assert two.ask(Authorization=f"Bearer {one.token}")[0] == 401


def test_a_port_that_is_taken_is_said_in_one_line(environ: dict[str, str], home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = Persona(environ, home)("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "name another one" in done.err


def test_a_port_without_http_is_wrong_usage(environ: dict[str, str], home: Path) -> None:
    assert Persona(environ, home)("mcp", "--port", "80").code == 2


@pytest.mark.parametrize("how", ENDS)
def test_it_ends_in_order_when_it_is_told_to(environ: dict[str, str], home: Path, how: signal.Signals) -> None:
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as running:
        os.kill(running.process.pid, how)
        assert running.process.wait(20) == 0
        assert running.process.stderr is not None
        assert running.process.stderr.read() == ""
    assert not list(home.rglob("mcp-*.json"))


@pytest.mark.parametrize("how", ENDS)
def test_a_client_s_open_stream_ends_in_order_with_it(environ: dict[str, str], home: Path, how: signal.Signals) -> None:
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as running:
        with listening(running) as stream:
            os.kill(running.process.pid, how)
            assert stream.read() == b""
        assert running.process.wait(20) == 0
        assert running.process.stderr is not None
        assert running.process.stderr.read() == ""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="not on this platform")
def test_a_terminal_that_is_closed_ends_no_server_that_was_to_outlive_it(environ: dict[str, str], home: Path) -> None:
    argv = ["/bin/sh", "-c", 'trap "" HUP; exec "$0" mcp --http', str(PERSONA)]
    with serving(argv, environ, home) as running:
        os.kill(running.process.pid, signal.SIGHUP)
        assert running.ask(b"{}")[0] == 400
        assert running.process.poll() is None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_a_moment_at_which_python_drops_exceptions_ends_it_too(
    environ: dict[str, str], home: Path, how: signal.Signals
) -> None:
    argv = [interpreter(), "-c", SIGNALLED, str(int(how))]
    done = subprocess.run(argv, env=environ, cwd=home, capture_output=True, check=False, text=True, timeout=30)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 3)
    assert not list(home.rglob("mcp-*.json"))
