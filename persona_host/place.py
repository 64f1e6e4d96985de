"""Where a command works, as its options and the environment say: agent directory, working directory, session."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_hooks.switches import is_set
from persona_host.headless import agent_dir_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Place:
    """What every command's common options come to.

    Attributes:
        agent_dir: Where everything of ours is kept; it may not exist yet.
        cwd: Where the person works, absolute, links followed.
        home: The person's home directory.
        environ: The environment, read once.
        persona: The persona asked for, or None for the remembered choice.
        session: The session asked for by id, or None.
        role: Which of the persona's layers are seen; empty for its own default.
    """

    agent_dir: Path
    cwd: Path
    home: Path
    environ: Mapping[str, str]
    persona: str | None = None
    session: str | None = None
    role: str = ""

    @property
    def disabled(self) -> bool:
        """Whether the environment turns the companion off; then this host writes nothing at all."""
        # Anything but a plain no, as the companion itself reads it: off must mean off for both.
        return is_set(self.environ.get("PI_PERSONA_DISABLE"))


def place(
    *,
    agent_dir: str | None = None,
    cwd: str | None = None,
    persona: str | None = None,
    session: str | None = None,
    role: str = "",
) -> Place:
    """Return the place that options name, in this process's environment.

    Raises:
        InvalidError: The working directory does not exist or may not be entered, or the agent directory cannot be one.
    """
    try:
        home = Path.home()
        working = Path(cwd or os.curdir).expanduser()
        if not _is_directory(working):
            raise InvalidError(
                phrase("--cwd: there is no directory {path}.", path=working), field="cwd", path=str(working)
            )
        environ = dict(os.environ)
        chosen = agent_dir_of(environ, home, agent_dir)
        _check(chosen)
        return Place(chosen, working.resolve(), home, environ, persona, session, role)
    except RuntimeError:
        raise InvalidError(phrase("Nobody here has that home directory; name another one."), field="home") from None
    except FileNotFoundError:
        # What is relative begins in the directory that this process was started in.
        raise InvalidError(phrase("The working directory was removed. Go to another one."), field="cwd") from None


def _is_directory(path: Path) -> bool:
    """Return whether a path names a directory; of one that may not be entered, nobody can tell."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        raise InvalidError(
            phrase("The working directory may not be entered. Go to another one."), field="cwd"
        ) from None
    except OSError:
        return False


def _check(agent_dir: Path) -> None:
    """Refuse an agent directory that is none, or that nobody could make."""
    there = next(path for path in (agent_dir, *agent_dir.parents) if os.path.lexists(path))
    if not os.path.isdir(there):  # noqa: PTH112 - Path's raise where a link leads to what may not be entered
        what = phrase(
            "The agent directory cannot be {agent_dir}: {there} is no directory.", agent_dir=agent_dir, there=there
        )
        if os.path.isfile(there):  # noqa: PTH113 - as above
            what = phrase(
                "The agent directory cannot be {agent_dir}: {there} is a file.", agent_dir=agent_dir, there=there
            )
        raise InvalidError(
            what,
            field="agent_dir",
            path=str(there),
        )
    if there != agent_dir and not os.access(there, os.W_OK | os.X_OK):
        raise InvalidError(
            phrase(
                "The agent directory {agent_dir} does not exist, and {there} may not be written to.",
                agent_dir=agent_dir,
                there=there,
            ),
            field="agent_dir",
            path=str(agent_dir),
        )
