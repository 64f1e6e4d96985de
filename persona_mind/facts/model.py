"""A fact: a pure value, as it stands in a file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, get_args

from pydantic import BaseModel, Field, model_validator

from persona_mind.kernel import clock, kinds
from persona_mind.kernel.approvals import RowApprovals
from persona_mind.kernel.identity import Key, handles, key
from persona_mind.kernel.rowfields import (
    ROW,
    UNKNOWN_ORIGIN,
    Moment,
    RowHost,
    RowId,
    RowOrigin,
    RowPersona,
    RowTags,
    RowText,
)

if TYPE_CHECKING:
    from datetime import datetime

Kind = kinds.Kind
Tier = Literal["persona", "shared", "project", "stm"]

KINDS: Final = kinds.KINDS
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
LONG: Final[tuple[Tier, ...]] = ("persona", "shared", "project")

MAX_SOURCE: Final = 1_024
MAX_DERIVED: Final = 64
MAX_TTL_HOURS: Final = 87_600.0


class Fact(BaseModel):
    """One remembered fact.

    Attributes:
        id: Its handle; rows keep the one they were first stored under.
        recorded_at: When it was first recorded, RFC 3339.
        last_seen_at: When it was last recorded or promoted; reading does not move it.
        supersedes: The id that it replaced.
        persona: The segment of the persona that recorded it; set where several personas read one file.
        expires_at: When it ends; on working facts only.
        source: Where it comes from, in the words of whoever recorded it.
        derived_from: Ids of facts that it was made from.
        origin: Who brought the words; None on rows of another program.
        host: The host that they came through; None on rows of another program, and on imports.
        approvals: What a person approved of it, where a stranger's words needed that.
    """

    model_config = ROW

    id: RowId
    kind: Kind
    text: RowText
    tags: RowTags
    recorded_at: Moment
    last_seen_at: Moment
    supersedes: RowId | None = None
    persona: RowPersona | None = None
    expires_at: Moment | None = None
    source: Annotated[str, Field(max_length=MAX_SOURCE)] | None = None
    derived_from: Annotated[tuple[RowId, ...], Field(max_length=MAX_DERIVED)] | None = None
    origin: RowOrigin | None = None
    host: RowHost | None = None
    approvals: RowApprovals | None = None

    @cached_property
    def key(self) -> Key:
        """What makes it this fact and no other."""
        return key(self.kind, self.text, self.tags)

    @cached_property
    def handles(self) -> frozenset[str]:
        """Every id that it answers to."""
        return handles(self.key, self.id)

    @cached_property
    def recorded(self) -> datetime:
        """When it was first recorded."""
        return clock.parse(self.recorded_at)

    @cached_property
    def seen(self) -> datetime:
        """When it was last recorded."""
        return clock.parse(self.last_seen_at)

    @cached_property
    def expires(self) -> datetime | None:
        """When it ends, if it does."""
        return None if self.expires_at is None else clock.parse(self.expires_at)

    @property
    def brought_by(self) -> RowOrigin:
        """The origin that it is judged by when it is shown."""
        return self.origin or UNKNOWN_ORIGIN

    def live(self, now: datetime) -> bool:
        """Return whether it has not expired."""
        return self.expires is None or self.expires > now


class LongFact(Fact):
    """A fact for good; a row that expires has no place in its file."""

    @model_validator(mode="after")
    def _stays(self) -> Self:
        if self.expires_at is not None:
            raise ValueError("a long-term fact does not expire")
        return self


class WorkingFact(Fact):
    """A fact for now; a row that never expires has no place in its file."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.expires_at is None:
            raise ValueError("a working fact expires")
        return self
