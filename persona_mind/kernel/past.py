"""What was said in past conversations, as the faculty that finds it hands it to the one that is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.cards import Card
from persona_hooks.naming import to_camel
from persona_mind.kernel.compared import Compared

if TYPE_CHECKING:
    from persona_hooks.verbs import Call

Speaker = Literal["user", "model"]


@dataclass(frozen=True, slots=True)
class Cited:
    """Where something was said.

    Attributes:
        session: The session's id.
        turn: The id of the entry in that session's log.
        at: When, RFC 3339; None where the log does not say.
        role: Who said it.
    """

    session: str
    turn: str
    at: str | None
    role: Speaker


class Told(BaseModel):
    """A recall over past conversations.

    Attributes:
        count: How many turns are shown.
        total: How many match.
        known: How many there are to search.
        withheld_unsafe: How many of the best break a rule; where there is room, a placeholder is shown.
        turns: What is shown, best first.
        meaning: How far likeness of meaning took part; None where no model is set.
        words: Makes the card, in the language of whoever is spoken to then.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True)

    count: int
    total: int
    known: int
    withheld_unsafe: int
    turns: tuple[Cited, ...]
    meaning: Compared | None = None
    words: Callable[[], Card] = Field(exclude=True)

    @property
    def card(self) -> Card:
        """The words for it, for whoever is spoken to now."""
        return self.words()


Past = Callable[["Call", str, int], Told]
"""Looks for a query and returns at most so many turns."""
