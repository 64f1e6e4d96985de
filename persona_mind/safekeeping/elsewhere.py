"""Where else words of a memory may stand: transcripts that hosts keep outside of the agent directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOGS: Final = "persona-host/sessions"
"""Where the logs of sessions are, below the agent directory; those of Claude Code's bear its own session ids."""
PREFIX: Final = "claude-"


def claude_transcripts(agent_dir: Path, home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the transcripts of those Claude Code sessions that had this memory, as far as they are still there.

    Claude Code keeps what its hooks give the model, and what tools return.

    Raises:
        StorageError: The file system would not say what is there.
    """
    logs = agent_dir / LOGS
    projects = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    with storage_errors(logs):
        ids = {log.stem.removeprefix(PREFIX) for log in _logs(logs) if log.name.startswith(PREFIX)}
    with storage_errors(projects):
        return [path for path in _logs(projects) if path.stem in ids and path.is_file()]


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the logs in the folders of a folder, sorted; one that is missing has none.

    Not by a pattern: that passes over folders that do not open. Links are followed, as Claude Code follows them.
    """
    for project in sorted(folder.iterdir()) if folder.exists() else ():
        if project.is_dir():
            yield from sorted(path for path in project.iterdir() if path.suffix == ".jsonl")
