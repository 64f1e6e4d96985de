"""What lies in the way of an installation: each thing of each kind, in each place, for each host that has a folder."""

from __future__ import annotations

import os
import socket
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from persona_hooks.errors import ConflictError, PersonaError, RefusedError, StorageError
from persona_host.adapters import folder as folders
from persona_host.adapters.checking import check
from persona_host.adapters.folder import RECEIPT, put, take_away
from persona_host.adapters.installing import NAMES, Target, install, uninstall
from persona_host.hosts import HOSTS
from tests.hosts.test_installing import target as target_in
from tests.support.cli import Persona

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, sockets and named pipes")

WAYS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "pi": (".pi", ".pi/agent", ".pi/agent/extensions", ".pi/agent/extensions/persona-mind"),
    "claude-code": (".claude", ".claude/skills", ".claude/skills/persona-mind", ".claude/skills/persona-mind/hooks"),
}
"""The directories that lead to the files, by host."""
FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "pi": (".pi/agent/extensions/persona-mind/index.ts", f".pi/agent/extensions/persona-mind/{RECEIPT}"),
    "claude-code": (
        ".claude/skills/persona-mind/hooks/hooks.json",
        ".claude/skills/persona-mind/.mcp.json",
        f".claude/skills/persona-mind/{RECEIPT}",
    ),
}


