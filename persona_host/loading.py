"""Finding plugins: every entry point of the group ``persona_host``, the shipped two like anyone else's."""

from __future__ import annotations

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
    from importlib.metadata import entry_points as installed  # noqa: PLC0415 - pulls in email and zipfile

    return [(point.name, point.load) for point in sorted(installed(group=PROJECT), key=lambda p: (p.name, p.value))]
