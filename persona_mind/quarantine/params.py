"""What the ``quarantine`` verbs are called with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from persona_hooks.verbs import NoParams, Params, Place
from persona_mind.kernel.rowfields import MAX_ID

HeldId = Annotated[
    str, Place.WORD, Field(min_length=1, max_length=MAX_ID, description="The id that `/mind quarantine` lists.")
]


class ListHeld(NoParams):
    """List what waits for a person, without its text."""


class ShowHeld(Params):
    """Show what is held, escaped, and why."""

    id: HeldId


class ApproveHeld(Params):
    """Approve what is held and do what was asked; it keeps its origin."""

    id: HeldId


class DropHeld(Params):
    """Drop what is held and erase its text."""

    id: HeldId
