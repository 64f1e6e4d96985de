"""What safekeeping had to put right, remembered for ``persona doctor``; never any text of a memory."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_store import files

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "diagnostics.jsonl"
OLDER: Final = "diagnostics.older.jsonl"
MAX_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Note:
    """One finding: when, one stable word, and which file."""

    at: str
    word: str
    path: str


def flush(root: Path, notes: list[Note]) -> None:
    """Append the notes of this process and forget them; two files of 64 KiB are kept.

    A disk that cannot take a note must not undo or hide what it is about, so refusals end here.
    """
    if not notes:
        return
    lines = "".join(f"{json.dumps(asdict(note))}\n" for note in notes)
    notes.clear()
    with contextlib.suppress(OSError, PersonaError), files.open_directory(root, [], create=True) as directory:
        stamp = directory.stamp(NAME)
        if stamp is not None and stamp.size > MAX_BYTES:
            directory.rename(NAME, OLDER)
        directory.append(NAME, lines.encode())


def _lines(directory: files.Directory, name: str) -> list[str]:
    try:
        return directory.read_head(name, 4 * MAX_BYTES).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []


def history(root: Path) -> list[Note]:
    """Return the remembered notes, oldest first; unreadable lines are passed over."""
    try:
        with files.open_directory(root, []) as directory:
            lines = [line for name in (OLDER, NAME) for line in _lines(directory, name)]
    except FileNotFoundError:
        return []
    return [note for line in lines if (note := _note(line)) is not None]


def _note(line: str) -> Note | None:
    try:
        value = json.loads(line)
        return Note(str(value["at"]), str(value["word"]), str(value["path"]))
    except (ValueError, KeyError, TypeError):
        return None
