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
    from pathlib import Path

NAME: Final = "diagnostics.jsonl"
MAX_NOTES: Final = 200
_MAX_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Note:
    """One finding: when, one stable word, and which file."""

    at: str
    word: str
    path: str


def flush(root: Path, notes: list[Note]) -> None:
    """Append the notes of this process and forget them; the newest 200 are kept.

    A disk that cannot take a note must not undo or hide what it is about, so refusals end here.
    """
    if not notes:
        return
    lines = [json.dumps(asdict(note)) for note in notes]
    notes.clear()
    with (
        contextlib.suppress(OSError, PersonaError, files.OversizeError),
        files.open_directory(root, [], create=True) as directory,
    ):
        _rewrite(directory, [*_lines(directory), *lines][-MAX_NOTES:])


def _lines(directory: files.Directory) -> list[str]:
    try:
        data, _ = directory.read(NAME, _MAX_BYTES)
    except FileNotFoundError:
        return []
    return data.decode("utf-8", "replace").splitlines()


def _rewrite(directory: files.Directory, lines: list[str]) -> None:
    temporary, descriptor = directory.create_temporary(NAME)
    try:
        files.write_all(descriptor, ("\n".join(lines) + "\n").encode())
        directory.rename(temporary, NAME)
    except BaseException:
        directory.unlink(temporary)
        raise
    finally:
        os.close(descriptor)


def history(root: Path) -> list[Note]:
    """Return the remembered notes, oldest first; unreadable lines are passed over."""
    try:
        with files.open_directory(root, []) as directory:
            lines = _lines(directory)
    except FileNotFoundError:
        return []
    return [note for line in lines if (note := _note(line)) is not None]


def _note(line: str) -> Note | None:
    try:
        value = json.loads(line)
        return Note(str(value["at"]), str(value["word"]), str(value["path"]))
    except (ValueError, KeyError, TypeError):
        return None
