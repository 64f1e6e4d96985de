"""Transcripts of hosts that had this memory are found, all of them, or it is told that they could not be looked for."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import StorageError
from persona_mind.safekeeping.elsewhere import LOGS, claude_transcripts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(home: Path, agent_dir: Path, session_id: str, project: str = "app") -> Path:
    """Make the log that a session left with us, and Claude Code's own transcript of it; return this one."""
    for path in (
        agent_dir / LOGS / project / f"claude-{session_id}.jsonl",
        home / ".claude/projects" / project / f"{session_id}.jsonl",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return path


def test_transcripts_of_sessions_that_had_this_memory_are_found_in_every_project(home: Path, agent_dir: Path) -> None:
    assert claude_transcripts(agent_dir, home, {}) == []
    found = [write(home, agent_dir, f"s{number}", project) for project in ("a", "b") for number in (1, 2)]
    write(home, agent_dir, "unknown", "b")
    (agent_dir / LOGS / "b/claude-unknown.jsonl").rename(agent_dir / LOGS / "b/unknown.jsonl")
    write(home, agent_dir, "gone").unlink()
    (found[0].with_name("s2.txt")).touch()

    assert claude_transcripts(agent_dir, home, {}) == found
    moved = (home / ".claude").rename(home / "moved")
    assert claude_transcripts(agent_dir, home, {}) == []
    assert len(claude_transcripts(agent_dir, home, {"CLAUDE_CONFIG_DIR": str(moved)})) == len(found)


def before_each(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[str], object]) -> None:
    """Do something with each path before one of the calls of ``os`` looks at it."""
    real = getattr(os, name)

    def look(path: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as in os
        if not isinstance(path, int):
            act(os.fspath(path))
        return real(path, **keywords)

    monkeypatch.setattr(os, name, look)


@pytest.mark.parametrize(
    "linked", [".claude", ".claude/projects", ".claude/projects/app", ".claude/projects/app/s.jsonl"]
)
def test_a_transcript_behind_a_link_is_found_as_well(home: Path, agent_dir: Path, linked: str) -> None:
    transcript = write(home, agent_dir, "s")
    (home / linked).rename(home / "elsewhere")
    (home / linked).symlink_to(home / "elsewhere")

    assert claude_transcripts(agent_dir, home, {}) == [transcript]


def test_however_many_sessions_there_were_each_folder_is_looked_into_once(
    home: Path, agent_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [write(home, agent_dir, f"s{number:04}") for number in range(2_100)]
    looks: list[str] = []
    for name in ("listdir", "scandir"):
        before_each(monkeypatch, name, looks.append)

    assert claude_transcripts(agent_dir, home, {}) == found
    assert len(looks) == len(set(looks)) == 4


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
@pytest.mark.parametrize(
    "folder", [LOGS, f"{LOGS}/b", ".claude/projects", ".claude/projects/b", ".claude/projects/b/s.jsonl"]
)
def test_what_does_not_open_is_told(
    home: Path, agent_dir: Path, monkeypatch: pytest.MonkeyPatch, folder: str, code: int
) -> None:
    for project in ("a", "b", "c"):
        write(home, agent_dir, "s", project)
    closed = {os.fspath(home / folder), os.fspath(agent_dir / folder)}

    def refuse(path: str) -> None:
        if path in closed:
            raise OSError(code, os.strerror(code), path)

    for name in ("listdir", "scandir", "stat"):
        before_each(monkeypatch, name, refuse)

    with pytest.raises(StorageError) as caught:
        claude_transcripts(agent_dir, home, {})
    assert caught.value.details["errno"] == code
