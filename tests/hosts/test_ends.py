"""How a process that serves a host ends: in time and in order, whatever its streams and its terminal are doing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import IO, TYPE_CHECKING

import anyio
import pytest

from persona_host.adapters.mcp import frames
from persona_host.adapters.streams import Outlet
from tests.hosts.test_mcp import CHILD
from tests.support.stdio_host import ROOT, interpreter, python_env

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes can be asked there whether they take something")

LIMIT = 30
"""Seconds after which a process counts as one that never ends."""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
DOORS = ["mcp", "stdio"]

INTERRUPTED = """
import builtins, signal, sys, weakref
from persona_host.cli import main

class Nothing:
    pass

def load(name, *rest, **more):
    if name == wanted:
        nothing = Nothing()
        kept = weakref.ref(nothing, lambda _: signal.raise_signal(signal.SIGINT))
        del nothing
    return real(name, *rest, **more)

real, builtins.__import__, wanted = builtins.__import__, load, sys.argv[1]
sys.argv[1:] = ["mcp", "--http"]
main()
"""
"""``persona mcp --http`` that is interrupted while it loads, while Python runs a weak reference's callback."""


def request(number: int, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def began(door: str) -> bytes:
    """Return what a client says first, and what is answered at once."""
    if door == "mcp":
        return request(1, "initialize", **HELLO) + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    return request(1, "nothing")


def start(door: str, home: Path, *, stdin: int | IO[bytes] = subprocess.PIPE, stdout: int | IO[bytes] = subprocess.PIPE,
          ) -> subprocess.Popen[bytes]:  # fmt: skip
    env = python_env(home, SAMPLE_END=str(home / "end"))
    argv = [interpreter(), str(CHILD), door]
    return subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=env, cwd=ROOT)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Return the status of a process that ends by itself, and what it said."""
    assert process.stderr is not None
    try:
        status = process.wait(LIMIT)
        return status, process.stderr.read().decode()
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize(
    ("door", "asked"),
    [
        ("mcp", [request(number, "tools/list") for number in range(2, 300)]),
        ("mcp", [request(number, "ping") for number in range(2, 1200)]),
        ("mcp", [b"{}\n"] * 4000),
        ("stdio", [request(number, "nothing") for number in range(900)]),
        ("stdio", [b"[]\n"] * 4000),
    ],
    ids=["mcp-calls", "mcp-pings", "mcp-no-messages", "stdio-refused", "stdio-no-messages"],
)
def test_a_client_that_reads_nothing_and_closes_its_end_is_not_waited_for(
    home: Path, door: str, asked: Iterable[bytes]
) -> None:
    process = start(door, home)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(began(door))
    process.stdin.flush()
    process.stdout.readline()
    process.stdin.writelines(asked)
    process.stdin.close()
    assert ended(process) == (0, "")
    assert door == "stdio" or (home / "end").exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_session_of_an_mcp_client_as_a_closed_stream_does(home: Path, how: signal.Signals) -> None:
    process = start("mcp", home)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(began("mcp"))
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(how)
    assert ended(process) == (0, "")
    assert (home / "end").read_text(encoding="utf-8") == "shut down"


@pytest.mark.parametrize("module", ["persona_host.adapters.mcp.serve", "persona_host.runtime", "mcp", "uvicorn"])
def test_an_interrupt_while_a_server_loads_ends_it_like_any_program(home: Path, module: str) -> None:
    argv = [interpreter(), "-c", INTERRUPTED, module]
    done = subprocess.run(argv, env=python_env(home), cwd=home, capture_output=True, check=False, timeout=LIMIT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("door", DOORS)
def test_standard_output_that_takes_nothing_is_told_in_one_line(home: Path, door: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(door, home, stdout=full)
    assert process.stdin is not None
    process.stdin.write(began(door))
    process.stdin.flush()
    status, said = ended(process)
    assert (status, said.count("\n")) == (1, 1)
    assert "No space left on device" in said
    assert door == "stdio" or (home / "end").exists()


def test_an_mcp_client_that_reads_no_more_has_gone(home: Path) -> None:
    process = start("mcp", home)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(began("mcp"))
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(request(2, "ping"))
    process.stdin.flush()
    assert ended(process) == (0, "")
    assert (home / "end").exists()


@pytest.mark.parametrize("door", DOORS)
def test_a_client_that_goes_with_something_unread_ends_the_session_in_order(home: Path, door: str) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = start(door, home, stdin=theirs.fileno(), stdout=theirs.fileno())
        ours.sendall(began(door))
        assert ours.recv(1)
    assert ended(process) == (0, "")
    assert door == "stdio" or (home / "end").exists()


def test_what_was_asked_before_the_stream_was_closed_is_answered(home: Path) -> None:
    process = start("mcp", home)
    asked = b"".join(request(number, "tools/list") for number in range(2, 100))
    out, said = process.communicate(began("mcp") + asked, timeout=LIMIT)
    assert (process.returncode, said) == (0, b"")
    assert {json.loads(line)["id"] for line in out.splitlines()} == set(range(1, 100))


def test_what_a_host_said_before_it_closed_the_stream_is_taken_in(home: Path) -> None:
    process = start("stdio", home)
    given = {"protocol": 1, "manifest": "", "host": {"name": "test", "lacks": []}, "nonce": "n", "generation": 1,
             "sessionId": "s", "sessionFile": None, "cwd": str(home), "leaf": None, "reason": "startup",
             "trusted": False}  # fmt: skip
    out, _ = process.communicate(request(1, "initialize", **given) + request(2, "ping"), timeout=LIMIT)
    assert process.returncode == 0
    assert {json.loads(line).get("id") for line in out.splitlines()} >= {1, 2}


def call(number: int, action: str, text: str) -> bytes:
    return request(number, "tools/call", name="sample", arguments={"action": action, "text": text})


@pytest.mark.timeout(90)
def test_a_ping_waits_for_no_call_however_many_there_are(home: Path) -> None:
    process = start("mcp", home)
    assert process.stdin is not None
    assert process.stdout is not None
    slow = b"".join(call(number, "sleep", "3600") for number in range(2, 62))
    process.stdin.write(began("mcp") + slow + request(100, "ping"))
    process.stdin.flush()
    first, then = (json.loads(process.stdout.readline()) for _ in range(2))
    process.stdin.close()
    process.stdout.close()
    assert (first["id"], then["id"]) == (1, 100)
    ended(process)


@pytest.mark.parametrize("door", DOORS)
def test_a_stream_that_does_not_wait_has_not_ended(home: Path, door: str) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    process = start(door, home, stdin=reader)
    os.close(reader)
    assert process.stdout is not None
    os.write(writer, began(door))
    assert process.stdout.readline()
    os.write(writer, request(7, "tools/list" if door == "mcp" else "nothing"))
    assert json.loads(process.stdout.readline())["id"] == 7
    os.close(writer)
    assert ended(process) == (0, "")


def test_the_end_waits_for_no_answer_that_the_client_took_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    os.write(writer, request(7, "tools/list") + json.dumps(cancelled).encode() + b"\n")
    os.close(writer)
    monkeypatch.setattr(frames, "DRAIN", 10 * LIMIT)

    async def lines() -> list[str]:
        outlet = Outlet(os.open(os.devnull, os.O_WRONLY), reader, lambda: False)
        with anyio.fail_after(LIMIT):
            return [line async for line in frames.Frames(reader, outlet, lambda: None)]

    assert len(anyio.run(lines)) == 2
