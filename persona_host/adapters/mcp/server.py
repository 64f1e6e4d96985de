"""The MCP server: a projection of the registry, as commands and model tools are.

- Tools: those that the registry offers to ``mcp``.
- Resources: every verb that only reads and needs no argument, as ``persona://<tool>/<action>``, and
  ``persona://block``, what a host with injection would put into a request.
- One prompt, ``memory``, that carries the block for a subject, for clients that let a person pick it.

The runtime is synchronous, so its calls run on worker threads. A call that the client cancels is not waited for, and
stops at its next check.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from persona_hooks.errors import PersonaError
from persona_hooks.tools import parameters
from persona_host.adapters.ending import must_end
from persona_host.adapters.mcp.frames import Frames
from persona_host.adapters.streams import Outlet, take_standard_streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import TypeVar

    from mcp.server.context import ServerRequestContext

    from persona_hooks.verbs import Answer, AnyVerb
    from persona_host.adapters.ending import Signals
    from persona_host.runtime import Runtime

    T = TypeVar("T")
    Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "Durable memory of the person you work with, kept on their machine. Look things up before you ask for what they "
    "may have told you already; save what should outlast this conversation."
)
BLOCK = "persona://block"
PROMPT = "memory"
REFUSED = -32000
"""The JSON-RPC code of a refusal; ``data`` says why."""
HEARTBEAT = 1.0
"""Seconds between two signs of life while a call runs, for clients that asked for progress."""


def run_stdio(runtime: Callable[[], Runtime], release: str, signals: Signals) -> str:
    """Serve over the standard streams until the client closes them; the process has to end then.

    Args:
        runtime: The runtime whose open session is served, asked for at each call.
        release: Our version.
        signals: What ends it as well, and in the same way.

    Returns:
        Why nothing could be written any more, in words; empty where the client has just gone.
    """
    server = Adapter(runtime).server(release)
    # Not left to the SDK, which gives standard output back at the end: what was printed and still buffered would follow
    # the last message.
    incoming, outgoing = take_standard_streams()
    over = threading.Event()
    outlet = Outlet(outgoing, incoming, over.is_set)

    def ended() -> None:
        over.set()
        must_end()

    async def serve() -> None:
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        lines = Frames(incoming, outlet, ended)
        loop = asyncio.get_running_loop()
        signals.passed_on(lambda: _soon(loop, lines.end))
        # The SDK reads lines, writes lines and flushes; both do that and nothing else.
        async with stdio_server(cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", lines.sink)) as (
            source,
            sink,
        ):
            await server.run(source, sink, options)

    anyio.run(serve)
    return outlet.failure


def _soon(loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(action)


class Adapter:
    """A runtime as an MCP server.

    Args:
        runtime: The runtime whose open session is served, asked for at each call.
    """

    def __init__(self, runtime: Callable[[], Runtime]) -> None:
        self._current = runtime

    @property
    def _runtime(self) -> Runtime:
        return self._current()

    def server(self, release: str) -> Server[Any]:
        """Return the server, not yet connected."""
        return Server(
            "persona-mind",
            version=release,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = await _on_thread(lambda: self._runtime.tools("mcp"))
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.parameters,
                annotations=types.ToolAnnotations(read_only_hint=tool.read_only, open_world_hint=False),
            )
            for tool in offered
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        given_up = threading.Event()

        def call() -> tuple[Answer, bool]:
            arguments = params.arguments or {}
            before = self._offered()
            answer = self._runtime.tool(params.name, arguments, audience="mcp", wanted=lambda: not given_up.is_set())
            return answer, answer.changed != "no" and self._offered() != before

        try:
            async with _signs_of_life(context):
                answer, others = await _on_thread(call)
        finally:
            given_up.set()
        if others:
            await context.session.send_tool_list_changed()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content={"ok": answer.ok, "changed": answer.changed, **answer.details},
            is_error=not answer.ok,
        )

    async def _list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        readings = await _on_thread(self._readings)
        block = types.Resource(
            uri=BLOCK,
            name="block",
            description="What is remembered here, as a model is given it.",
            mime_type="text/plain",
        )
        resources = [
            types.Resource(uri=uri, name=verb.name, description=verb.summary, mime_type="text/plain")
            for uri, verb in readings.items()
        ]
        return types.ListResourcesResult(resources=[block, *resources])

    async def _read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await _on_thread(lambda: self._block("") if uri == BLOCK else self._reading(uri))
        content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[content])

    async def _list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        about = types.PromptArgument(name="about", description="What you are about to work on.", required=False)
        prompt = types.Prompt(name=PROMPT, description="What is remembered about a subject.", arguments=[about])
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"There is one prompt here: {PROMPT}.")
        about = (params.arguments or {}).get("about", "")
        text = await _on_thread(lambda: self._block(about))
        content = types.TextContent(type="text", text=text or "Nothing is remembered yet.")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    def _offered(self) -> list[str]:
        return [tool.name for tool in self._runtime.tools("mcp")]

    def _block(self, about: str) -> str:
        self._runtime.owner()
        return "\n\n".join(block.text for block in self._runtime.blocks(about))

    def _readings(self) -> dict[str, AnyVerb]:
        """Return the verbs that can be read as a resource, by URI; none while nobody owns the session."""
        offered = set(self._offered())
        return {
            f"persona://{verb.prefix}/{verb.action}": verb
            for verb in self._runtime.registry.shown_to("mcp")
            if verb.prefix in offered and verb.effect == "read" and not parameters(verb.params).get("required")
        }

    def _reading(self, uri: str) -> str:
        verb = self._readings().get(uri)
        if verb is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such resource here.")
        runtime = self._runtime
        return runtime.call(verb.name, {}, session=runtime.session, origin="model", audience="mcp").text


async def _on_thread(work: Callable[[], T]) -> T:
    """Run ``work`` on a worker thread. Whoever gives up is not kept waiting; the work itself ends when it ends.

    Raises:
        MCPError: The work refused, in its own words; or it failed, of which only the type is told.
    """

    def guarded() -> T:
        try:
            return work()
        except PersonaError as error:
            raise MCPError(REFUSED, error.message, {"reason": error.reason, "changed": error.changed}) from None
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK would send the text, and that may quote a memory
            raise MCPError(types.INTERNAL_ERROR, f"That failed ({type(error).__name__}).") from None

    return await to_thread.run_sync(guarded, abandon_on_cancel=True)


@asynccontextmanager
async def _signs_of_life(context: Context) -> AsyncIterator[None]:
    """Report progress now and then; does nothing where the client did not ask for it."""

    async def beat() -> None:
        for beats in itertools.count(1):
            await anyio.sleep(HEARTBEAT)
            await context.session.report_progress(beats)

    # Raised after the group has ended: inside it, the group would wrap it into one of its own.
    problem: MCPError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        try:
            yield
        except MCPError as error:
            problem = error
        group.cancel_scope.cancel()
    if problem is not None:
        raise problem
