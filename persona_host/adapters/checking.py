"""Whether a host would find our side of it and could run it: files, hashes, programs and their versions.

Nothing is written. Programs are asked for their version at most; no session of the host is started.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from persona_hooks.errors import PersonaError
from persona_hooks.speech import phrase
from persona_host import extras
from persona_host.adapters.folder import installed, mark
from persona_host.adapters.installing import folder_of
from persona_host.headless import agent_dir_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from persona_host.adapters.installing import Target

State = Literal["ok", "warning", "error"]
NODE: Final = (22, 19)
PI: Final = ((1, 4), (1, 6))
"""The oldest and the newest Pi that this release was tested with."""
_SECONDS: Final = 5.0


class Checked(NamedTuple):
    """One thing that was looked at.

    Attributes:
        name: What, stable for programs.
        state: ``error`` where the host cannot use memory, ``warning`` where something needs a look.
        detail: What was found, and what to do about it.
        absent: Whether ours is not installed there at all.
    """

    name: str
    state: State
    detail: str
    absent: bool = False


def check(host: str, target: Target) -> list[Checked]:
    """Return what was found of ``host``; nothing for one that needs no installation."""
    looks = _LOOKS.get(host)
    return [] if looks is None else list(looks(target))


def _pi(target: Target) -> Iterator[Checked]:
    from persona_host.adapters.pi.files import CONFIG, MANIFEST, installation  # noqa: PLC0415 - reads the bundle

    try:
        folder = folder_of("pi", target)
    except PersonaError as error:
        yield Checked("extension", "error", error.message)
        return
    loaded = agent_dir_of({}, target.home, target.environ.get("PI_CODING_AGENT_DIR"))
    expected = installation(target.runtime(), target.python)
    yield _files(folder, expected, "persona install pi")
    there = (folder / CONFIG).is_file()
    if there:
        yield _same_folder(folder, loaded)
        yield _manifest(folder / MANIFEST, expected[MANIFEST])
        yield _interpreter(folder / CONFIG)
    pi = shutil.which("pi", path=target.environ.get("PATH", ""))
    yield _pi_program(pi)
    # The node on the path is Pi's where Pi is on it; where ours is not installed, nothing fails yet.
    yield _node(target.environ, "error" if there and pi is not None else "warning")


def _claude_code(target: Target) -> Iterator[Checked]:
    from persona_host.adapters.claude_code.files import installation  # noqa: PLC0415 - reads the bundle

    try:
        folder = folder_of("claude-code", target)
    except PersonaError as error:
        yield Checked("plugin", "error", error.message)
        return
    expected = installation(target.runtime().registry, target.program)
    yield _files(folder, expected, "persona install claude-code", "plugin")
    yield _program(target)
    yield _extra("mcp", "warning", phrase("Claude gets no tools"))
    yield _on_path("claude", target.environ)


def _mcp(target: Target) -> Iterator[Checked]:
    yield _extra("mcp", "error", phrase("the server does not start"))
    yield _program(target)


def _embedded(_: Target) -> Iterator[Checked]:
    yield _extra("chat", "warning", phrase("no model can be asked"))


_LOOKS: Final[Mapping[str, Callable[[Target], Iterator[Checked]]]] = {
    "pi": _pi,
    "claude-code": _claude_code,
    "mcp": _mcp,
    "embedded": _embedded,
}


def _files(folder: Path, expected: Mapping[str, str], command: str, name: str = "extension") -> Checked:
    """Compare what is installed with what this release installs, and with what was installed then."""
    try:
        marks = installed(folder)
        found = {file: mark(folder, file) for file in marks}
    except PersonaError as error:
        return Checked(name, "error", error.message)
    if not marks:
        return Checked(name, "warning", phrase("not installed: `{command}`", command=command), absent=True)
    gone = [file for file, known in found.items() if known is None]
    if gone:
        return Checked(name, "error", phrase("{file} is missing: `{command}`", file=gone[0], command=command))
    edited = [file for file, known in found.items() if known != marks[file]]
    if edited:
        text = phrase(
            "{file} was changed by hand; `{command}` refuses until it is moved away", file=edited[0], command=command
        )
        return Checked(name, "warning", text)
    if any(found.get(file) != _hash(text.encode()) for file, text in expected.items()):
        return Checked(
            name, "warning", phrase("of another release, or of another Python: `{command}`", command=command)
        )
    return Checked(name, "ok", phrase("{number} files, all current: {folder}", number=len(marks), folder=folder))


def _same_folder(folder: Path, loaded: Path) -> Checked:
    # Either may lead there through a link.
    if Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(loaded)):
        return Checked("place", "ok", phrase("Pi loads extensions from {folder}", folder=loaded / "extensions"))
    return Checked(
        "place",
        "error",
        phrase(
            "Pi loads extensions from {folder}, not from here: set PI_CODING_AGENT_DIR and PI_AGENT_DIR alike",
            folder=loaded / "extensions",
        ),
    )


def _manifest(path: Path, expected: str) -> Checked:
    wanted, found = _json(expected).get("hash"), _json((_content(path) or b"").decode(errors="replace")).get("hash")
    if found == wanted:
        return Checked("manifest", "ok", phrase("hash {hash}, that of the plugins", hash=str(wanted)[:12]))
    return Checked(
        "manifest",
        "warning",
        phrase(
            "hash {found}, the plugins' is {wanted}: `persona install pi`",
            found=str(found)[:12],
            wanted=str(wanted)[:12],
        ),
    )


def _interpreter(config: Path) -> Checked:
    python = _json((_content(config) or b"").decode(errors="replace")).get("python")
    if not isinstance(python, str) or not os.access(python, os.X_OK):
        return Checked("python", "error", phrase("{python} cannot be run: `persona install pi`", python=python))
    return Checked("python", "ok", python)


def _program(target: Target) -> Checked:
    program = target.program[0]
    if os.access(program, os.X_OK):
        return Checked("program", "ok", program)
    return Checked("program", "error", phrase("{program} cannot be run", program=program))


def _pi_program(pi: str | None) -> Checked:
    if pi is None:
        return Checked("pi", "warning", phrase("not found on the path"))
    version = _pi_version(Path(pi))
    oldest, newest = (".".join(map(str, version)) for version in PI)
    if version is None:
        return Checked("pi", "warning", phrase("{path}: its version is unknown", path=pi))
    if not PI[0] <= version[:2] <= PI[1]:
        told = ".".join(map(str, version))
        text = phrase("{version}; tested are {oldest} to {newest}", version=told, oldest=oldest, newest=newest)
        return Checked("pi", "warning" if version[:2] > PI[1] else "error", text)
    return Checked("pi", "ok", f"{'.'.join(map(str, version))}  {pi}")


def _pi_version(pi: Path) -> tuple[int, ...] | None:
    """Return the version that the package says which the program lies in."""
    for folder in pi.resolve().parents:
        package = _json((_content(folder / "package.json") or b"").decode(errors="replace"))
        if str(package.get("name", "")).endswith("/pi-coding-agent"):
            return _numbers(str(package.get("version", "")))
    return None


def _node(environ: Mapping[str, str], worst: State) -> Checked:
    node = shutil.which("node", path=environ.get("PATH", ""))
    least = ".".join(map(str, NODE))
    if node is None:
        return Checked("node", "warning", phrase("not found on the path; Pi needs {version} or newer", version=least))
    try:
        ran = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=True)  # noqa: S603 - the one that Pi would run
    except (OSError, subprocess.SubprocessError):
        return Checked("node", worst, phrase("{path} does not run", path=node))
    version = _numbers(ran.stdout)
    if version is None or version < NODE:
        told = ran.stdout.strip()[:20]
        return Checked("node", worst, phrase("{found}; Pi needs {version} or newer", found=told, version=least))
    return Checked("node", "ok", f"{'.'.join(map(str, version))}  {node}")


def _on_path(program: str, environ: Mapping[str, str]) -> Checked:
    found = shutil.which(program, path=environ.get("PATH", ""))
    return Checked(program, "warning" if found is None else "ok", found or phrase("not found on the path"))


def _extra(extra: str, state: State, cost: str) -> Checked:
    if not extras.missing(extra):
        return Checked(f"extra {extra}", "ok", phrase("installed"))
    text = phrase("not installed, so {cost}: {command}", cost=cost, command=extras.command(extra))
    return Checked(f"extra {extra}", state, text)


def _numbers(text: str) -> tuple[int, ...] | None:
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return None if found is None else tuple(map(int, found.groups()))


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
