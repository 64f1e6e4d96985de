"""``persona doctor --host NAME``: what is looked at of an installation, each thing once right and once wrong."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from persona_host import extras
from persona_host.adapters.checking import check
from persona_host.adapters.folder import RECEIPT
from persona_host.adapters.installing import Target, folder_of, install
from persona_host.headless import headless_runtime
from persona_host.hosts import COSTS, HOSTS, lacking
from tests.support.cli import Persona

if TYPE_CHECKING:
    from pathlib import Path

ALL_RIGHT = {"extension": "ok", "place": "ok", "manifest": "ok", "python": "ok", "pi": "ok", "node": "ok"}


class Machine:
    """A home, and a path with programs that answer for their versions."""

    def __init__(self, home: Path, agent_dir: Path) -> None:
        self.home, self.agent_dir, self.bin = home, agent_dir, home / "bin"
        self.bin.mkdir()
        self.environ = {"PATH": str(self.bin)}
        self.program("node", "echo v22.23.3")
        self.pi("1.6.0")

    def program(self, name: str, line: str) -> None:
        """Put a program on the path."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)

    def pi(self, version: str) -> None:
        """Put a Pi on the path, as npm does: a link into its package."""
        package = self.home / "lib" / "node_modules" / "@earendil-works" / "pi-coding-agent"
        shutil.rmtree(package, ignore_errors=True)
        (package / "dist").mkdir(parents=True)
        named = {"name": "@earendil-works/pi-coding-agent", "version": version}
        (package / "package.json").write_text(json.dumps(named), encoding="utf-8")
        program = package / "dist" / "cli.js"
        program.write_text("", encoding="utf-8")
        program.chmod(0o755)
        (self.bin / "pi").unlink(missing_ok=True)
        (self.bin / "pi").symlink_to(program)

    @property
    def target(self) -> Target:
        """Where to install."""

        def runtime() -> Any:  # noqa: ANN401 - the product's own type, named there
            return headless_runtime(agent_dir=self.agent_dir, home=self.home, environ=self.environ)

        return Target(self.agent_dir, self.environ, runtime, home=self.home)

    def states(self, host: str = "pi") -> dict[str, str]:
        """Return how each thing fares."""
        return {found.name: found.state for found in check(host, self.target)}

    def detail(self, name: str, host: str = "pi") -> str:
        """Return what is said of one thing."""
        (found,) = [found for found in check(host, self.target) if found.name == name]
        return found.detail

    @property
    def folder(self) -> Path:
        """Where the Pi extension is."""
        return folder_of("pi", self.target)


@pytest.fixture
def machine(home: Path, agent_dir: Path) -> Machine:
    return Machine(home, agent_dir)


@pytest.fixture
def installed(machine: Machine) -> Machine:
    install("pi", machine.target)
    return machine


def test_what_is_installed_by_this_release_is_all_right(installed: Machine) -> None:
    assert installed.states() == ALL_RIGHT


def test_what_is_not_installed_is_no_fault_and_the_command_is_named(machine: Machine) -> None:
    machine.program("node", "echo v20.1.0")
    assert machine.states() == {"extension": "warning", "pi": "ok", "node": "warning"}
    assert "persona install pi" in machine.detail("extension")


def test_a_file_that_is_missing_changed_or_old_is_told_apart(installed: Machine) -> None:
    path = installed.folder / "link.ts"
    path.write_text("// mine\n", encoding="utf-8")
    assert (installed.states()["extension"], "by hand" in installed.detail("extension")) == ("warning", True)
    path.unlink()
    assert (installed.states()["extension"], "missing" in installed.detail("extension")) == ("error", True)
    (installed.folder / RECEIPT).write_text("{", encoding="utf-8")
    assert installed.states()["extension"] == "error"


def test_a_manifest_of_other_plugins_is_found_by_its_hash(installed: Machine) -> None:
    path = installed.folder / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"hash": "', '"hash": "0'), encoding="utf-8")
    assert installed.states()["manifest"] == "warning"
    path.write_text("no json", encoding="utf-8")
    assert installed.states()["manifest"] == "warning"


def test_an_interpreter_that_has_moved_is_a_fault(installed: Machine) -> None:
    (installed.folder / "config.json").write_text('{"python": "/nowhere/python"}', encoding="utf-8")
    assert installed.states()["python"] == "error"


def test_a_folder_that_pi_does_not_load_is_a_fault(installed: Machine) -> None:
    installed.environ["PI_CODING_AGENT_DIR"] = str(installed.home / "elsewhere")
    assert installed.states()["place"] == "error"
    assert str(installed.home / "elsewhere") in installed.detail("place")


