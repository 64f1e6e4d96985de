"""Who else is at the port: strangers, slow ones, and what a client sends that is no message."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import StorageError
from persona_host.adapters.mcp import http, kept
from persona_host.adapters.mcp.kept import keeping, sweep
from tests.hosts.test_mcp_http import Serving, serving
from tests.support.cli import PERSONA, Persona

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with the shipped plugins, which nothing here can harm."""
    home = tmp_path_factory.mktemp("home")
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as running:
        yield running


def other(family: socket.AddressFamily, address: str) -> socket.socket:
    try:
        return socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip("this machine has no such address")


ELSEWHERE = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]


@pytest.mark.parametrize(("family", "address"), ELSEWHERE, ids=["IPv4", "IPv6"])
def test_a_port_that_somebody_has_on_either_address_is_not_taken(
    environ: dict[str, str], home: Path, agent_dir: Path, family: socket.AddressFamily, address: str
) -> None:
    with other(family, address) as theirs:
        port = theirs.getsockname()[1]
        done = Persona(environ, home)("mcp", "--http", "--port", str(port))
        assert (done.code, done.out) == (1, "")
        assert "name another one" in done.err
        assert not list(agent_dir.glob("persona-host/mcp-*.json"))
        with pytest.raises(StorageError):
            http._bound(port)


def test_a_free_port_is_free_on_both_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked = socket.create_server, []

    def taken_twice(address: tuple[str, int], **options: Any) -> socket.socket:  # noqa: ANN401 - as the real one
        asked.append(address)
        if address[0] == "::1" and len(asked) <= 4:
            raise OSError(errno.EADDRINUSE, "taken")
        return real(address, **options)

    monkeypatch.setattr(socket, "create_server", taken_twice)
    sockets = http._bound(0)
    assert len({each.getsockname()[1] for each in sockets}) == 1
    assert [address[0] for address in asked] == ["127.0.0.1", "::1"] * 3
    for each in sockets:
        each.close()


