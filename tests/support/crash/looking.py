"""Reading every document of a profile as its readers do, without knowing the faculties' models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from persona_store.transaction import Profile
from tests.support.clock import START

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Plain(BaseModel):
    """What every row has."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    id: str
    persona: str = ""


def look(root: Path, folders: Iterable[str]) -> tuple[set[tuple[str, str, str]], dict[str, int]]:
    """Return every row as its file, its id and its persona, and every file's sequence."""
    profile = Profile(root, lambda: START)
    rows: set[tuple[str, str, str]] = set()
    sequences: dict[str, int] = {}
    for folder in folders:
        for path in sorted((root / folder).glob("*.json")):
            # A project's file is named after a directory of its own: the folder says enough.
            name = f"{folder}/{path.name}" if folder == "memory/ltm" else folder
            snapshot = profile.document(f"{folder}/{path.name}", Plain).read()
            sequences[name] = snapshot.sequence
            keeps = folder in {"memory/stm", "backlog"}
            rows |= {(name, row.id, row.persona if keeps else "") for row in snapshot.values}
    return rows, sequences