def a_file(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")


def a_directory(path: Path) -> None:
    path.mkdir()
    (path / "mine").write_text("mine", encoding="utf-8")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def a_link_to_a_file(path: Path) -> None:
    (path.parent / "theirs").write_text("mine", encoding="utf-8")
    path.symlink_to("theirs")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    # Bound by a short name: the whole path may be longer than a socket's may be.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.bind(path.name)
    finally:
        os.chdir(before)


def a_huge_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


NO_DIRECTORIES = (a_file, a_dangling_link, a_loop, a_link_to_a_file, a_pipe, a_socket)
NO_FILES = (a_file, a_directory, a_dangling_link, a_loop, a_link_to_a_file, a_pipe, a_socket, a_huge_file)
CASES = [(host, where, odd) for host, way in WAYS.items() for where in way for odd in NO_DIRECTORIES]
CASES += [(host, where, odd) for host, names in FILES.items() for where in names for odd in NO_FILES]


def seen(root: Path) -> dict[str, Any]:
    """Return everything below ``root`` to the byte, without following or opening what is no plain file."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        held: Any = str(path.readlink()) if path.is_symlink() else None
        if kind == stat.S_IFREG:
            held = path.read_bytes() if status.st_size < 1 << 30 else status.st_size
        found[str(path.relative_to(root))] = (kind, stat.S_IMODE(status.st_mode), held)
    return found


@pytest.fixture
def target(home: Path) -> Target:
    return target_in(home / ".pi" / "agent")


def told(do: Callable[[], object]) -> PersonaError | None:
    """Do something that may be refused, in words; any other exception is a defect."""
    try:
        do()
    except PersonaError as error:
        return error
    return None


def test_every_host_with_a_folder_stands_in_the_table() -> None:
    assert set(WAYS) == set(FILES) == set(NAMES) - {"mcp"}
    assert set(NAMES) <= set(HOSTS)


@pytest.mark.parametrize(("host", "where", "odd"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_what_is_in_the_way_is_named_and_nothing_is_changed(
    home: Path, target: Target, host: str, where: str, odd: Callable[[Path], None]
) -> None:
    (home / where).parent.mkdir(parents=True, exist_ok=True)
    odd(home / where)
    found = seen(home)
    error = told(lambda: install(host, target))
    assert isinstance(error, ConflictError)
    assert str(home / where) in error.message
    assert error.changed == "no"
    assert seen(home) == found
    assert check(host, target)
    told(lambda: uninstall(host, target))
    assert seen(home) == found


@pytest.mark.parametrize("host", WAYS)
@pytest.mark.parametrize("odd", NO_FILES, ids=lambda odd: odd.__name__)
def test_what_took_the_place_of_a_file_of_ours_is_left_and_all_else_goes(
    home: Path, target: Target, host: str, odd: Callable[[Path], None]
) -> None:
    path = home / FILES[host][0]
    found = seen(home)
    install(host, target)
    path.unlink()
    odd(path)
    assert isinstance(told(lambda: install(host, target)), ConflictError)
    assert check(host, target)
    card, changed = uninstall(host, target)
    assert (changed, any(str(path) in line for line in card.body)) == ("yes", True)
    ours = {name for name, (kind, *_) in seen(path.parent).items() if kind == stat.S_IFREG}
    assert ours <= {path.name, RECEIPT, "mine", "theirs", f"{path.name}/mine"}
    card, changed = uninstall(host, target)
    assert (changed, any(str(path) in line for line in card.body)) == ("no", True)
    _gone(path)
    assert uninstall(host, target).changed == "yes"
    (path.parent / "theirs").unlink(missing_ok=True)
    left = set(seen(home)) - set(found)
    assert left == (set() if odd is not a_link_to_a_file else {str(each) for each in _up(path.parent, home)})


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        (path / "mine").unlink()
        path.rmdir()
    else:
        path.unlink()


def _up(path: Path, home: Path) -> list[Path]:
    return [each.relative_to(home) for each in (path, *path.parents) if each != home and each.is_relative_to(home)]


def test_a_directory_of_ours_that_was_moved_behind_a_link_is_left_alone(home: Path, target: Target) -> None:
    install("claude-code", target)
    hooks, moved = home / ".claude/skills/persona-mind/hooks", home / "moved"
    hooks.rename(moved)
    hooks.symlink_to(moved)
    held = seen(moved)
    assert isinstance(told(lambda: install("claude-code", target)), ConflictError)
    assert any("hooks.json" in line for line in uninstall("claude-code", target).card.body)
    assert seen(moved) == held
    hooks.unlink()
    uninstall("claude-code", target)
    assert not (home / ".claude").exists()


LINKED = [(host, where) for host, way in WAYS.items() for where in way if not where.endswith("hooks")]


@pytest.mark.parametrize(("host", "where"), LINKED)
def test_a_directory_that_is_kept_elsewhere_in_home_is_used_and_left_as_it_was(
    home: Path, target: Target, host: str, where: str
) -> None:
    (home / where).parent.mkdir(parents=True, exist_ok=True)
    (home / "elsewhere").mkdir()
    (home / where).symlink_to(home / "elsewhere")
    found = seen(home)
    assert install(host, target).changed == "yes"
    assert len(seen(home)) > len(found)
    assert uninstall(host, target).changed == "yes"
    assert seen(home) == found


OUTSIDE = [("claude-code", where) for where in WAYS["claude-code"][:3]] + [("pi", where) for where in WAYS["pi"][2:]]


@pytest.mark.parametrize(("host", "where"), OUTSIDE)
def test_nothing_is_written_or_removed_through_a_link_that_leads_out_of_home(
    home: Path, tmp_path: Path, target: Target, host: str, where: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / where).parent.mkdir(parents=True, exist_ok=True)
    (home / where).symlink_to(outside)
    for do in (install, uninstall):
        error = told(lambda do=do: do(host, target))  # type: ignore[misc]
        assert isinstance(error, RefusedError)
        assert "outside of home" in error.message
    assert seen(outside) == {}
    assert any(found.state == "error" for found in check(host, target))


def test_a_home_that_is_reached_through_a_link_is_home(home: Path, tmp_path: Path, target: Target) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(home)
    seen_so = replace(target, home=alias, environ={"PATH": "", "CLAUDE_CONFIG_DIR": str(home / "cfg")})
    assert install("claude-code", seen_so).changed == "yes"
    uninstall("claude-code", seen_so)
    assert seen(home) == {}


def test_what_the_file_system_refuses_is_said_in_words(home: Path, target: Target) -> None:
    long = replace(target, environ={"PATH": "", "CLAUDE_CONFIG_DIR": str(home / ("x" * 300))})
    for do in (install, uninstall):
        assert isinstance(told(lambda do=do: do("claude-code", long)), StorageError)  # type: ignore[misc]
    assert seen(home) == {}


OLD = {"a": "1", "sub/b": "1", "old": "1"}
NEW = {"a": "2", "sub/b": "2", "sub/deep/c": "2"}


@pytest.mark.parametrize("last", range(6))
@pytest.mark.parametrize("before", [{}, OLD], ids=["first", "again"])
def test_an_installation_that_fails_half_way_is_taken_back_or_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, str], last: int
) -> None:
    folder = tmp_path / "made" / "ours"
    if before:
        put(folder, before)
    write = folders._write
    done: list[Path] = []

    def full(path: Path, text: str) -> None:
        if len(done) == last:
            raise OSError(28, "No space left on device")
        done.append(path)
        write(path, text)

    with monkeypatch.context() as patched:
        patched.setattr(folders, "_write", full)
        error = told(lambda: put(folder, NEW))
    # The receipt twice, and three files.
    assert (error is None) == (last == 5)
    if error is not None:
        assert error.changed == ("unknown" if before else "no")
        assert before or seen(tmp_path) == {}
        put(folder, NEW)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {*NEW, RECEIPT}
    take_away(folder)
    assert seen(tmp_path) == {}


def test_the_command_says_whether_anything_changed(environ: dict[str, str], home: Path) -> None:
    persona = Persona(environ, home)
    for host in WAYS:
        said = [
            persona(command, host, "--json").json()["details"]["changed"]
            for command in ("install", "install", "uninstall", "uninstall")
        ]
        assert said == ["yes", "no", "yes", "no"]
    assert persona("install", "mcp", "--json").json()["details"]["changed"] == "no"


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_the_help_names_every_host(environ: dict[str, str], home: Path, command: str) -> None:
    text = Persona(environ, home)(command, "--help").out
    assert all(name in text for name in NAMES)
