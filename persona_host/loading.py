"""Finding plugins: every entry point of the group ``persona_host``, the shipped two like anyone else's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from persona_hooks.specs import PROJECT

if TYPE_CHECKING:
    from persona_hooks.ports import Host

Factory = Callable[["Host"], object]
Found = list[tuple[str, Callable[[], Factory]]]


def entry_points() -> Found:
    """Return each entry point's name and what imports it, sorted by name.

    Nothing is imported here: a plugin that fails at import must not stop the search for the others. Two
    distributions that claim one name are both listed, so that the second is refused in words.
    """
    from importlib.metadata import distribution, distributions  # noqa: PLC0415 - pulls in email and zipfile

    # Reading is quick and parsing is not, and most of what is installed has nothing for us.
    named = {_plain(found.name) for found in distributions() if PROJECT in (found.read_text("entry_points.txt") or "")}
    # By its name, so that of two on the path the first is taken, as it is for imports.
    points = [point for name in named for point in distribution(name).entry_points.select(group=PROJECT)]
    return [(point.name, point.load) for point in sorted(points, key=lambda point: (point.name, point.value))]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
