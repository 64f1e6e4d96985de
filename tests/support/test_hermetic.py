"""The suite's own promises: no network, no stray environment, no real home."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.network import NetworkForbiddenError

if TYPE_CHECKING:
    from tests.support.clock import ManualClock


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80)])
def test_a_connection_that_leaves_this_machine_is_refused(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as stream, pytest.raises(NetworkForbiddenError):
        stream.connect(address)


def test_a_look_up_is_refused() -> None:
    with pytest.raises(NetworkForbiddenError):
        socket.create_connection(("example.org", 80))


def test_a_datagram_that_leaves_this_machine_is_refused() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram, pytest.raises(NetworkForbiddenError):
        datagram.sendto(b"x", ("192.0.2.1", 9))


def test_loopback_is_served() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        served, _ = server.accept()
        with served:
            client.sendall(b"x")
            assert served.recv(1) == b"x"


def test_neither_home_nor_environment_leaks_in() -> None:
    # What begins with PERSONA_TEST_ is the suite's own: other tests of this process may have set it.
    own = ("PERSONA_TEST_", "PERSONA_REQUIRE_HOSTS")
    assert not [
        name for name in os.environ if name.startswith(("PI_", "PERSONA_", "XDG_")) and not name.startswith(own)
    ]
    assert "persona-tests-" in str(Path.home())
    assert "persona-tests-" in tempfile.gettempdir()


def test_the_manual_clock_fires_timers_in_order_at_their_own_time(clock: ManualClock) -> None:
    seen: list[tuple[str, float]] = []
    start = clock.monotonic()
    clock.call_later(2, lambda: seen.append(("late", clock.monotonic() - start)))
    clock.call_later(1, lambda: seen.append(("early", clock.monotonic() - start)))
    clock.call_later(1.5, lambda: seen.append(("never", 0.0))).cancel()
    clock.advance(5)
    assert seen == [("early", 1.0), ("late", 2.0)]
    assert clock.monotonic() - start == 5
