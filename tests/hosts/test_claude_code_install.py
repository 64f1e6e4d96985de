"""The Claude Code plugin: put where it is loaded by itself, and taken away to the byte."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import ConflictError, RefusedError
from persona_host.adapters.claude_code import files
from persona_host.adapters.folder import RECEIPT
from persona_host.adapters.installing import Target, install, uninstall
from persona_host.headless import headless_runtime
from tests.hosts.test_installing import nothing, picture
from tests.support.claude_code import ClaudeCode
from tests.support.cli import PERSONA, Persona
from tests.support.stdio_host import interpreter

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_host.runtime import Runtime


@pytest.fixture
def target(home: Path, agent_dir: Path) -> Target:
    def runtime() -> Runtime:
        return headless_runtime(agent_dir=agent_dir, home=home, environ={})

    return Target(agent_dir, {"PATH": ""}, runtime, Path(interpreter()), home)


def a_claude_that_is_used(home: Path) -> None:
    skill = home / ".claude" / "skills" / "mine"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: mine\n---\n", encoding="utf-8")
    (home / ".claude" / "settings.json").write_text('{ "model" : "opus" }', encoding="utf-8")


@pytest.mark.parametrize("before", [nothing, a_claude_that_is_used])
def test_uninstalling_leaves_everything_as_it_was(home: Path, target: Target, before: Callable[[Path], None]) -> None:
    before(home)
    found = picture(home)
    assert str(home / ".claude" / "skills" / "persona-mind") in install("claude-code", target).card.body
    assert picture(home).items() > found.items()
    install("claude-code", target)
    uninstall("claude-code", target)
    assert picture(home) == found
    assert "not installed" in uninstall("claude-code", target).card.title


def test_installing_twice_changes_nothing(home: Path, target: Target) -> None:
    install("claude-code", target)
    installed = picture(home)
    assert "already" in install("claude-code", target).card.title
    assert picture(home) == installed


def test_the_folder_has_the_documented_form(home: Path, target: Target) -> None:
    install("claude-code", target)
    folder = home / ".claude" / "skills" / "persona-mind"
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_bytes())
    assert manifest["name"] == "persona"
    server = json.loads((folder / ".mcp.json").read_bytes())["mcpServers"]["persona-mind"]
    assert Path(server["command"]).is_absolute()
    assert server["args"][-1] == "mcp"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_bytes())["hooks"]
    for event, entries in hooks.items():
        for hook in (hook for entry in entries for hook in entry["hooks"]):
            replaced, program, *rest = shlex.split(hook["command"])
            assert (hook["type"], replaced, rest[-2:]) == ("command", "exec", ["hook", event])
            assert Path(program).is_absolute()
    assert sorted(path.name for path in (folder / "commands").iterdir()) == ["mind.md", "persona.md"]


def test_the_bundle_has_the_commands_that_the_registry_has(target: Target) -> None:
    made = files.commands(target.runtime().registry)
    assert {name: (files.BUNDLE / name).read_text(encoding="utf-8") for name in made} == made


def test_what_is_installed_runs_from_a_path_with_spaces(home: Path, tmp_path: Path, target: Target) -> None:
    odd = tmp_path / "my $tools' dir"
    odd.mkdir()
    (odd / "python").symlink_to(interpreter())
    (odd / "persona").symlink_to(PERSONA)
    install("claude-code", replace(target, python=odd / "python"))
    text = (home / ".claude" / "skills" / "persona-mind" / "hooks" / "hooks.json").read_text(encoding="utf-8")
    command = json.loads(text)["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    assert shlex.split(command) == ["exec", str(odd / "persona"), "hook", "PreCompact"]


def test_the_configured_directory_is_used_and_one_outside_of_home_refused(home: Path, target: Target) -> None:
    inside = replace(target, environ={"PATH": "", "CLAUDE_CONFIG_DIR": str(home / "cfg")})
    assert str(home / "cfg" / "skills" / "persona-mind") in install("claude-code", inside).card.body
    uninstall("claude-code", inside)
    outside = replace(target, environ={"PATH": "", "CLAUDE_CONFIG_DIR": "/srv/claude"})
    with pytest.raises(RefusedError, match="outside of home"):
        install("claude-code", outside)
    assert picture(home) == {}


def test_an_absent_claude_code_is_said_and_is_no_error(target: Target) -> None:
    assert any("not found" in line for line in install("claude-code", target).card.body)


def test_a_file_that_somebody_changed_is_not_overwritten_and_stays(home: Path, target: Target) -> None:
    install("claude-code", target)
    changed = home / ".claude" / "skills" / "persona-mind" / "commands" / "mind.md"
    changed.write_text("mine", encoding="utf-8")
    with pytest.raises(ConflictError):
        install("claude-code", target)
    assert any(str(changed) in line for line in uninstall("claude-code", target).card.body)
    left = {path.name for path in home.rglob("*") if path.is_file()}
    assert left == {changed.name, RECEIPT}
    changed.unlink()
    uninstall("claude-code", target)
    assert picture(home) == {}


def test_the_installed_hook_works_as_claude_code_runs_it(environ: dict[str, str], home: Path) -> None:
    project = home / "project"
    project.mkdir()
    persona = Persona(environ, project)
    assert persona("install", "claude-code", "--plain").code == 0
    hooks = json.loads((home / ".claude" / "skills" / "persona-mind" / "hooks" / "hooks.json").read_bytes())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    claude = ClaudeCode(environ, project)
    done = claude.by_shell(command, "UserPromptSubmit", prompt="Remember that tea is at five.")
    assert "Remembered 1 fact" in done.shown
    assert persona("uninstall", "claude-code", "--plain").code == 0
    assert not (home / ".claude").exists()
