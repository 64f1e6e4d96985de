"""The lines of a stream that holds MCP messages: what is none is answered, since the SDK would only drop it.

Whoever sent it waits for an answer to the end of its patience otherwise; half a character in a text is enough.
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from anyio import to_thread

from persona_hooks.wellformed import is_text
from persona_host.adapters.ending import DRAIN
from persona_host.adapters.streams import read_some

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from persona_host.adapters.streams import Outlet

_CHUNK: Final = 64 * 1024


class Sink:
    """What several tasks write whole lines to.

    Args:
        outlet: Where they go.
        failed: Called once they go nowhere any more.
    """

    def __init__(self, outlet: Outlet, failed: Callable[[], None]) -> None:
        self._outlet = outlet
        self._failed = failed
        self._lock = anyio.Lock()
        self._own = anyio.CapacityLimiter(1)
        self._due: set[object] = set()
        self._fewer = asyncio.Event()

    def asked(self, number: object) -> None:
        """Note that an answer is due."""
        self._due.add(number)

    def over(self, number: object) -> None:
        """Note that it is due no more: it was given, or the client took its request back."""
        self._due.discard(number)
        self._fewer.set()

    async def settle(self, seconds: float) -> None:
        """Wait until nothing is due any more, at most so long."""
        with anyio.move_on_after(seconds):
            while self._due and self._outlet.open:
                self._fewer.clear()
                await self._fewer.wait()

    async def write(self, line: str) -> int:
        """Write one line, and see that it is on its way."""
        async with self._lock:
            await to_thread.run_sync(self._outlet.write, line.encode("utf-8", "backslashreplace"), limiter=self._own)
        message = json.loads(line)
        if "method" not in message:
            self.over(message.get("id"))
        self._fewer.set()
        if not self._outlet.open:
            self._failed()
        return len(line)

    async def flush(self) -> None:
        """Do nothing: ``write`` has."""


class Frames:
    """The lines of a stream that are messages; whoever sent another one is told so.

    Args:
        reader: The descriptor that they come from.
        outlet: Where answers go.
        ended: Called once no more lines come.

    Attributes:
        sink: Writes there, one whole line after the other.
    """

    def __init__(self, reader: int, outlet: Outlet, ended: Callable[[], None]) -> None:
        self._reader = reader
        self._ended = ended
        self._over = False
        self._came = asyncio.Event()
        self.sink = Sink(outlet, self.end)

    def end(self) -> None:
        """Wait for no more lines."""
        self._over = True
        self._came.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line that is a message."""
        async for line in self._lines():
            message = _message(line)
            if isinstance(message, types.JSONRPCRequest):
                self.sink.asked(message.id)
            elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
                self.sink.over((message.params or {}).get("requestId"))
            if message is not None:
                yield line
            elif line.strip():
                await self.sink.write(json.dumps(problem(line)) + "\n")
        self._ended()
        # The SDK takes back what is not answered by the end.
        await self.sink.settle(DRAIN / 2)

    async def _lines(self) -> AsyncIterator[str]:
        pending = bytearray()
        while chunk := await self._some():
            start = len(pending)
            pending += chunk
            while (end := pending.find(b"\n", start)) >= 0:
                yield pending[:end].decode("utf-8", "replace")
                del pending[: end + 1]
                start = 0
        yield pending.decode("utf-8", "replace")

    async def _some(self) -> bytes:
        """Return what comes next, nothing at the end. The process may end while a thread still waits for it."""
        loop, got = asyncio.get_running_loop(), b""

        def read() -> None:
            nonlocal got
            try:
                got = read_some(self._reader, _CHUNK)
            finally:
                with suppress(RuntimeError):  # the loop has ended without it
                    loop.call_soon_threadsafe(self._came.set)

        if not self._over:
            self._came.clear()
            threading.Thread(target=read, name="requests", daemon=True).start()
            await self._came.wait()
        return got


def problem(line: str | bytes) -> dict[str, Any] | None:
    """Return the answer to a line that is no message, or None for one that is."""
    if _message(line) is not None:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "This is not JSON.")
    asked = value.get("id") if isinstance(value, dict) else None
    if isinstance(asked, bool) or not isinstance(asked, int | str) or not _whole(asked):
        asked = None
    if not _whole(value):
        return _error(asked, types.PARSE_ERROR, "A text holds half a character (a lone surrogate).")
    return _error(asked, types.INVALID_REQUEST, "This is no JSON-RPC message.")


def _message(line: str | bytes) -> types.JSONRPCMessage | None:
    """Return the message that a line is, or None."""
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def _whole(value: object) -> bool:
    """Return whether every text of a JSON value can be written down."""
    return is_text(json.dumps(value, ensure_ascii=False))


def _error(asked: int | str | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}
