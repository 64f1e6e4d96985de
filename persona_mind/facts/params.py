"""The parameters of the ``memory`` verbs: the only place where they are described and checked."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

from pydantic import Field

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_hooks.verbs import Params, Place
from persona_mind.facts.model import LONG, MAX_DERIVED, MAX_SOURCE, MAX_TTL_HOURS, TIERS, Kind, Tier
from persona_mind.kernel.identity import ID_PATTERN
from persona_mind.kernel.rowfields import MAX_ID, MAX_TAG, MAX_TAGS, MAX_TEXT

MAX_QUERY: Final = 512
MAX_HITS: Final = 50
DEFAULT_HITS: Final = 8

Reach = Literal["long", "short", "both", "persona", "shared", "project", "stm", "sessions"]

FactId = Annotated[str, Place.WORD, Field(min_length=1, max_length=MAX_ID, description="The fact's id.")]
OtherId = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=ID_PATTERN)]


class Remember(Params):
    """Remember one fact, for good or for two days."""

    text: Annotated[
        str, Place.REST, Field(min_length=1, max_length=MAX_TEXT, description="One self-contained sentence or two.")
    ]
    kind: Annotated[
        Kind,
        Field(
            description="objective: what all work is for; invariant: must always hold; preference: how the person "
            "wants things; convention: how it is done here; gotcha: a trap; rationale: why something was decided; "
            "note: any other."
        ),
    ] = "note"
    scope: Annotated[
        Tier | None,
        Field(
            description="persona (the default): private, for good; shared: all personas; project: this repository; "
            "stm: this project, for 48 hours. An objective is always kept for good."
        ),
    ] = None
    term: Annotated[
        Literal["long", "short"] | None, Field(description="The older form of scope: long is persona, short is stm.")
    ] = None
    shared: Annotated[bool, Field(description="The older form of scope shared.")] = False
    tags: Annotated[
        tuple[Annotated[str, Field(max_length=MAX_TAG)], ...],
        Field(max_length=MAX_TAGS, description="Words to find it by; part of what makes it this fact."),
    ] = ()
    ttl_hours: Annotated[
        float | None, Field(gt=0, le=MAX_TTL_HOURS, description="Hours until an stm fact expires; 48 without it.")
    ] = None
    supersedes: Annotated[
        OtherId | None, Field(description="Id of the fact that this one replaces; it is retired where it stands.")
    ] = None
    source: Annotated[str | None, Field(max_length=MAX_SOURCE, description="Where it comes from.")] = None
    derived_from: Annotated[
        tuple[OtherId, ...], Field(max_length=MAX_DERIVED, description="Ids of facts that it was made from.")
    ] = ()
    insist: Annotated[bool, Field(description="Take it in although it was erased for good; a person's to say.")] = False


class Recall(Params):
    """Find what is remembered; without a query, the newest."""

    query: Annotated[str, Place.REST, Field(max_length=MAX_QUERY, description="Words to look for.")] = ""
    scope: Annotated[
        Reach | tuple[Reach, ...],
        Field(
            description="Where to look: persona, shared, project, stm, one or several; long is the first three, "
            "short is stm, both is all of these. sessions is what was said in past conversations."
        ),
    ] = "both"
    sessions: Annotated[
        bool, Field(description="Look in past conversations, too; instead of facts where no scope is named.")
    ] = False
    max: Annotated[float | None, Field(allow_inf_nan=True, description="How many at most, 1 to 50; 8 without it.")] = (
        None
    )


class Read(Params):
    """Read one fact whole, with its source, tags and origin."""

    id: FactId


class Forget(Params):
    """Forget one fact in every place where the owner may change it."""

    id: FactId
    scope: Annotated[Tier | None, Field(description="Forget it in this place only.")] = None


class Promote(Params):
    """Keep one of the owner's working facts for good."""

    id: FactId
    scope: Annotated[
        Literal["project", "persona", "shared"],
        Field(description="Where it goes: project (the default), persona or shared."),
    ] = "project"


def destination(params: Remember) -> Tier:
    """Return where a fact goes.

    Raises:
        InvalidError: Scope, term and shared contradict each other, or a fact for good is given hours.
    """
    named: set[Tier] = set()
    if params.scope is not None:
        named.add(params.scope)
    if params.shared:
        named.add("shared")
    if params.term == "short":
        named.add("stm")
    if params.term == "long" and not named & set(LONG):
        named.add("persona")
    if len(named) > 1:
        raise InvalidError(phrase("The options scope, term and shared name different places."), field="scope")
    tier = named.pop() if named else "persona"
    if params.kind == "objective" and tier == "stm":
        tier = "persona"
    if params.ttl_hours is not None and tier != "stm":
        raise InvalidError(
            phrase("Only an stm fact expires: `--ttl-hours` (`ttlHours` in a tool) goes with the scope stm."),
            field="ttlHours",
        )
    if params.ttl_hours is not None and params.ttl_hours * 3_600 < 1:
        raise InvalidError(
            phrase("A fact lives for a second at least; `--ttl-hours` (`ttlHours` in a tool) says less."),
            field="ttlHours",
        )
    return tier


def reach(params: Recall) -> tuple[tuple[Tier, ...], bool]:
    """Return the tiers that a recall looks in, in their fixed order, and whether it looks in past conversations."""
    scope = params.scope
    words = {scope} if isinstance(scope, str) else set(scope) or {"both"}
    if params.sessions:
        words = words | {"sessions"} if "scope" in params.model_fields_set else {"sessions"}
    wanted = {tier for word in words for tier in _TIERS_OF[word]}
    return tuple(tier for tier in TIERS if tier in wanted), "sessions" in words


def limit(number: float | None) -> int:
    """Return how many hits are asked for: floored and kept in 1 to 50; 8 where nothing useful is said."""
    if number is None or math.isnan(number):
        return DEFAULT_HITS
    return MAX_HITS if number >= MAX_HITS else max(1, math.floor(max(number, 1.0)))


_TIERS_OF: Final[dict[Reach, tuple[Tier, ...]]] = {
    "long": LONG,
    "short": ("stm",),
    "both": TIERS,
    "persona": ("persona",),
    "shared": ("shared",),
    "project": ("project",),
    "stm": ("stm",),
    "sessions": (),
}
