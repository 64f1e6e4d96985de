"""A host in a process of its own: it opens a session, waits for reminders and tells each on standard output."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from persona_companion.plugin import CompanionPlugin
from persona_hooks.journal import MemoryJournal
from persona_host.headless import NoModels, SystemScheduler
from persona_host.runtime import Runtime, Setup
from persona_mind.plugin import MindPlugin

if TYPE_CHECKING:
    from persona_hooks.cards import Level


class _Telling:
    def notify(self, text: str, level: Level = "info") -> None:
        sys.stdout.write(f"{level} {text}\n")
        sys.stdout.flush()

    def status(self, key: str, text: str | None) -> None:
        del key, text


def main(home: str, project: str, session_id: str) -> None:
    """Run until standard input ends; each line on it is a text that is queued, due at once."""
    agent_dir = Path(home) / ".pi" / "agent"
    plugins = [("persona_companion", lambda: CompanionPlugin), ("persona_mind", lambda: MindPlugin)]
    setup = Setup("child", agent_dir, Path(home), {}, plugins=lambda: plugins)
    runtime = Runtime.start(setup, ui=_Telling(), models=NoModels(), scheduler=SystemScheduler())
    cwd = Path(project)
    runtime.open(MemoryJournal(session_id, cwd), session_id=session_id, cwd=cwd)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        # Each line that comes in is answered, so that a test need not wait by the clock.
        answer = runtime.tool("backlog", {"action": "add", "text": line.strip(), "due": 0.0001}, origin="user")
        sys.stdout.write(f"added {answer.ok}\n")
        sys.stdout.flush()
    runtime.close()
    alive = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    if alive:
        raise SystemExit(f"threads are left: {alive}")


if __name__ == "__main__":
    main(*sys.argv[1:])
