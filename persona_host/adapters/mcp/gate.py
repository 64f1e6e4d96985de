"""Who may ask the HTTP server, and what whoever sends no message is told."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING

from persona_host.adapters.mcp.frames import problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]
    App = Callable[[Event, Receive, Send], Awaitable[None]]


class Gate:
    """Lets those in who name this server and have its token; everybody else gets one plain line, and no second turn.

    Args:
        app: What is behind it.
        token: The token.
        hosts: What ``Host`` may be.
        origins: What ``Origin`` may be, where there is one.
    """

    def __init__(self, app: App, token: str, hosts: frozenset[str], origins: frozenset[str]) -> None:
        self._app = app
        self._expected = token.encode()
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close"})
        elif (refused := self._refused(scope)) is not None:
            await _plain(send, *refused)
        else:
            exchange = _Exchange(receive, send)
            await self._app(scope, exchange.receive, exchange.send)
            await exchange.end()

    def _refused(self, scope: Event) -> tuple[int, str] | None:
        """Return why a request is turned away, or None where it may pass."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        named = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(named) != 1 or named[0].lower() not in self._hosts:
            return 403, "This server answers to its address on this machine only.\n"
        came = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if any(value not in self._origins for value in came):
            return 403, "Web pages of other servers are not answered.\n"
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1 or not self._bears(given[0]):
            return 401, "The header Authorization: Bearer TOKEN is missing, or the token is not this server's.\n"
        return None

    def _bears(self, value: bytes) -> bool:
        scheme, _, token = value.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(b" "), self._expected)


class _Exchange:
    """One request that was let in. The SDK quotes what it cannot read; a fixed sentence takes its place."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._body = bytearray()
        self._replaced = False
        self._streams = False

    async def receive(self) -> Event:
        """Pass on what comes, and remember it until it is answered."""
        event = await self._receive()
        self._body += event.get("body", b"")
        return event

    async def send(self, event: Event) -> None:
        """Pass on what is answered, unless the request was no message."""
        if event["type"] == "http.response.start":
            said = problem(bytes(self._body)) if event["status"] >= 400 and self._body else None
            self._body.clear()
            kind = dict(event["headers"]).get(b"content-type", b"")
            self._streams = said is None and kind.startswith(b"text/event-stream")
            if said is not None:
                self._replaced = True
                await _answer(self._send, event["status"], b"application/json", json.dumps(said).encode())
        elif not event.get("more_body"):
            self._streams = False
        if not self._replaced:
            await self._send(event)

    async def end(self) -> None:
        """End a stream that was left open, as all are once the server is to end: its client sees that it is over."""
        if self._streams:
            await self._send({"type": "http.response.body", "body": b""})


async def _plain(send: Send, status: int, sentence: str) -> None:
    # The connection ends with it: only whoever has the token may hold one open.
    more = [(b"connection", b"close"), *([(b"www-authenticate", b"Bearer")] if status == 401 else [])]
    await _answer(send, status, b"text/plain; charset=utf-8", sentence.encode(), *more)


async def _answer(send: Send, status: int, kind: bytes, body: bytes, *more: tuple[bytes, bytes]) -> None:
    length = str(len(body)).encode()
    headers = [(b"content-type", kind), (b"content-length", length), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
