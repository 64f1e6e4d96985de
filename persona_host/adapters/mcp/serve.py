"""``persona mcp``: one session, for as long as the client keeps the stream open, or until a signal ends the server.

The SDK is heavy (a web framework comes with it), so it is imported when a server is really started.
"""

from __future__ import annotations

import secrets
import signal
import sys
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING

from persona_hooks.errors import RefusedError
from persona_hooks.journal import MemoryJournal
from persona_hooks.ports import Capabilities
from persona_hooks.speech import phrase
from persona_host import extras
from persona_host.adapters.ending import Signals, ending
from persona_host.headless import NoModels, StderrUi, SystemScheduler
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    Adopt = Callable[[Callable[[], Runtime] | None], None]
    Beside = Callable[[Adopt], AbstractContextManager[None]]

CAPABILITIES = Capabilities(branches=False, ui=False, models=False, injection=False, input=False, commands=False)
"""What MCP lacks: branches, a place to show things, a model to lend; and the conversation is the client's own."""


class Served:
    """Which runtime is served now: our own, or that of the session that another host has open in this process."""

    def __init__(self, own: Runtime) -> None:
        self._own = own
        self._adopted: Callable[[], Runtime] | None = None

    def adopt(self, current: Callable[[], Runtime] | None) -> None:
        """Serve this session from now on, so that one switch holds for hooks and tools; None goes back to our own."""
        self._adopted = current

    def __call__(self) -> Runtime:
        """Return it."""
        adopted = self._adopted
        return self._own if adopted is None else adopted()


def serve_mcp(
    *,
    agent_dir: Path,
    home: Path,
    cwd: Path,
    environ: Mapping[str, str],
    persona: str | None = None,
    session: str | None = None,
    port: int | None = None,
    plugins: Callable[[], Found] = entry_points,
    beside: Beside | None = None,
) -> int:
    """Serve an MCP client until it has gone, over standard input and output; return the process's exit code.

    Args:
        agent_dir: Where everything of ours is kept.
        home: The person's home directory.
        cwd: Where the person works; the project is found from here.
        environ: The environment, read once.
        persona: A persona for this session only.
        session: The session's id; a new one otherwise.
        port: Serve over HTTP on this port of the loopback interface instead, until a signal comes; 0 takes a free one.
        plugins: Where plugins come from.
        beside: What else this process does meanwhile over standard streams, unless a session or a persona of its own
            was asked for: it is given what makes the tools serve another session, and entered for as long.

    Raises:
        RefusedError: The SDK is not installed (``missing_extra``).
        StorageError: The port is in use, or its token cannot be kept.
    """
    if port is None:
        # A Ctrl-C at the terminal reaches the whole process group; it is the client's to decide what it ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup = Setup("mcp", agent_dir, home, environ, CAPABILITIES, plugins)
    runtime = Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler())
    session_id = session or f"mcp-{secrets.token_hex(8)}"
    runtime.open(MemoryJournal(session_id, cwd), session_id=session_id, cwd=cwd, persona=persona)
    served = Served(runtime)
    try:
        if port is not None:
            _http(served, agent_dir, port)
            return 0
        signals = Signals()
        signals.listen()
        asked = persona is not None or session is not None
        # Before the SDK, which takes longer to load than all of ours: Claude Code's hooks come at once.
        with nullcontext() if asked or beside is None else beside(served.adopt):
            failure = _stdio(served, signals)
    finally:
        with ending():
            runtime.close()
    if failure:
        sys.stderr.write(f"persona: {failure}\n")
    return 1 if failure else 0


def _stdio(served: Served, signals: Signals) -> str:
    with _sdk():
        from persona_host.adapters.mcp.server import run_stdio  # noqa: PLC0415 - brings the SDK with it
    return run_stdio(served, version("persona-mind"), signals)


def _http(served: Served, agent_dir: Path, port: int) -> None:
    with _sdk():
        from persona_host.adapters.mcp.http import run_http  # noqa: PLC0415 - a web server, beside the SDK
    run_http(served, version("persona-mind"), agent_dir, port)


@contextmanager
def _sdk() -> Iterator[None]:
    """Import what needs the SDK.

    Raises:
        RefusedError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("mcp", "anyio", "uvicorn")):
            raise
        raise RefusedError(
            phrase("MCP needs the extra mcp: {command}", command=extras.command("mcp")), reason="missing_extra"
        ) from None