@pytest.mark.parametrize("code", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
def test_a_machine_without_ipv6_is_served_all_the_same(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    real = socket.create_server

    def no_ipv6(address: tuple[str, int], **options: Any) -> socket.socket:  # noqa: ANN401 - as the real one
        if address[0] == "::1":
            raise OSError(code, "no")
        return real(address, **options)

    monkeypatch.setattr(socket, "create_server", no_ipv6)
    (only,) = http._bound(0)
    only.close()


NO_MESSAGES = {
    "a method that is none": {"jsonrpc": "2.0", "id": 1, "method": [SECRET]},
    "an id that is none": {"jsonrpc": "2.0", "id": [SECRET], "method": "ping"},
    "another version": {"jsonrpc": SECRET, "id": 1, "method": "ping"},
    "no method": {"jsonrpc": "2.0", "id": 1, SECRET: 1},
    "a batch": [SECRET],
    "a text": SECRET,
    "parameters that are none": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": SECRET},
    "an error that is none": {"jsonrpc": "2.0", "id": 1, "error": SECRET},
    "arguments that are none": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": [SECRET]}},
    "a client that is none": {**INITIALIZE, "params": {"protocolVersion": [SECRET]}},
}
NO_JSON = {"half a message": b'{"' + SECRET.encode(), "no text": b'"' + SECRET.encode() + b'\xff"'}
BODIES = {name: json.dumps(value).encode() for name, value in NO_MESSAGES.items()} | NO_JSON


@pytest.mark.parametrize("begun", [False, True], ids=["at first", "in a session"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_answer_repeats_what_was_no_message(server: Serving, body: bytes, begun: bool) -> None:  # noqa: FBT001
    headers = {"Mcp-Session-Id": _session(server)} if begun else {}
    status, text = server.ask(body, **headers)
    assert SECRET not in text
    assert text or status < 400


def test_what_is_no_message_is_told_as_on_standard_streams(server: Serving) -> None:
    status, text = server.ask(BODIES["a method that is none"])
    assert status == 400
    assert json.loads(text)["error"]["message"] == "This is no JSON-RPC message."


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
def test_the_scheme_is_read_in_any_case(server: Serving, scheme: str) -> None:
    assert server.ask(json.dumps(INITIALIZE).encode(), Authorization=f"{scheme} {server.token}")[0] == 200
    assert server.ask(Authorization=f"{scheme} x{server.token}")[0] == 401


UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"


@pytest.mark.parametrize("token", ["", "Authorization: Bearer x\r\n"])
def test_a_web_socket_comes_through_the_same_gate(server: Serving, token: str) -> None:
    status, rest = _raw(server, f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{token}{UPGRADE}\r\n")
    assert status == 401
    assert "connection: close" in rest.lower()


BEGUN = {"nothing": "", "half a line": "GET /mcp HT", "half a request": "POST /mcp HTTP/1.1\r\nHost: x\r\nA: "}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN)
def test_a_connection_of_which_no_request_comes_is_closed(server: Serving, begun: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(begun.encode())
        while link.recv(4096):
            pass


def test_who_is_turned_away_is_not_waited_for(server: Serving) -> None:
    request = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 9\r\n\r\n"
    assert _raw(server, request)[0] == 401


def test_a_client_that_says_nothing_for_long_is_not_cut_off_in_a_call(server: Serving) -> None:
    session = _session(server)
    headers = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}
    with socket.create_connection(("127.0.0.1", server.port), timeout=http.PATIENCE + 2) as link:
        lines = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {server.token}", **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        link.sendall(f"GET /mcp HTTP/1.1\r\nAccept: text/event-stream\r\n{head}\r\n".encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 200")
        with pytest.raises(TimeoutError):
            link.recv(4096)


def test_so_many_sessions_are_open_at_once_and_no_more(environ: dict[str, str], home: Path) -> None:
    body = json.dumps(INITIALIZE).encode()
    with serving([str(PERSONA), "mcp", "--http"], environ, home) as server:
        assert {server.ask(body)[0] for _ in range(http.SESSIONS)} == {200}
        assert 400 <= server.ask(body)[0] < 600


def _raw(server: Serving, request: str) -> tuple[int, str]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        link.sendall(request.encode())
        answer = b""
        while piece := link.recv(4096):
            answer += piece
    head = answer.decode("latin-1")
    return int(head.split(" ", 2)[1]), head


def _session(server: Serving) -> str:
    body = json.dumps(INITIALIZE)
    accepted = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n"
    _, text = _raw(
        server,
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n{accepted}"
        f"Content-Length: {len(body)}\r\n\r\n{body}",
    )
    (line,) = [line for line in text.splitlines() if line.lower().startswith("mcp-session-id:")]
    return line.split(":", 1)[1].strip()


@pytest.mark.skipif(os.name != "posix", reason="no such lock")
def test_what_a_killed_server_left_goes_with_the_next_start_and_nothing_else_does(
    environ: dict[str, str], home: Path, agent_dir: Path
) -> None:
    argv, folder = [str(PERSONA), "mcp", "--http"], agent_dir / "persona-host"
    with serving(argv, environ, home) as killed:
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait(20)
    left = folder / f"mcp-{killed.port}.json"
    assert left.exists()
    (folder / "mcp-1.json").symlink_to(home)
    os.mkfifo(folder / "mcp-2.json")
    (folder / "mcp-3.json").mkdir()
    with serving(argv, environ, home) as living, serving(argv, environ, home) as second:
        assert not left.exists()
        kept = {folder / f"mcp-{each.port}.json" for each in (living, second)}
        assert {path for path in folder.glob("mcp-*.json") if path.is_file()} == kept
    assert set(folder.glob("mcp-*.json")) >= {folder / "mcp-1.json", folder / "mcp-3.json"}


@pytest.mark.skipif(os.name != "posix", reason="no such lock")
def test_a_stale_file_of_the_same_port_is_replaced_and_another_servers_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mcp-9.json").write_text("{}", encoding="utf-8")
    with keeping(tmp_path, 9, "http://first", "a"):
        with keeping(tmp_path, 9, "http://second", "b") as path:
            sweep(tmp_path)
            assert json.loads(path.read_bytes())["url"] == "http://second"
        assert not path.exists()
        path.write_text("mine", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "mine"


def _unfinished(folder: Path, effect: str) -> None:
    """Let a server be killed while it writes down its token."""
    code = (
        "import os, signal, sys; from pathlib import Path; from persona_host.adapters.mcp.kept import keeping\n"
        f"{effect} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with keeping(Path(sys.argv[1]), 9, 'http://one', 'secret'): pass"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(folder)], check=False)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="no such lock")
@pytest.mark.parametrize("effect", ["os.write", "Path.replace"])
def test_no_token_stays_of_a_server_that_was_killed_while_it_wrote_it_down(tmp_path: Path, effect: str) -> None:
    _unfinished(tmp_path, effect)
    (left,) = tmp_path.iterdir()
    assert ("secret" in left.read_text(encoding="utf-8")) == (effect == "Path.replace")
    (tmp_path / f"{left.name}.link").symlink_to(tmp_path)

    with keeping(tmp_path, 8, "http://two", "b") as path:
        there = {found.name for found in tmp_path.iterdir()} - {path.name, f"{left.name}.link"}

    assert there == ({left.name} if effect == "os.write" else set())


@pytest.mark.skipif(os.name != "posix", reason="no such lock")
@pytest.mark.parametrize(
    "effect", [(kept, "_locked"), (os, "write"), (Path, "replace")], ids=["lock", "write", "rename"]
)
def test_a_server_that_starts_takes_nothing_from_another_one_that_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effect: tuple[object, str]
) -> None:
    real, waiting = getattr(*effect), [None]

    def meanwhile(*arguments: object) -> object:
        if waiting:
            waiting.clear()
            sweep(tmp_path)
        return real(*arguments)

    monkeypatch.setattr(*effect, meanwhile)
    with keeping(tmp_path, 9, "http://one", "a") as path:
        sweep(tmp_path)
        assert json.loads(path.read_bytes())["url"] == "http://one"
    assert (waiting, list(tmp_path.iterdir())) == ([], [])


def test_no_child_keeps_the_lock_of_a_server_that_is_gone(tmp_path: Path) -> None:
    with keeping(tmp_path, 9, "http://one", "a") as path:
        child = subprocess.Popen(["sleep", "60"], close_fds=False)  # noqa: S607
    try:
        path.write_text("{}", encoding="utf-8")
        sweep(tmp_path)
        assert path.exists() == (os.name != "posix")
    finally:
        child.kill()
        child.wait()
