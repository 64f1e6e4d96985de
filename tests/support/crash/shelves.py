"""Backups and files as a person would look into them, read past the layer that breaks file effects."""

from __future__ import annotations

import json
import posix
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.support.crash.script import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("memory/ltm", "memory/project", "memory/stm", "backlog")
CONFLICT = "sync-conflict-20260302-093000-ABCDEFG"
Rows = list[dict[str, Any]]
_WORDS = tuple(text.rstrip(".").lower() for text in TEXTS)


def shelved(agent: Path) -> list[str]:
    """Return what can be restored: the paths of backups that a person made, and the names of those in the profile."""
    outside = [f"{agent / name}" for name in _names(agent) if name.startswith("saved")]
    inside = [name for name in _names(agent / "persona-mind" / "backups") if not name.startswith(".")]
    return outside + inside


def brought(agent: Path, path: str) -> dict[str, Any]:
    """Return what a backup would bring: the places that it knows, and their rows with texts and ends."""
    places, rows = set(), []
    documents = _source(agent, path) / "documents"
    for relative in sorted({name.removesuffix(".bak") for name in _below(documents)}):
        folder = relative.rpartition("/")[0]
        if folder in FOLDERS and CONFLICT not in relative:
            place = relative if folder == "memory/ltm" else folder
            places.add(place)
            rows += [_row(place, row) for row in _served(f"{documents}/{relative}")]
    return {"places": sorted(places), "rows": rows}


def _served(path: str) -> Rows:
    """Return the rows of a document in a backup: of its previous version where its own cannot be read."""
    for version in (path, f"{path}.bak"):
        with suppress(FileNotFoundError, ValueError, KeyError):
            data = _bytes(version)
            if data:
                return entries(data)
    return []


def _source(agent: Path, path: str) -> Path:
    return agent / path if "/" in path else agent / "persona-mind" / "backups" / path


def _row(place: str, row: dict[str, Any]) -> list[Any]:
    persona = row.get("persona", "") if place in {"memory/stm", "backlog"} else ""
    return [place, row["id"], persona, about(row["text"]), row.get("expiresAt")]


def entries(data: bytes) -> Rows:
    """Return the rows of a document's bytes."""
    rows: Rows = json.loads(data)["entries"] if data else []
    return rows


def conflict(agent: Path, path: str, persona: str) -> None:
    """Do what a program does that synchronises folders: leave an older version beside a persona's memory."""
    older = _source(agent, path) / f"documents/memory/ltm/{persona}.json"
    target = agent / f"persona-mind/memory/ltm/{persona}.{CONFLICT}.json"
    with suppress(FileNotFoundError), open(older, "rb") as stream:  # noqa: PTH123 - these functions are not injured
        descriptor = posix.open(f"{target}", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600)
        posix.write(descriptor, stream.read())
        posix.close(descriptor)


def without_conflicts(agent: Path) -> None:
    """Let that program take back what nobody merged."""
    for copy in (agent / "persona-mind/memory/ltm").glob(f"*.{CONFLICT}.json"):
        copy.unlink()


def standing(agent: Path, text: str) -> str | None:
    """Return the id of a row that is about what a text is about, if one stands in the profile."""
    root = agent / "persona-mind"
    documents = [name for name in _below(root) if name.startswith(FOLDERS) and re.search(r"/[^./][^/]*\.json$", name)]
    rows = (row for name in documents for row in entries(_bytes(f"{root}/{name}")))
    return next((str(row["id"]) for row in rows if about(row["text"]) == about(text)), None)


def about(text: str) -> int:
    """Return which of the script's texts a row is about; -1 for none of them."""
    return next((number for number, words in enumerate(_WORDS) if words in text.lower()), -1)


def holding(root: Path, wanted: set[int]) -> list[str]:
    """Return every file below a directory that holds one of the texts, whatever its capitals."""
    found = []
    for relative in _below(root):
        data = _bytes(f"{root}/{relative}").lower()
        found += [f"{relative} holds {_WORDS[number]!r}" for number in wanted if _WORDS[number].encode() in data]
    return found


def _below(root: Path, folder: str = "") -> list[str]:
    found = []
    for name in _names(root / folder):
        relative = f"{folder}/{name}" if folder else name
        nested = stat.S_ISDIR(posix.lstat(f"{root}/{relative}").st_mode)
        found += _below(root, relative) if nested else [relative]
    return found


def _names(folder: Path) -> list[str]:
    # The functions of os are the ones that are injured; these are what they are made of.
    try:
        return sorted(posix.listdir(f"{folder}"))
    except FileNotFoundError:
        return []


def _bytes(path: str) -> bytes:
    with open(path, "rb") as stream:  # noqa: PTH123 - as above
        return stream.read()
