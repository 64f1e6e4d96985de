"""``persona install HOST`` and ``persona uninstall HOST``: no host is called, nothing outside of home is written."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.errors import NotFoundError, RefusedError
from persona_hooks.speech import phrase, say
from persona_host import extras
from persona_host.adapters.folder import Done, put, take_away

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_host.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Target:
    """Where to install.

    Attributes:
        agent_dir: Pi's agent directory, and ours.
        environ: The environment; ``PATH`` says which hosts are there.
        runtime: Starts the plugins, with no session open: they say what the host is offered.
        python: The interpreter that has this package, by its absolute path.
        home: The person's home directory.
    """

    agent_dir: Path
    environ: Mapping[str, str]
    runtime: Callable[[], Runtime]
    python: Path = Path(sys.executable)
    home: Path = field(default_factory=Path.home)

    @property
    def program(self) -> list[str]:
        """The words that run ``persona``: its script beside the interpreter, or the module where there is none."""
        script = self.python.with_name("persona")
        return [str(script)] if script.is_file() else [str(self.python), "-P", "-m", "persona_host.cli"]


def install(host: str, target: Target) -> Card:
    """Install our side of ``host`` and return what was done, in words.

    Raises:
        NotFoundError: There is no host of that name.
        ConflictError: A file in the way is not ours.
    """
    return _known(host).install(target)


def uninstall(host: str, target: Target) -> Card:
    """Take our side of ``host`` away and return what was done, in words.

    Raises:
        NotFoundError: There is no host of that name.
    """
    return _known(host).uninstall(target)


def folder_of(host: str, target: Target) -> Path:
    """Return the folder of a host that ours is installed into.

    Raises:
        LookupError: Nothing is installed into a folder for that host.
        RefusedError: It lies outside of home.
    """
    return {"pi": _pi_folder, "claude-code": _claude_folder}[host](target)


@dataclass(frozen=True, slots=True)
class _Host:
    install: Callable[[Target], Card]
    uninstall: Callable[[Target], Card]


def _known(host: str) -> _Host:
    try:
        return _HOSTS[host]
    except KeyError:
        raise NotFoundError(
            phrase("There is no such host. Known here: {known}.", known=", ".join(_HOSTS)), reason="unknown_host"
        ) from None


def _pi_folder(target: Target) -> Path:
    return target.agent_dir / "extensions" / "persona-mind"


def _install_pi(target: Target) -> Card:
    from persona_host.adapters.pi.files import installation  # noqa: PLC0415 - reads the bundle

    folder = _pi_folder(target)
    done = put(folder, installation(target.runtime(), target.python))
    absent = shutil.which("pi", path=target.environ.get("PATH", "")) is None
    return Card(
        say("The Pi extension is installed.")
        if done.changed
        else say("The Pi extension was installed already, and is current."),
        body=(str(folder), *((say("Pi was not found on the path; it loads this when it starts."),) if absent else ())),
        level="success",
        hint=say("Start pi anew, or type /reload in it; /mind then answers."),
    )


def _uninstall_pi(target: Target) -> Card:
    return _taken_away(say("The Pi extension"), take_away(_pi_folder(target)))


def _taken_away(what: str, done: Done) -> Card:
    if not done.changed:
        return Card(say("{what} is not installed; nothing was changed.", what=what))
    left = tuple(say("left, since it was changed: {path}", path=path) for path in done.left)
    title = say("{what} was removed. Memory itself was left alone.", what=what)
    return Card(title, body=left, level="warning" if left else "success")


def _claude_folder(target: Target) -> Path:
    """Return where Claude Code loads a plugin from by itself: a folder among the person's skills that has a manifest.

    Raises:
        RefusedError: Its configuration lies outside of home.
    """
    chosen = target.environ.get("CLAUDE_CONFIG_DIR") or str(target.home / ".claude")
    config = Path(os.path.abspath(target.home / chosen))  # noqa: PTH100 - a link is named as the person names it
    if not config.is_relative_to(target.home) and not config.is_relative_to(target.agent_dir):
        raise RefusedError(
            phrase("CLAUDE_CONFIG_DIR is {path}, outside of home; nothing is written there.", path=config),
            reason="outside_home",
            path=str(config),
        )
    return config / "skills" / "persona-mind"


def _install_claude_code(target: Target) -> Card:
    from persona_host.adapters.claude_code.files import installation  # noqa: PLC0415 - reads the bundle

    folder = _claude_folder(target)
    done = put(folder, installation(target.runtime().registry, target.program))
    absent = shutil.which("claude", path=target.environ.get("PATH", "")) is None
    lacking = extras.missing("mcp")
    notes = [
        *([say("Claude Code was not found on the path; it loads this when it starts.")] if absent else []),
        *(
            [say("Claude gets no tools yet: the extra mcp is not installed. {command}", command=extras.command("mcp"))]
            if lacking
            else []
        ),
    ]
    return Card(
        say("The Claude Code plugin is installed.")
        if done.changed
        else say("The Claude Code plugin was installed already, and is current."),
        body=(str(folder), *notes),
        level="warning" if lacking else "success",
        hint=say("Start claude anew, or type /reload-plugins in it; /persona:mind then answers."),
    )


def _uninstall_claude_code(target: Target) -> Card:
    return _taken_away(say("The Claude Code plugin"), take_away(_claude_folder(target)))


def _install_mcp(target: Target) -> Card:
    # Every client keeps its settings elsewhere, and they are the person's: the lines are shown, not written.
    server = {"command": str(target.python), "args": ["-P", "-m", "persona_host.cli", "mcp"]}
    lines = json.dumps({"mcpServers": {"persona-mind": server}}, indent=2).split("\n")
    lacking = extras.missing("mcp")
    return Card(
        say("Add this to the MCP client's settings; nothing was written."),
        body=tuple(lines),
        level="warning" if lacking else "info",
        hint=say("It does not start yet: the extra mcp is not installed. {command}", command=extras.command("mcp"))
        if lacking
        else "",
    )


def _uninstall_mcp(_: Target) -> Card:
    return Card(say('Take "persona-mind" out of the MCP client\'s settings; nothing was changed.'))


_HOSTS: Mapping[str, _Host] = {
    "pi": _Host(_install_pi, _uninstall_pi),
    "mcp": _Host(_install_mcp, _uninstall_mcp),
    "claude-code": _Host(_install_claude_code, _uninstall_claude_code),
}
