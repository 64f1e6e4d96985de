"""What safekeeping had to put right, remembered for ``persona doctor``; never any text of a memory."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_store import files

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    taken: list[Note] = []
    # One by one: other threads add to them and take from them meanwhile.
    with contextlib.suppress(IndexError):
        while True:
            taken.append(notes.pop(0))
    if not taken:
        return
    lines = "".join(f"{json.dumps(asdict(note))}\n" for note in taken)
    with contextlib.suppress(OSError, PersonaError), files.open_directory(root, [], create=True) as directory:
        stamp = directory.stamp(NAME)
        if stamp is not None and stamp.size > MAX_BYTES:
            directory.rename(NAME, OLDER)
        directory.append(NAME, lines.encode())


def history(root: Path, names: Sequence[str] = (OLDER, NAME)) -> list[Note]:
    """Return the remembered notes, oldest first; unreadable lines are passed over.

    Raises:
        RefusedError: One of these files is a link, or no regular file, or belongs to another account.
        OSError: It could not be read.
    """
    lines = [line for name in names for line in _lines(root, name)]
    return [note for line in lines if (note := _note(line)) is not None]


def _lines(root: Path, name: str) -> list[str]:
    try:
        with files.open_directory(root, []) as directory:
            return directory.read_head(name, 4 * MAX_BYTES).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []


def _note(line: str) -> Note | None:
    try:
        value = json.loads(line)
        note = Note(str(value["at"]), str(value["word"]), str(value["path"]))
        # Half a surrogate pair can be shown nowhere, but for those that stand for the bytes of a path.
        f"{note.at}{note.word}".encode()
        os.fsencode(note.path)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return note
