"""Slips of the pen: keys of the settings that are none, and nearly one. Whatever else is unknown is somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ALIKE: Final = 0.8
"""How much of a key must be that of a setting for it to be taken for a slip."""


def slips(values: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each key that is nearly a setting. It is not repeated: it is the file's own text.

    Args:
        values: The file's object.
        known: Every setting, dotted, and every section.
    """
    names = list(_names(values, {name.partition(".")[0] for name in known if "." in name}))
    free = [name for name in known if name not in names]
    for name in names:
        near = None if name in known else _nearest(name, free)
        if near is not None:
            yield phrase("a key is no setting and does nothing; {setting} may be meant", setting=near)


def _names(values: Mapping[str, Any], sections: Collection[str]) -> Iterator[str]:
    for key, value in values.items():
        yield key
        if key in sections and isinstance(value, Mapping):
            yield from (f"{key}.{below}" for below in value)


def _nearest(name: str, known: Collection[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only a key that nobody knows needs it

    section, dot, own = name.rpartition(".")
    beside = {one[len(section + dot) :]: one for one in known if one.rpartition(".")[0] == section}
    near = get_close_matches(own, beside, 1, ALIKE)
    return beside[near[0]] if near else None
