"""An MCP client: the SDK's own, over standard streams and over HTTP."""

from __future__ import annotations

import itertools
import signal
import subprocess
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import httpx2
import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.hosts.conformance.driver import Called, Driver, Json
from tests.support.cli import PERSONA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

_SESSIONS = itertools.count(1)


class Mcp(Driver):
    """A client that starts the server itself."""

    name = "mcp"
    audience = "mcp"
    keeps_log = False

    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        env = {**self.world.environ, **({"PI_PERSONA_LEG": "1"} if leg else {})}
        options = ["--session", f"conformance-{next(_SESSIONS)}", *(["--persona", persona] if persona else [])]
        before = set(self.world.processes())
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._client: Client = self._stack.enter_context(
            self._portal.wrap_async_context_manager(self._connected([str(PERSONA), "mcp", *options], env))
        )
        self._ours = [pid for pid in self.world.processes() if pid not in before]
        return self

    def stop(self) -> int:
        self._stack.close()
        return 0

    def ours(self) -> list[int]:
        return self._ours

    def offered(self) -> dict[str, Json]:
        return {tool.name: tool.input_schema for tool in self._portal.call(self._client.list_tools).tools}

    def call(self, tool: str, arguments: Json) -> Called:
        result: types.CallToolResult = self._portal.call(self._client.call_tool, tool, arguments)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return Called(not result.is_error, content.text)

    def use(self, persona: str) -> None:
        # A client chooses in its settings, so that the server begins with it.
        self.stop()
        self.start(persona=persona)

    def _connected(self, argv: list[str], env: dict[str, str]) -> AbstractAsyncContextManager[Client]:
        return _over_stdio(argv, env, str(self.world.project), self.world.scratch / "stderr")


class McpHttp(Mcp):
    """A client that is given an address and a token of a server that runs already."""

    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        return super().start(persona=persona, leg=leg)

    def stop(self) -> int:
        super().stop()
        self._server.send_signal(signal.SIGTERM)
        code = self._server.wait(20)
        assert self._server.stdout is not None
        self._server.stdout.close()
        return code

    def _connected(self, argv: list[str], env: dict[str, str]) -> AbstractAsyncContextManager[Client]:
        self._server = subprocess.Popen(
            [*argv, "--http"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            cwd=self.world.project,
        )
        assert self._server.stdout is not None
        url, header = (self._server.stdout.readline().strip() for _ in range(2))
        return _over_http(url, dict([header.split(": ", 1)]))


@asynccontextmanager
async def _over_stdio(argv: list[str], env: dict[str, str], cwd: str, stderr: Any) -> AsyncIterator[Client]:  # noqa: ANN401
    server = StdioServerParameters(command=argv[0], args=argv[1:], env=env, cwd=cwd)
    with stderr.open("a", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errors)) as client:
            yield client


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=40) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client
