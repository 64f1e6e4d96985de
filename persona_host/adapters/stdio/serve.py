"""``persona stdio``: take the standard streams, serve until the host closes them, leave nothing behind."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from persona_hooks.errors import CapacityError
from persona_host.adapters.ending import DRAIN, ending
from persona_host.adapters.stdio.peer import Peer
from persona_host.adapters.stdio.service import Service
from persona_host.adapters.stdio.wire import Wire
from persona_host.adapters.streams import take_standard_streams
from persona_host.headless import SystemScheduler
from persona_host.loading import Found, entry_points
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from persona_hooks.ports import Capabilities, Models, Ui


def serve_stdio(
    *,
    agent_dir: Path,
    home: Path,
    environ: Mapping[str, str],
    persona: str | None = None,
    role: str = "",
    plugins: Callable[[], Found] = entry_points,
) -> int:
    """Serve one session of a foreign host over standard input and output; return the process's exit code.

    Args:
        agent_dir: Where everything of ours is kept.
        home: The person's home directory.
        environ: The environment, read once.
        persona: A persona for this session only, where the host does not name one.
        role: Which of its layers are seen, likewise.
        plugins: Where plugins come from.
    """
    # A Ctrl-C at the terminal reaches the whole process group; it is the host's to decide what it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def make_runtime(name: str, capabilities: Capabilities, ui: Ui, models: Models) -> Runtime:
        setup = Setup(name, agent_dir, home, environ, capabilities, plugins)
        return Runtime.start(setup, ui=ui, models=models, scheduler=SystemScheduler())

    wire = Wire(*take_standard_streams())
    peer = Peer(wire)
    service = Service(peer, make_runtime, release=version("persona-mind"), persona=persona, role=role)
    said = ""
    try:
        peer.run()
    except CapacityError as error:
        said = error.message
    finally:
        with ending():
            peer.drain(DRAIN / 2)
            service.close()
    said = said or wire.failure
    if said:
        sys.stderr.write(f"persona: {said}\n")
    return 1 if said else 0
