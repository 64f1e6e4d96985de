"""``persona mcp --http``: streamable HTTP on this machine's loopback interface, for whoever has the token.

Any program of any user of this machine can connect to a port, and any web page can make a browser do so. Hence the
token, which only this user can read, and the checks of ``Host`` and ``Origin``, which a page cannot choose.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from persona_hooks.errors import StorageError
from persona_hooks.speech import phrase
from persona_host.adapters.mcp.server import Adapter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from pathlib import Path
    from typing import Any

    from persona_host.runtime import Runtime

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH: Final = "/mcp"
GRACE: Final = 2
"""Seconds that calls under way have once the server is told to end."""


def run_http(runtime: Callable[[], Runtime], release: str, agent_dir: Path, port: int) -> None:
    """Serve until a signal comes. Where and with which token is printed once, and kept for as long as it serves.

    Args:
        runtime: The runtime whose open session is served, asked for at each call.
        release: Our version.
        agent_dir: The agent directory; the token is kept below it.
        port: The port; 0 takes a free one.

    Raises:
        StorageError: The port is in use, or the token cannot be kept.
    """
    listening = _bound(port)
    port = listening[0].getsockname()[1]
    token, hosts = secrets.token_urlsafe(32), [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    origins = [f"http://{host}" for host in hosts]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    app = Adapter(runtime).server(release).streamable_http_app(streamable_http_path=PATH, transport_security=security)
    config = uvicorn.Config(
        Gate(app, token, frozenset(hosts), frozenset(origins)),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    url = f"http://127.0.0.1:{port}{PATH}"
    kept = agent_dir / "persona-host" / f"mcp-{port}.json"
    try:
        # The web server raises the signal that ended it once more; until it runs, a signal comes here at once.
        signal.signal(signal.SIGTERM, _interrupt)
        with suppress(KeyboardInterrupt):
            _keep(kept, json.dumps({"url": url, "token": token}, indent=2) + "\n")
            sys.stdout.write(f"{url}\nAuthorization: Bearer {token}\nBoth are in {kept} until this ends.\n")
            sys.stdout.flush()
            uvicorn.Server(config).run(sockets=listening)
    finally:
        kept.unlink(missing_ok=True)
        for each in listening:
            each.close()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class Gate:
    """Lets those in who name this server and have its token; everybody else gets one plain line.

    Args:
        app: What is behind it.
        token: The token.
        hosts: What ``Host`` may be.
        origins: What ``Origin`` may be, where there is one.
    """

    def __init__(self, app: App, token: str, hosts: frozenset[str], origins: frozenset[str]) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        refused = self._refused(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, sentence = refused
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": sentence.encode()})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Return why a request is turned away, or None where it may pass."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        named = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(named) != 1 or named[0].lower() not in self._hosts:
            return 403, "This server answers to its address on this machine only.\n"
        came = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if any(value not in self._origins for value in came):
            return 403, "Web pages of other servers are not answered.\n"
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1 or not hmac.compare_digest(given[0], self._expected):
            return 401, "The header Authorization: Bearer TOKEN is missing, or the token is not this server's.\n"
        return None


def _bound(port: int) -> list[socket.socket]:
    """Return sockets on the loopback interface and on no other: IPv4, and IPv6 where the machine has it."""
    try:
        sockets = [socket.create_server(("127.0.0.1", port))]
    except (OSError, OverflowError) as error:
        raise StorageError(
            phrase("Port {port} of this machine cannot be listened at; name another one.", port=port),
            reason="port",
            port=port,
        ) from error
    with suppress(OSError):
        sockets.append(socket.create_server(("::1", sockets[0].getsockname()[1]), family=socket.AF_INET6))
    return sockets


def _keep(path: Path, text: str) -> None:
    """Write a file that only this user can read, and that never was anything else."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise StorageError(phrase("{path} cannot be written.", path=path), path=str(path)) from error
