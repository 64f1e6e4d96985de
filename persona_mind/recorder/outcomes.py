"""What ``mind.why`` returns. Details hold ids and numbers; what is remembered stands in the card only."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.naming import to_camel
from persona_hooks.verbs import Outcome
from persona_mind.recorder.model import Item
from persona_mind.recorder.tell import Described, Uses


class _Part(BaseModel):
    """A part of an outcome."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True)


class Occasion(_Part):
    """One memory in one turn."""

    turn: str
    at: str
    item: Item


class Used(_Part):
    """What became of one memory; ``uses`` counts turns."""

    id: str
    uses: Uses
    about: Described | None = Field(default=None, exclude=True)


class Why(Outcome):
    """What the recorded turns tell.

    Attributes:
        recorded: How many turns are recorded for this owner.
        turn: The turn that is told of; None where one memory is, or the useless ones are, or nothing is recorded.
        session: Its session.
        items: What stood in it and is still remembered.
        gone: How many of its memories are no longer here.
        left: By kind of memory, how many had no room.
        withheld: How many were withheld because their text breaks a rule.
        memory: What became of the memory that was asked for.
        occasions: The latest turns that it stood in.
        unmatched: Memories that were shown again and again and never had to do with what was asked.
        unseen: Memories that were never shown.
        early: How many have neither helped nor been there often enough to tell that they never do.
    """

    recorded: int
    turn: str | None = None
    at: str | None = None
    session: str | None = None
    items: tuple[Item, ...] = ()
    gone: int = 0
    left: dict[str, int] = Field(default_factory=dict)
    withheld: int = 0
    memory: Used | None = None
    occasions: tuple[Occasion, ...] = ()
    unmatched: tuple[Used, ...] | None = None
    unseen: tuple[Used, ...] | None = None
    early: int = 0
    about: dict[str, Described] = Field(default_factory=dict, exclude=True)
