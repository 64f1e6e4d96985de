"""A hook and the MCP server of the same Claude Code: asked where it is there, done without where it is not or hangs."""

from __future__ import annotations

import os
import signal
import socket
import stat
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from persona_host.adapters.claude_code import asking, rendezvous
from persona_host.adapters.claude_code.conversation import Whose
from persona_host.adapters.claude_code.listening import CONNECTIONS, MOST, Desk
from persona_host.adapters.claude_code.payload import Event
from persona_host.loading import Found, entry_points
from tests.support.claude_code import ClaudeCode, until
from tests.support.cli import PERSONA, Persona

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from persona_host.runtime import Runtime

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the socket is a POSIX one")

FACT = "the staging database listens on port 5433."
QUESTION = "Which port does the staging database use?"


@pytest.fixture
def claude(environ: dict[str, str], home: Path) -> Iterator[ClaudeCode]:
    """A Claude Code whose agent directory has a path that is short enough for a socket's."""
    project = home / "project"
    project.mkdir()
    with tempfile.TemporaryDirectory() as short:
        yield ClaudeCode({**environ, "PI_AGENT_DIR": f"{short}/a"}, project)


@contextmanager
def impostor(claude: ClaudeCode, serve: Callable[[socket.socket], None]) -> Iterator[list[int]]:
    """Listen where the server would, and do ``serve`` with each connection; yield how many there were."""
    claude.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    claude.folder.mkdir(mode=0o700, exist_ok=True)
    claude.socket.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(claude.socket))
    listening.listen(8)
    came: list[int] = []

    def accept() -> None:
        while True:
            try:
                link, _ = listening.accept()
            except OSError:
                return
            came.append(1)
            with link, suppress(OSError):  # the hook has given up: that is what these tests are about
                serve(link)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield came
    finally:
        # Closing alone does not wake a thread that accepts.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)
        claude.socket.unlink(missing_ok=True)


def hang(link: socket.socket) -> None:
    link.settimeout(20)
    while link.recv(1 << 16):
        pass


def ready_and_gone(link: socket.socket) -> None:
    rendezvous.receive(link, time.monotonic() + 20)
    rendezvous.send(link, rendezvous.READY)
    rendezvous.receive(link, time.monotonic() + 20)
    rendezvous.receive(link, time.monotonic() + 20)


def half_an_answer(link: socket.socket) -> None:
    ready_and_gone(link)
    link.sendall((100).to_bytes(4, "big") + b'{"hookSpecific')


def nonsense(link: socket.socket) -> None:
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")


def endless(link: socket.socket) -> None:
    link.sendall((2**32 - 1).to_bytes(4, "big"))


def test_a_running_server_answers_as_the_hook_alone_does(claude: ClaudeCode) -> None:
    with claude.server():
        claude.hook("SessionStart")
        done = claude.say(f"Remember that {FACT}")
        assert "Remembered 1 fact" in done.shown
        assert "5433" in claude.say(QUESTION).context
        assert claude.say("/mind").json["decision"] == "block"
        assert claude.hook("PreCompact").json == {}
        assert claude.hook("SessionEnd").json == {}
    (row,) = claude.remembered()
    assert (row["text"], row["host"]) == (FACT, "claude-code")


def test_the_server_is_really_asked(claude: ClaudeCode, monkeypatch: pytest.MonkeyPatch) -> None:
    with claude.server():
        monkeypatch.chdir(claude.project)
        data = b"{}"
        monkeypatch.setattr(os, "getppid", os.getpid)
        found = asking.ask("UserPromptSubmit", data, claude.env)
        assert found is not None
        assert found[0] == b""
        assert b"UserPromptSubmit: hook_event_name" in found[1]
        assert asking.ask("UserPromptSubmit", data, {**claude.env, "PI_PERSONA_LEG": "1"}) is None
    assert asking.ask("UserPromptSubmit", data, claude.env) is None


