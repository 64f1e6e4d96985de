"""What was erased and must not come back by an import, whatever kind it comes under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_mind.kernel.identity import key, semantic
from persona_mind.kernel.kinds import KINDS
from persona_store.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_store.transaction import Profile

BACKLOG: Final = "backlog"
"""What stands in an item's identity where a fact has its kind."""


class Erased:
    """The tombstones of a profile, asked by text. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._tombstones = Tombstones(profile)

    def stands(self, text: str, tags: Iterable[str] = ()) -> bool:
        """Return whether this text was erased, with these tags or without any.

        The kind does not matter: other programs have other kinds, and a person who erased a text meant the text.

        Raises:
            CorruptError: There are tombstones, but the key to read them is gone.
        """
        kept = tuple(tags)
        return self._tombstones.any_stands(
            semantic(key(kind, text, with_tags)) for kind in (*KINDS, BACKLOG) for with_tags in {kept, ()}
        )
