"""Where a backup or an archive was written, where it matters: in a folder that git may publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.speech import say

if TYPE_CHECKING:
    from persona_hooks.verbs import Answer


def told_of_git(answer: Answer) -> Answer:
    """Return an answer that says so where what it wrote at its ``path`` lies in a git working tree."""
    path = answer.details.get("path")
    if not answer.ok or not isinstance(path, str) or not _in_git(Path(path)):
        return answer
    line = say("It lies in a git working tree: keep it out of what you commit.")
    return answer._replace(card=replace(answer.card, body=(*answer.card.body, line)))


def _in_git(path: Path) -> bool:
    return any((folder / ".git").exists() for folder in path.parents)