@pytest.mark.parametrize("spelled", ["link", "target", "tilde", "dots", "through a link"])
def test_a_place_is_the_same_however_it_is_spelled(machine: Machine, spelled: str) -> None:
    (machine.home / "dot" / "agent").mkdir(parents=True)
    shutil.rmtree(machine.home / ".pi", ignore_errors=True)
    (machine.home / ".pi").symlink_to(machine.home / "dot")
    elsewhere = machine.home / "elsewhere" / "agent"
    agent_dir, pis = {
        "link": (machine.home / "dot" / "agent", None),
        "target": (machine.home / ".pi" / "agent", str(machine.home / "dot" / "agent")),
        "tilde": (elsewhere, "~/elsewhere/agent"),
        "dots": (elsewhere, f"{machine.home}/dot/../elsewhere/agent"),
        "through a link": (elsewhere, str(machine.home / "linked")),
    }[spelled]
    agent_dir.mkdir(parents=True, exist_ok=True)
    (machine.home / "linked").symlink_to(elsewhere)
    machine.agent_dir = agent_dir
    machine.environ["PI_AGENT_DIR"] = str(agent_dir)
    if pis is not None:
        machine.environ["PI_CODING_AGENT_DIR"] = pis
    install("pi", machine.target)
    assert machine.states()["place"] == "ok"


@pytest.mark.parametrize(
    ("version", "state"), [("1.4.0", "ok"), ("1.6.9", "ok"), ("1.3.9", "error"), ("2.0.0", "warning"), ("", "warning")]
)
def test_pis_version_is_read_from_its_package(machine: Machine, version: str, state: str) -> None:
    machine.pi(version)
    assert machine.states()["pi"] == state


@pytest.mark.parametrize(
    ("line", "state"),
    [("echo v22.19.0", "ok"), ("echo v22.18.9", "error"), ("exit 1", "error"), ("echo hello", "error")],
)
def test_nodes_version_is_asked(installed: Machine, line: str, state: str) -> None:
    installed.program("node", line)
    assert installed.states()["node"] == state


def test_a_machine_without_pi_and_node_is_told(installed: Machine) -> None:
    installed.environ["PATH"] = ""
    assert (installed.states()["pi"], installed.states()["node"]) == ("warning", "warning")


def test_mcp_needs_its_extra_and_claude_code_goes_without(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.states("mcp") == {"extra mcp": "ok", "program": "ok"}
    install("claude-code", machine.target)
    assert machine.states("claude-code") == {"plugin": "ok", "program": "ok", "extra mcp": "ok", "claude": "warning"}
    monkeypatch.setattr(extras, "missing", lambda _: True)
    assert machine.states("mcp")["extra mcp"] == "error"
    assert machine.states("claude-code")["extra mcp"] == "warning"
    assert machine.states("embedded") == {"extra chat": "warning"}
    assert machine.states("command-line") == {}


def test_a_fault_of_the_installation_is_the_first_thing_that_is_said(
    environ: dict[str, str], installed: Machine
) -> None:
    persona = Persona(environ, installed.home)
    assert persona("doctor", "--host", "pi").code == 0
    (installed.folder / "config.json").write_text('{"python": "/nowhere/python"}', encoding="utf-8")
    broken = persona("doctor", "--host", "pi")
    assert (broken.code, broken.err.startswith("✗ pi cannot use memory as it is installed: python")) == (1, True)
    assert "✗ python: /nowhere/python" in broken.err
    told = persona("doctor", "--host", "pi", "--json").json()
    assert told["ok"] is False
    assert {"name": "python", "state": "error"}.items() <= told["details"]["installation"][3].items()
    assert persona("doctor").code == 0


def test_files_that_others_can_read_are_told_before_the_next_change_closes_them(
    environ: dict[str, str], home: Path, agent_dir: Path
) -> None:
    persona = Persona(environ, home)
    persona("mind", "remember", "The mast is red.")
    path = agent_dir / "persona-mind" / "memory" / "ltm" / "_default.json"
    path.chmod(0o644)
    told = persona("doctor", "--json").json()
    warned = f"{path.relative_to(agent_dir / 'persona-mind')}: readable_by_others"
    assert any(warned in check["text"] for check in told["details"]["checks"])
    assert path.stat().st_mode & 0o777 == 0o644  # looking changes nothing
    persona("mind", "remember", "The hull is blue.")
    assert path.stat().st_mode & 0o777 == 0o600
    assert warned not in persona("doctor").out


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_host_lacks_is_said_with_its_cost(environ: dict[str, str], home: Path, host: str) -> None:
    ran = Persona(environ, home)("doctor", "--host", host)
    said = ran.out + ran.err
    for name, cost in COSTS.items():
        assert (f"  {name}: {cost}" in said) == (name in lacking(host))


def test_installing_into_pi_warns_of_a_node_that_cannot_run_it(machine: Machine, environ: dict[str, str]) -> None:
    persona = Persona({**environ, **machine.environ}, machine.home)
    assert "node" not in persona("install", "pi").out
    machine.program("node", "echo v18.20.0")
    ran = persona("install", "pi")
    assert (ran.code, ran.out[:1]) == (0, "!")
    assert "node: v18.20.0; Pi needs 22.19 or newer" in ran.out
