"""What the ``backlog`` verbs return. Details hold ids and counts; what is to be done stands in the card only."""

from __future__ import annotations

from pydantic import Field

from persona_hooks.verbs import Outcome, Sentence
from persona_mind.backlog.lines import ShownItem
from persona_mind.backlog.model import State


class Added(Outcome):
    """An item was queued.

    Attributes:
        due: When it will be reminded of, RFC 3339.
        due_label: How far away that is.
        expires_at: When it ends.
        refreshed: It was open already, and lives longer now.
        notice: What a person is told the first time.
        warning: What a person is told where a damaged file was carried on from its previous version.
    """

    id: str
    state: State
    due: str | None = None
    due_label: Sentence = Field(default="", exclude=True)
    expires_at: str | None = None
    refreshed: bool = False
    notice: Sentence | None = Field(default=None, exclude=True)
    warning: Sentence | None = None


class Listed(Outcome):
    """Items, the most urgent first.

    Attributes:
        count: How many are shown.
        total: How many there are of the kind that was asked for.
        max: How many were allowed.
        withheld: How many are not shown for want of room.
        withheld_unsafe: How many are shown as a placeholder, because their text breaks a rule now.
        whole: The one item that was asked for is shown whole.
        everyone: It is a list of all personas' items.
        asked: How many were asked for, which may be more or fewer than a list may have.
        warning: What a person is told where a previous version was read in place of a damaged file.
    """

    count: int
    total: int
    max: int
    withheld: int
    withheld_unsafe: int = 0
    ids: tuple[str, ...]
    items: tuple[ShownItem, ...] = Field(default=(), exclude=True)
    whole: bool = Field(default=False, exclude=True)
    everyone: bool = Field(default=False, exclude=True)
    asked: float | None = Field(default=None, exclude=True)
    warning: Sentence | None = None


class Shifted(Outcome):
    """An item was taken, closed or put off.

    Attributes:
        due: When it will be reminded of, RFC 3339.
        warning: As of an item that was queued.
    """

    id: str
    state: State
    due: str | None = None
    warning: Sentence | None = None
    item: ShownItem = Field(exclude=True)
