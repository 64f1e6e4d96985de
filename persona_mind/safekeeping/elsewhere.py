"""Where else words of a memory may stand: transcripts that hosts keep outside of the agent directory."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGS: Final = "persona-host/sessions"
"""Where the logs of sessions are, below the agent directory; those of Claude Code's bear its own session ids."""
PREFIX: Final = "claude-"
MOST: Final = 2_000
"""Sessions that are looked for."""


def claude_transcripts(agent_dir: Path, home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the transcripts of those Claude Code sessions that had this memory, as far as they are still there.

    Claude Code keeps what its hooks give the model, and what tools return.

    Raises:
        StorageError: The file system would not say what is there.
    """
    logs = agent_dir / LOGS
    projects = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    with storage_errors(logs):
        ids = [log.stem.removeprefix(PREFIX) for log in islice(logs.glob(f"*/{PREFIX}*.jsonl"), MOST)]
    with storage_errors(projects):
        # An id is a file's name that we made, and so holds nothing that a pattern would take for more than a letter.
        found = [path for session_id in ids for path in projects.glob(f"*/{session_id}.jsonl") if path.is_file()]
    return sorted(found)
