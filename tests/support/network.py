"""A guard that lets tests talk to this machine only."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

REAL_CONNECT = socket.socket.connect
REAL_CONNECT_EX = socket.socket.connect_ex
REAL_SENDTO = socket.socket.sendto
REAL_GETADDRINFO = socket.getaddrinfo


class NetworkForbiddenError(AssertionError):
    """A test tried to leave this machine."""


def is_loopback(host: object) -> bool:
    """Whether ``host`` names this machine, without asking a name server."""
    text = host.decode() if isinstance(host, bytes) else host
    if text in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(text).partition("%")[0]).is_loopback
    except ValueError:
        return False


def check(family: int, address: Any) -> None:  # noqa: ANN401 - the socket module's own word
    """Raise unless ``address`` stays on this machine."""
    if family in {socket.AF_INET, socket.AF_INET6} and not is_loopback(address[0]):
        raise NetworkForbiddenError(f"tests must not leave this machine; refused: {address!r}")


def install() -> None:
    """Refuse every connection, datagram and look-up that would leave this machine."""

    def connect(self: socket.socket, address: Any) -> None:  # noqa: ANN401
        check(self.family, address)
        REAL_CONNECT(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:  # noqa: ANN401
        check(self.family, address)
        return REAL_CONNECT_EX(self, address)

    def sendto(self: socket.socket, data: Any, *rest: Any) -> int:  # noqa: ANN401
        check(self.family, rest[-1])
        return REAL_SENDTO(self, data, *rest)

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if not is_loopback(host):
            raise NetworkForbiddenError(f"tests must not look up names; refused: {host!r}")
        return REAL_GETADDRINFO(host, *args, **options)

    socket.socket.connect = connect  # type: ignore[method-assign]
    socket.socket.connect_ex = connect_ex  # type: ignore[method-assign]
    socket.socket.sendto = sendto  # type: ignore[assignment,method-assign]
    socket.getaddrinfo = getaddrinfo
