"""Verbs for tests of the contract: one of each shape that a projection has to cope with."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

from pydantic import Field

from persona_hooks.cards import Card
from persona_hooks.verbs import EVERYONE, Call, NoParams, Outcome, Params, Place, Registry, Verb


class Said(Outcome):
    """What was understood."""

    said: str = ""


class Nothing(NoParams):
    """Take nothing."""


class Colour(Enum):
    """A few words."""

    RED = "red"
    GREEN = "green"


class Inner(Params):
    """A nested object."""

    title: str = ""
    properties: int = 0


class Recall(Params):
    """Look for something."""

    query: Annotated[str, Place.REST, Field(max_length=200, description="Words | to look for.")] = ""
    scope: Literal["long", "short", "both"] = "both"
    limit: Annotated[int, Field(ge=1, le=20)] | None = None
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=16)]], Field(max_length=4, default_factory=list)]
    exact: bool = False
    boost: Annotated[bool, Field(description="Only sometimes.")] | None = None


class Remember(Params):
    """Keep something."""

    text: Annotated[str, Place.REST, Field(min_length=1, max_length=400, description="What.")]
    scope: Literal["persona", "shared"] | None = None
    weight: Annotated[float, Field(ge=0, le=1)] | int | None = None
    limit: int = 5
    colour: Colour | None = None
    due_in_seconds: Annotated[int, Field(gt=0, lt=100)] | None = None
    inner: Inner | None = None
    words: Annotated[dict[str, int], Field(default_factory=dict)]


class Forget(Params):
    """Take something away."""

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=8)]], Place.REST, Field(min_length=1)]


class Move(Params):
    """Move something to somewhere."""

    what: Annotated[str, Place.WORD]
    where: Annotated[Literal["attic", "cellar"], Place.WORD]
    why: Annotated[str, Place.REST] | None = None
    by: Literal["hand", "van"] | list[Literal["hand", "van"]] | None = None


def verb(name: str, params: type[Params] = Nothing, *, command: str | None = None) -> Verb[Params, Said]:
    """Return a verb that answers with what it was given."""

    def run(call: Call, given: Params) -> Said:
        del call
        return Said(said=given.model_dump_json())

    spoken = name.replace(".", " ").replace("_", "-") if command is None else command
    return Verb(name, params, "read", run, lambda outcome: Card(outcome.said), EVERYONE, spoken)


def registry() -> Registry:
    """Return a registry of one tool of every shape, and another one of a single verb."""
    verbs = Registry()
    verbs.add(
        verb("note.recall", Recall),
        verb("note.remember", Remember),
        verb("note.forget", Forget),
        verb("note.move", Move),
        verb("note.off", Nothing),
        verb("note.status", Nothing, command="note"),
        verb("lamp.list", Nothing),
    )
    return verbs
