"""The paths that a person names in a verb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_mind.kernel.admitting import admitted

if TYPE_CHECKING:
    from persona_hooks.verbs import Call


def named_path(call: Call, home: Path, given: str) -> Path:
    """Return a path as the person meant it, ``~`` and the working directory counted in.

    Raises:
        RefusedError: It holds a secret or something hidden; nobody repeats it.
    """
    text = admitted(given.strip(), call.origin, "path").text
    place = home / text[2:] if text.startswith("~/") else Path(text)
    return call.session.cwd / place
