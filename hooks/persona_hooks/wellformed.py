"""Texts that come from elsewhere and are to be paths or ids: which of them can be any.

A log, a brief or a foreign host may hold any text. Asked about a path with a NUL or half a surrogate pair, the system
answers with a ``ValueError`` instead of an ``OSError``, which nobody who asks about files expects.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase, thousands

if TYPE_CHECKING:
    from pathlib import Path

MAX_PATH: Final = 4_096
"""The longest path, in bytes; what Linux takes, and more than other systems do."""
MAX_ID: Final = 128


def is_path(path: str | os.PathLike[str]) -> bool:
    """Return whether the system can be asked about a path; it need not exist."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return b"\0" not in data and len(data) <= MAX_PATH


def checked_path(path: Path, field: str) -> Path:
    """Return ``path``, which the argument ``field`` gives.

    Raises:
        InvalidError: No system has such a path.
    """
    if not is_path(path):
        raise InvalidError(
            phrase(
                "{field}: this is no path; it holds a NUL or half a character, or is longer than {limit} bytes.",
                field=field,
                limit=thousands(MAX_PATH),
            ),
            field=field,
        )
    return path


def is_id(value: object) -> bool:
    """Return whether a value can be the id of a session or an entry. Ids are cited, and so may hide nothing."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable()


def is_text(text: str) -> bool:
    """Return whether a text can be written down; half a surrogate pair, which JSON can escape, cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
