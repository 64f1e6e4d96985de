"""Putting an archive together and writing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.archive.container import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.kernel.parts import Extent, Part


def archive_of(parts: Sequence[Part], extent: Extent) -> tuple[bytes, dict[str, int]]:
    """Return the bytes of an archive, and how many entries each part put in. Reads only.

    Raises:
        CapacityError: It would be too large.
        CorruptError, UnsupportedVersionError: A store cannot be read; an archive without it would pass for whole.
    """
    leaves = [leaf for part in parts for leaf in part.leaves(extent)]
    head = {
        "persona": None if extent.everything else extent.scope.persona,
        "segment": None if extent.everything else extent.scope.segment,
        "everything": extent.everything,
        "parts": {part.name: part.version for part in parts},
    }
    counts = {part.name: 0 for part in parts}
    for leaf in leaves:
        counts[leaf.name.partition("/")[0]] += len(leaf.rows)
    return packed(leaves, head), counts
