"""``persona mcp --http``: streamable HTTP on this machine's loopback interface, for whoever has the token.

Any program of any user of this machine can connect to a port, and any web page can make a browser do so. Hence the
token, which only this user can read, and the checks of ``Host`` and ``Origin``, which a page cannot choose.
"""

from __future__ import annotations

import errno
import secrets
import signal
import socket
import sys
from typing import TYPE_CHECKING, Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from persona_hooks.errors import StorageError
from persona_hooks.speech import phrase
from persona_host.adapters.mcp.gate import Gate
from persona_host.adapters.mcp.kept import keeping
from persona_host.adapters.mcp.server import Adapter

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

    from persona_host.runtime import Runtime

PATH: Final = "/mcp"
GRACE: Final = 2
"""Seconds that calls under way have once the server is told to end."""
PATIENCE: Final = 5.0
"""Seconds that a connection has until its first request has come."""
IDLE: Final = 30 * 60.0
"""Seconds after which a client's session of which nothing is heard is ended; the client then begins another one."""
SESSIONS: Final = 128
"""Sessions of clients at once; a further one is refused until one has ended."""
_TRIES: Final = 8
_NO_IPV6: Final = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})


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
    url = f"http://127.0.0.1:{port}{PATH}"
    # What the gate has let in is not asked for its Host and Origin once more.
    app = (
        Adapter(runtime)
        .server(release)
        .streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=IDLE,
            max_sessions=SESSIONS,
        )
    )
    gate = Gate(app, token, frozenset(hosts), frozenset(f"http://{host}" for host in hosts))
    try:
        server = uvicorn.Server(_config(gate))
        _end_at_signals(server)
        with keeping(agent_dir / "persona-host", port, url, token) as kept:
            sys.stdout.write(f"{url}\nAuthorization: Bearer {token}\nBoth are in {kept} until this ends.\n")
            sys.stdout.flush()
            server.run(sockets=listening)
    finally:
        for each in listening:
            each.close()


def _config(gate: Gate) -> uvicorn.Config:
    return uvicorn.Config(
        gate,
        http=Patient,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


def _end_at_signals(server: uvicorn.Server) -> None:
    """Let a signal ask the server to end, also before it runs, and once more when it raises the signal again.

    An exception is no way to ask: Python drops one that is raised in a finalizer or in a weak reference's callback, of
    which every import runs some, and the server would have begun to serve for good.
    """

    def end(*_: object) -> None:
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, end)
    # Its terminal was closed, where the platform says so and nobody asked for it to go on (nohup).
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signal.signal(hangup, end)


class Patient(H11Protocol):
    """A connection that has ``PATIENCE`` seconds for its first request: it may be anybody's until that has come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(PATIENCE, self._late, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _late(self, transport: asyncio.Transport) -> None:
        if self.cycle is None:
            transport.close()


def _bound(port: int) -> list[socket.socket]:
    """Return sockets on the loopback interface and on no other: IPv4, and IPv6 where the machine has it.

    The port is ours on both, or not taken: a client of ``localhost`` would bring the token to whoever has the other.
    """
    tries = 1 if port else _TRIES
    while True:
        tries -= 1
        try:
            return _both(port)
        except (OSError, OverflowError) as error:
            if not tries:
                raise StorageError(
                    phrase("Port {port} of this machine cannot be listened at; name another one.", port=port),
                    reason="port",
                    port=port,
                ) from error


def _both(port: int) -> list[socket.socket]:
    first = socket.create_server(("127.0.0.1", port))
    try:
        return [first, socket.create_server(("::1", first.getsockname()[1]), family=socket.AF_INET6)]
    except OSError as error:
        if error.errno in _NO_IPV6:
            return [first]
        first.close()
        raise
