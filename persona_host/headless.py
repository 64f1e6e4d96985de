"""Ports for doors without a person at a terminal, and the runtime they share."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.cards import one_line
from persona_hooks.errors import RefusedError
from persona_hooks.ports import Capabilities
from persona_hooks.speech import phrase
from persona_host.runtime import Runtime, Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_hooks.cards import Level
    from persona_hooks.ports import Completed, Completion, Handle


class StderrUi:
    """Notices go to standard error, so that standard output stays the answer; a status line there is none."""

    def notify(self, text: str, level: Level = "info") -> None:
        """Print one line."""
        prefix = "" if level in {"info", "success"} else f"{level}: "
        sys.stderr.write(f"{prefix}{one_line(text)}\n")

    def status(self, key: str, text: str | None) -> None:
        """Drop it: there is no status line here."""


class SystemScheduler:
    """The system's clocks, and timers on daemon threads."""

    def now(self) -> datetime:
        """Return the wall clock's time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds on a clock that never jumps."""
        return time.monotonic()

    def call_later(self, seconds: float, action: Callable[[], None]) -> Handle:
        """Run ``action`` once after ``seconds``, in the caller's context; a pending timer does not keep the process."""
        timer = threading.Timer(seconds, copy_context().run, (action,))
        timer.daemon = True
        timer.start()
        return timer


class NoModels:
    """A door that has no model to lend."""

    def complete(self, request: Completion) -> Completed:
        """Refuse."""
        del request
        raise RefusedError(phrase("This host has no model to lend."), reason="no_model")


def agent_dir_of(environ: Mapping[str, str], home: Path, option: str | None = None) -> Path:
    """Return the agent directory: the option, ``PI_AGENT_DIR``, ``PI_CODING_AGENT_DIR``, else ``~/.pi/agent``."""
    chosen = option or environ.get("PI_AGENT_DIR") or environ.get("PI_CODING_AGENT_DIR")
    if not chosen:
        return home / ".pi" / "agent"
    # "~" reaches us unexpanded from settings files and from shells that quote it.
    path = home / chosen[2:] if chosen.startswith("~/") else Path(chosen)
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow a link that commands should name


def headless_runtime(
    *,
    agent_dir: Path,
    home: Path,
    environ: Mapping[str, str],
    name: str = "cli",
    capabilities: Capabilities | None = None,
) -> Runtime:
    """Return a started runtime with headless ports; nothing is created on disk."""
    lacking = Capabilities(models=False, scheduler=False, ui=False)
    setup = Setup(name, agent_dir, home, environ, capabilities or lacking)
    return Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler())