def test_the_socket_and_its_directory_are_closed_to_others_and_go_with_the_server(claude: ClaudeCode) -> None:
    with claude.server():
        assert stat.S_IMODE(claude.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(claude.socket.stat().st_mode) == 0o700
        assert len(os.fsencode(claude.socket)) <= 103
    assert not claude.agent_dir.exists()


def test_an_agent_directory_with_a_long_path_is_served_from_another_place(
    environ: dict[str, str], claude: ClaudeCode, agent_dir: Path
) -> None:
    far = replace(claude, environ={**environ, "PI_AGENT_DIR": str(agent_dir / ("x" * 80))})
    assert not far.folder.is_relative_to(far.agent_dir)
    with far.server():
        assert len(os.fsencode(far.socket)) <= 103
        assert "Remembered" in far.say(f"Remember that {FACT}").shown
    assert not far.socket.exists()


def test_a_socket_of_an_ended_server_is_swept_away_by_the_next(claude: ClaudeCode) -> None:
    with claude.server() as process:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        assert claude.socket.exists()
        started = time.monotonic()
        assert "Remembered" in claude.say(f"Remember that {FACT}").shown
        assert time.monotonic() - started < 30
    stale = claude.socket.with_name(rendezvous.name(b"another", 1))
    claude.socket.rename(stale)
    with claude.server():
        assert not stale.exists()
        assert "5433" in claude.say(QUESTION).context


@pytest.mark.parametrize(
    "serve", [hang, nonsense, endless, lambda _: None], ids=["hung", "nonsense", "endless", "gone"]
)
def test_a_server_that_does_not_take_the_request_is_done_without_and_nothing_is_done_twice(
    claude: ClaudeCode,
    serve: Callable[[socket.socket], None],
) -> None:
    with impostor(claude, serve) as came:
        done = claude.say(f"Remember that {FACT}")
        assert "Remembered 1 fact" in done.shown
        assert claude.say("/mind recall port").json["decision"] == "block"
        assert len(came) == 2
    assert len(claude.remembered()) == 1


@pytest.mark.parametrize("serve", [ready_and_gone, half_an_answer])
def test_a_server_that_dies_amid_its_answer_costs_neither_memory_nor_injection(
    claude: ClaudeCode,
    serve: Callable[[socket.socket], None],
) -> None:
    with impostor(claude, serve):
        done = claude.say(f"Remember that {FACT}")
    assert (done.code, done.err) == (0, "")
    assert FACT in done.context
    assert len(claude.remembered()) == 1


def test_a_command_that_a_dying_server_took_is_not_repeated_by_itself(claude: ClaudeCode) -> None:
    took: list[int] = []

    def die(link: socket.socket) -> None:
        ready_and_gone(link)
        took.append(1)

    for number in range(20):
        claude.say(f"Remember that {FACT} {number}")
        row = claude.remembered()[-1]
        with impostor(claude, die):
            done = claude.say(f"/mind forget {row['id']}")
        if took:
            break
        # A busy machine: the server was ready later than a prompt waits, and so it took nothing.
        assert row not in claude.remembered()
    assert took
    assert done.json["decision"] == "block"
    assert "may or may not have been done" in done.json["reason"]
    assert row in claude.remembered()


@pytest.mark.parametrize("spoil", ["open to others", "a link", "a file"])
def test_a_place_that_others_could_have_made_is_not_trusted(claude: ClaudeCode, spoil: str) -> None:
    with impostor(claude, ready_and_gone) as came:
        if spoil == "open to others":
            claude.folder.chmod(0o777)
        elif spoil == "a link":
            real = claude.folder.with_name("elsewhere")
            claude.folder.rename(real)
            claude.folder.symlink_to(real)
        else:
            claude.socket.unlink()
            claude.socket.write_bytes(b"")
        assert "Remembered" in claude.say(f"Remember that {FACT}").shown
        assert came == []
        if claude.folder.is_symlink():
            claude.folder.unlink()
            claude.folder.with_name("elsewhere").rename(claude.folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", ["folder", "socket"])
def test_what_belongs_to_another_user_is_not_asked(claude: ClaudeCode, what: str) -> None:
    with impostor(claude, ready_and_gone) as came:
        os.chown(getattr(claude, what), 12_345, 12_345)
        assert "Remembered" in claude.say(f"Remember that {FACT}").shown
        assert came == []
        os.chown(getattr(claude, what), 0, 0)


def test_a_server_of_another_mind_is_not_asked(claude: ClaudeCode) -> None:
    leg = replace(claude, session="leg", more={"PI_PERSONA_LEG": "1"})
    with claude.server():
        claude.say(f"Remember that {FACT}")
        leg.say("Remember that the cat is called Ada.")
        assert len(claude.remembered()) == 1


def test_two_sessions_of_one_server_have_switches_of_their_own(claude: ClaudeCode) -> None:
    other = replace(claude, session="other")
    with claude.server():
        claude.say(f"Remember that {FACT}")
        claude.say("/mind off")
        assert claude.say(QUESTION).context == ""
        assert "5433" in other.say(QUESTION).context
    assert claude.say(QUESTION).context == ""


def test_what_a_hook_alone_switches_off_is_off_in_the_server_at_once(claude: ClaudeCode) -> None:
    claude.say(f"Remember that {FACT}")
    with claude.server():
        assert "5433" in claude.say(QUESTION).context
        away = claude.socket.with_suffix(".away")
        claude.socket.rename(away)
        claude.say("/mind off")
        away.rename(claude.socket)
        assert claude.say(QUESTION).context == ""


def test_with_the_companion_off_the_server_opens_no_socket(claude: ClaudeCode, home: Path) -> None:
    off = replace(claude, more={"PI_PERSONA_DISABLE": "1"})
    with off.server("--role", "any"):
        time.sleep(1.5)
        assert not off.socket.exists()
    assert sorted(path.name for path in home.iterdir()) == ["project"]


def test_a_switch_in_the_conversation_holds_for_the_tools_of_its_server(claude: ClaudeCode, home: Path) -> None:
    async def body() -> None:
        server = StdioServerParameters(command=str(PERSONA), args=["mcp"], env=claude.env, cwd=str(claude.project))
        with anyio.fail_after(80), (home / "errors").open("w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errors)) as client:
                assert (await client.list_tools()).tools
                await anyio.to_thread.run_sync(lambda: claude.say("/mind off"))
                assert (await client.list_tools()).tools == []
                await anyio.to_thread.run_sync(lambda: claude.say("/mind on"))
                saved = await client.call_tool("memory", {"action": "remember", "kind": "note", "text": "Tea at five."})
                assert not saved.is_error
                await anyio.to_thread.run_sync(lambda: claude.hook("SessionEnd"))
                assert (await client.list_tools()).tools

    anyio.run(body)
    (row,) = claude.remembered()
    assert (row["text"], row["origin"], row["host"]) == ("Tea at five.", "model", "claude-code")


def test_other_servers_of_the_same_mind_are_asked_where_ones_own_is_not_there(claude: ClaudeCode) -> None:
    with claude.server():
        other = claude.folder / rendezvous.name(rendezvous.identity(rendezvous.agent_dir(claude.env), claude.env), 1)
        claude.socket.rename(other)
        try:
            until(other.exists)
            assert "Remembered" in claude.say(f"Remember that {FACT}").shown
            assert "5433" in Persona(claude.environ, claude.project)("inject", "--prompt", QUESTION).out
        finally:
            other.rename(claude.socket)


def test_one_switch_holds_for_hooks_and_tools_however_many_sessions_come(claude: ClaudeCode) -> None:
    whose = Whose(claude.agent_dir, claude.project, claude.env)
    adopted: list[Callable[[], Runtime] | None] = []
    desk = Desk(whose, entry_points, adopted.append)

    def event(session: str) -> Event:
        return Event("UserPromptSubmit", session, claude.project, "/mind off", settled=True)

    try:
        desk.answer(event("own"), own=True)
        for number in range(MOST + 1):
            desk.answer(event(f"other-{number}"), own=False)
        (current,) = adopted
        assert current is not None
        assert "off" in current().off()
    finally:
        desk.close()


def test_a_session_that_is_just_being_closed_is_opened_anew(claude: ClaudeCode) -> None:
    desk = Desk(Whose(claude.agent_dir, claude.project, claude.env), entry_points, lambda _: None)
    said = Event("UserPromptSubmit", "s", claude.project, f"Remember that {FACT}", settled=True)
    try:
        ends = [desk.answer(said._replace(name="SessionEnd", prompt=""), own=False)[1] for _ in range(2)]
        ends[0]()
        output, _ = desk.answer(said, own=False)
        ends[1]()  # of the conversation that was closed, not of the one that is open now
        assert "Remembered 1 fact" in str(output["systemMessage"])
        conversation = desk._conversation(said, own=False)
        conversation.close()
        assert "additionalContext" in str(desk.answer(said._replace(prompt=QUESTION), own=False)[0])
    finally:
        desk.close()


def test_sessions_open_beside_one_another(claude: ClaudeCode) -> None:
    slow, quick = threading.Event(), threading.Event()

    def plugins() -> Found:
        if threading.current_thread().name == "slow":
            slow.set()
            assert quick.wait(30)
        return entry_points()

    desk = Desk(Whose(claude.agent_dir, claude.project, claude.env), plugins, lambda _: None)
    said = Event("UserPromptSubmit", "s", claude.project, "Hello.", settled=True)
    thread = threading.Thread(target=lambda: desk.answer(said, own=False), name="slow")
    thread.start()
    try:
        assert slow.wait(30)
        desk.answer(said._replace(session_id="t"), own=False)
    finally:
        quick.set()
        thread.join()
        desk.close()


def drips(link: socket.socket) -> None:
    for byte in (5).to_bytes(4, "big") + rendezvous.READY:
        link.sendall(bytes([byte]))
        time.sleep(0.04)


def test_a_server_that_says_a_little_at_a_time_has_no_more_time_for_it(claude: ClaudeCode) -> None:
    with impostor(claude, drips), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(str(claude.socket))
        with pytest.raises(TimeoutError):
            rendezvous.receive(link, time.monotonic() + 0.1)


def strange(link: socket.socket) -> None:
    ready_and_gone(link)
    rendezvous.send(link, b"hello\n", b"\x1b[2Jerased")


def test_what_is_no_answer_of_ours_is_not_passed_on(claude: ClaudeCode) -> None:
    with impostor(claude, strange):
        done = claude.say(QUESTION)
    assert (done.code, done.err) == (0, "")
    assert b"hello" not in done.out


def complains(link: socket.socket) -> None:
    ready_and_gone(link)
    rendezvous.send(link, b"", b"\x1b[2Jerased")


def test_what_would_clear_a_terminal_is_not_printed(claude: ClaudeCode) -> None:
    with impostor(claude, complains):
        assert claude.say(QUESTION).err == "persona: ?[2Jerased\n"


def test_a_sessions_end_that_a_server_took_is_not_repeated(claude: ClaudeCode) -> None:
    with impostor(claude, ready_and_gone):
        done = claude.hook("SessionEnd")
    assert (done.code, done.out, done.err) == (0, b"", "")


def test_sockets_that_were_left_behind_do_not_hide_one_that_is_served(claude: ClaudeCode) -> None:
    with claude.server():
        who = rendezvous.identity(rendezvous.agent_dir(claude.env), claude.env)
        # Numbers that no process has: the parent's own is asked alone, and an orphan's parent is number 1.
        for number in range(1, 9):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
                left.bind(str(claude.folder / rendezvous.name(who, 2**22 + number)))
        other = claude.folder / rendezvous.name(who, 2**22 + 9)
        claude.socket.rename(other)
        try:
            found = asking.ask("UserPromptSubmit", b"{}", claude.env)
            assert found is not None
        finally:
            other.rename(claude.socket)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody can be left without descriptors there")
def test_a_server_that_had_nothing_left_for_a_connection_answers_again(claude: ClaudeCode) -> None:
    with claude.server() as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"{}\n")
        server.stdin.flush()
        assert server.stdout.readline()  # all that it loads is loaded
        limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (8, limits[1]))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.connect(str(claude.socket))
            link.settimeout(1)
            with suppress(TimeoutError):
                assert link.recv(1) == b""
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
        until(lambda: greeted(claude))


def test_a_hook_is_answered_once_connections_that_say_nothing_have_gone(claude: ClaudeCode) -> None:
    with claude.server(), ExitStack() as held:
        for _ in range(CONNECTIONS + 10):
            link = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            link.connect(str(claude.socket))
        held.close()
        until(lambda: greeted(claude))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_is_told_to_end_takes_its_socket_along(claude: ClaudeCode, how: signal.Signals) -> None:
    with claude.server() as server:
        server.send_signal(how)
        assert server.wait(20) == 0
        assert not claude.socket.exists()


def greeted(claude: ClaudeCode) -> bool:
    """Return whether the server says that it is ready."""
    who = rendezvous.identity(rendezvous.agent_dir(claude.environ), claude.env)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(2)
        try:
            link.connect(str(claude.socket))
            rendezvous.send(link, who)
            return rendezvous.receive(link, time.monotonic() + 2) == rendezvous.READY
        except OSError:
            return False
