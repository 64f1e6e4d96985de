"""``persona install HOST`` and ``persona uninstall HOST``: no host is called, nothing outside of home is written."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from persona_hooks.cards import Card
from persona_hooks.errors import NotFoundError, RefusedError
from persona_hooks.speech import marked, phrase, say
from persona_host import extras
from persona_host.adapters.folder import put, take_away

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_hooks.errors import Changed
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


class Told(NamedTuple):
    """What was done.

    Attributes:
        card: In words.
        changed: Whether anything was written or removed.
    """

    card: Card
    changed: Changed


def install(host: str, target: Target) -> Told:
    """Install our side of ``host`` and return what was done.

    Raises:
        NotFoundError: There is no host of that name.
        RefusedError: The host's folder lies outside of home.
        ConflictError: Something in the way is not ours.
        StorageError: The file system refused.
    """
    return _known(host).install(target)


def uninstall(host: str, target: Target) -> Told:
    """Take our side of ``host`` away and return what was done.

    Raises:
        NotFoundError: There is no host of that name.
        RefusedError: The host's folder lies outside of home.
        ConflictError: Something in the folder is not ours, so that what is cannot be told.
        StorageError: The file system refused.
    """
    return _known(host).uninstall(target)


def folder_of(host: str, target: Target) -> Path:
    """Return the folder of a host that ours is installed into.

    Raises:
        LookupError: Nothing is installed into a folder for that host.
        RefusedError: It lies outside of home.
    """
    known = _HOSTS[host]
    if isinstance(known, _InFolder):
        return known.place(target)
    raise LookupError(host)


class _Host(Protocol):
    def install(self, target: Target, /) -> Told: ...

    def uninstall(self, target: Target, /) -> Told: ...


def _known(host: str) -> _Host:
    try:
        return _HOSTS[host]
    except KeyError:
        raise NotFoundError(
            phrase("There is no such host. Known here: {known}.", known=", ".join(_HOSTS)), reason="unknown_host"
        ) from None


@dataclass(frozen=True, slots=True)
class _InFolder:
    """A host that loads a folder of ours.

    Attributes:
        program: The host's program, as it is found on the path.
        folder: Where the folder lies.
        files: What stands in it.
        what: What it is to the host.
        installed: What is said once it is there.
        current: What is said where it was there.
        absent: What is said where the program is not.
        hint: What the person does next; ``command`` is typed there, so that it is not respelled for here.
        command: The command that then answers.
        lacking: What is said where the extra for MCP is not installed; empty where none is needed.
    """

    program: str
    folder: Callable[[Target], Path]
    files: Callable[[Target], dict[str, str]]
    what: str
    installed: str
    current: str
    absent: str
    hint: str
    command: str
    lacking: str = ""

    def place(self, target: Target) -> Path:
        """Return the folder, as the person names it.

        Raises:
            RefusedError: It lies outside of home and of the agent directory, or a link on the way leads there.
        """
        folder = self.folder(target)
        real = Path(os.path.realpath(folder))  # a loop of links is told of where it is met
        if not any(real.is_relative_to(os.path.realpath(root)) for root in (target.home, target.agent_dir)):
            raise RefusedError(
                phrase("{path} lies outside of home; nothing is written there.", path=real),
                reason="outside_home",
                path=str(real),
            )
        return folder

    def install(self, target: Target, /) -> Told:
        """Put the folder there."""
        folder = self.place(target)
        done = put(folder, self.files(target))
        absent = shutil.which(self.program, path=target.environ.get("PATH", "")) is None
        lacking = self.lacking and extras.missing("mcp")
        body = [
            str(folder),
            *([say(self.absent)] if absent else []),
            *([say(self.lacking, command=extras.command("mcp"))] if lacking else []),
        ]
        title = say(self.installed if done.changed else self.current)
        hint = say(self.hint, command=self.command)
        card = Card(title, tuple(body), level="warning" if lacking else "success", hint=hint)
        return Told(card, "yes" if done.changed else "no")

    def uninstall(self, target: Target, /) -> Told:
        """Take it away."""
        done = take_away(self.place(target))
        what = say(self.what)
        left = tuple(say("left, since it was changed: {path}", path=path) for path in done.left)
        if not done.changed and not left:
            return Told(Card(say("{what} is not installed; nothing was changed.", what=what)), "no")
        title = say("{what} was removed. Memory itself was left alone.", what=what)
        return Told(Card(title, body=left, level="warning" if left else "success"), "yes" if done.changed else "no")


class _BySettings:
    """A client that starts our server. Its settings are the person's, and lie elsewhere in each: nothing is written."""

    def install(self, target: Target, /) -> Told:
        """Show the lines."""
        server = {"command": str(target.python), "args": ["-P", "-m", "persona_host.cli", "mcp"]}
        lines = json.dumps({"mcpServers": {"persona-mind": server}}, indent=2).split("\n")
        lacking = extras.missing("mcp")
        card = Card(
            say("Add this to the MCP client's settings; nothing was written."),
            body=tuple(lines),
            level="warning" if lacking else "info",
            hint=say("It does not start yet: the extra mcp is not installed. {command}", command=extras.command("mcp"))
            if lacking
            else "",
        )
        return Told(card, "no")

    def uninstall(self, _: Target, /) -> Told:
        """Say what to take out."""
        return Told(Card(say('Take "persona-mind" out of the MCP client\'s settings; nothing was changed.')), "no")


def _pi_folder(target: Target) -> Path:
    return target.agent_dir / "extensions" / "persona-mind"


def _pi_files(target: Target) -> dict[str, str]:
    from persona_host.adapters.pi.files import installation  # noqa: PLC0415 - reads the bundle

    return installation(target.runtime(), target.python)


def _claude_folder(target: Target) -> Path:
    """Return where Claude Code loads a plugin from by itself: a folder with a manifest among the person's skills."""
    chosen = target.environ.get("CLAUDE_CONFIG_DIR") or str(target.home / ".claude")
    config = os.path.abspath(target.home / chosen)  # noqa: PTH100 - a link is named as the person names it
    return Path(config, "skills", "persona-mind")


def _claude_files(target: Target) -> dict[str, str]:
    from persona_host.adapters.claude_code.files import installation  # noqa: PLC0415 - reads the bundle

    return installation(target.runtime().registry, target.program)


_HOSTS: Final[Mapping[str, _Host]] = {
    "pi": _InFolder(
        "pi",
        _pi_folder,
        _pi_files,
        marked("The Pi extension"),
        marked("The Pi extension is installed."),
        marked("The Pi extension was installed already, and is current."),
        marked("Pi was not found on the path; it loads this when it starts."),
        marked("Start pi anew, or type /reload in it; {command} then answers."),
        "/mind",
    ),
    "mcp": _BySettings(),
    "claude-code": _InFolder(
        "claude",
        _claude_folder,
        _claude_files,
        marked("The Claude Code plugin"),
        marked("The Claude Code plugin is installed."),
        marked("The Claude Code plugin was installed already, and is current."),
        marked("Claude Code was not found on the path; it loads this when it starts."),
        marked("Start claude anew, or type /reload-plugins in it; {command} then answers."),
        "/persona:mind",
        marked("Claude gets no tools yet: the extra mcp is not installed. {command}"),
    ),
}
NAMES: Final = tuple(_HOSTS)
"""The hosts that something can be installed for."""
