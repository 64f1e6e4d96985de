"""What the ``memory`` verbs return. Details hold ids and counts; what was remembered stands in the card only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from persona_hooks.verbs import Outcome, Sentence
from persona_mind.facts.model import TIERS, Kind, Tier
from persona_mind.facts.shown import ShownFact
from persona_mind.kernel.compared import Compared
from persona_mind.kernel.past import Told


class Line(Outcome):
    """One fact of an answer.

    Attributes:
        excerpt: What is shown of the text; empty where nothing could be shown without changing its meaning.
        whole: The excerpt is the whole text.
    """

    fact: ShownFact
    excerpt: str
    whole: bool


class Remembered(Outcome):
    """A fact was saved.

    Attributes:
        summary: One short sentence, without the text.
        again: It was known and has been refreshed.
        retired: How many rows it replaced.
        notice: What a person is told the first time.
        warning: What a person is told where a damaged file was carried on from its previous version.
        text: What was saved, for the card.
    """

    changed: Literal["yes"] = "yes"
    id: str
    scope: Tier
    kind: Kind
    summary: Sentence
    again: bool = False
    retired: int = 0
    notice: Sentence | None = Field(default=None, exclude=True)
    warning: Sentence | None = None
    text: str = Field(default="", exclude=True, repr=False)


class Recalled(Outcome):
    """Facts, or what was said in past conversations, were looked for. The numbers are those of both.

    Attributes:
        count: How many are shown.
        total: How many match.
        max: How many were allowed.
        withheld: How many match and are not shown for want of room.
        withheld_unsafe: How many of the best break a rule now; where there is room, a placeholder is shown.
        known: How many there are to search.
        ids: Of the facts that are shown.
        sessions: What was said in past conversations, where those were searched.
        meaning: How far likeness of meaning took part in the search for facts; None where no model is set.
        tiers: Where facts were looked for.
        asked: How many were asked for, which may be more or fewer than a list may have.
        warning: What a person is told where a previous version was read in place of a damaged file.
    """

    count: int
    total: int
    max: int
    withheld: int
    withheld_unsafe: int
    ids: tuple[str, ...]
    known: int
    sessions: Told | None = None
    meaning: Compared | None = None
    warning: Sentence | None = None
    tiers: tuple[Tier, ...] = Field(default=TIERS, exclude=True)
    lines: tuple[Line, ...] = Field(default=(), exclude=True)
    asked: float | None = Field(default=None, exclude=True)


class Opened(Outcome):
    """One fact, whole."""

    id: str
    scope: Tier
    kind: Kind
    withheld: str | None = None
    recorded_at: str
    last_seen_at: str
    expires_at: str | None = None
    supersedes: str | None = None
    derived_from: tuple[str, ...] | None = None
    origin: str
    host: str | None = None
    persona: str | None = None
    fact: ShownFact = Field(exclude=True)


class Gone(Outcome):
    """A fact was forgotten.

    Attributes:
        removed: In how many places it stood.
        scopes: Which.
        kept: How many equal working facts of other personas stay.
        warning: As of what was remembered.
    """

    changed: Literal["yes"] = "yes"
    id: str
    removed: int
    scopes: tuple[Tier, ...]
    kept: int = 0
    warning: Sentence | None = None


class Promoted(Outcome):
    """A working fact is kept for good now; ``warning`` as of what was remembered."""

    changed: Literal["yes"] = "yes"
    id: str
    scope: Tier
    kind: Kind
    warning: Sentence | None = None
