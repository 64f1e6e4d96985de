"""The lines of a stream that holds MCP messages: what is none is answered, since the SDK would only drop it.

Whoever sent it waits for an answer to the end of its patience otherwise; half a character in a text is enough.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types

from persona_hooks.wellformed import is_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Sink:
    """A text stream that several tasks write whole lines to."""

    def __init__(self, stream: anyio.AsyncFile[str]) -> None:
        self._stream = stream
        self._lock = anyio.Lock()

    async def write(self, line: str) -> int:
        """Write one line, and see that it is on its way."""
        async with self._lock:
            written = await self._stream.write(line)
            await self._stream.flush()
        return written

    async def flush(self) -> None:
        """Do nothing: ``write`` has."""


class Frames:
    """The lines of a stream that are messages; whoever sent another one is told so.

    Args:
        stream: Where they come from.
        sink: Where answers go.
    """

    def __init__(self, stream: anyio.AsyncFile[str], sink: Sink) -> None:
        self._stream = stream
        self._sink = sink

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line that is a message."""
        async for line in self._stream:
            if (said := problem(line)) is None:
                yield line
            elif line.strip():
                await self._sink.write(json.dumps(said) + "\n")


def problem(line: str | bytes) -> dict[str, Any] | None:
    """Return the answer to a line that is no message, or None for one that is."""
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    else:
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


def _whole(value: object) -> bool:
    """Return whether every text of a JSON value can be written down."""
    return is_text(json.dumps(value, ensure_ascii=False))


def _error(asked: int | str | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}
