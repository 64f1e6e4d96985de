"""How far likeness of meaning took part in a search, and what a person is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from persona_hooks.speech import say

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTORS: Final = "recall.vectors"
"""The setting that names a model."""

State = Literal["used", "unread", "late", "starting", "failed"]
"""Whether likeness of meaning took part: it did; nothing had been read for it yet; the question's vector took too long;
the model is still being loaded; the model does not work."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How far likeness of meaning took part in a search. What had no vector was found by words alone.

    Attributes:
        state: Whether it did, and why not.
        vectors: How many of the rows that were searched had a vector.
        rows: How many were searched.
    """

    state: State
    vectors: int
    rows: int

    def told(self) -> Iterator[str]:
        """Yield what a person is told: nothing where all rows were compared."""
        match self.state:
            case "used" if self.vectors < self.rows:
                yield say(
                    "{number} of {total} were compared by meaning, too; the others are still to be read",
                    number=self.vectors,
                    total=self.rows,
                )
            case "unread":
                yield say("found by words alone: nothing has been read for comparing meanings yet")
            case "late":
                yield say("found by words alone: the embedding model took too long")
            case "starting":
                yield say("found by words alone: the embedding model is still being loaded")
            case "failed":
                yield say("found by words alone: `{setting}` does not work, see `/mind doctor`", setting=VECTORS)
            case _:
                pass
