"""What the safekeeping verbs return. No outcome holds the text of a memory."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from persona_hooks.verbs import Outcome

What = Literal["fact", "item", "note", "held call", "nothing"]


class Left(Outcome):
    """A file that still holds an erased text, or that could not be searched.

    Attributes:
        outside: It is no part of the profile.
    """

    path: str
    outside: bool


class Erasure(Outcome):
    """Something was erased.

    Attributes:
        what: What the id named; ``nothing`` where it was erased before.
        rows: How many rows of live documents went.
        files: The files that were changed.
        left: What still holds the text.
        finished: How many interrupted erasures were completed on the way.
    """

    id: str
    what: What
    rows: int = 0
    files: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    finished: int = 0


class Faulty(Outcome):
    """A document that was damaged when a backup was made.

    Attributes:
        fault: ``previous``: the backup brings its previous version back; ``unreadable``: it brings nothing of it back;
            ``newer``: a newer release wrote it, and brings it back.
    """

    document: str
    fault: Literal["previous", "unreadable", "newer"]


class BackedUp(Outcome):
    """A backup was made.

    Attributes:
        files: How many files it holds.
        damaged: What of the profile is damaged; it was copied as it lies.
    """

    changed: Literal["yes"] = "yes"
    path: str
    files: int
    damaged: tuple[Faulty, ...] = ()


class Shelved(Outcome):
    """One backup inside the profile.

    Attributes:
        made: When, RFC 3339; empty where it is damaged.
    """

    name: str
    made: str
    files: int = 0


class BackupsListed(Outcome):
    """The backups inside the profile, the latest last."""

    folder: str
    backups: tuple[Shelved, ...]


class LeftAsItWas(Outcome):
    """A document that could not be brought back.

    Attributes:
        reason: Why, in one word, such as ``busy`` or ``fingerprint`` for one that changed meanwhile.
    """

    document: str
    reason: str


class BroughtBack(Outcome):
    """A backup was restored.

    Attributes:
        documents: The documents that changed.
        withheld: How many rows stayed out, since they were erased.
        untouched: Documents that the backup does not know, or cannot bring back; they are as they were.
        left: Documents that could not be brought back, though the backup holds them.
        damaged: Documents that were damaged when the backup was made.
        kept: The backup of what was replaced; None where there was nothing.
        foreign: The backup's tombstones were made by another key, so that they could not join those here.
    """

    path: str
    documents: tuple[str, ...]
    withheld: int
    untouched: tuple[str, ...]
    left: tuple[LeftAsItWas, ...] = ()
    damaged: tuple[Faulty, ...] = ()
    kept: str | None = None
    foreign: bool = False


class TakenIn(Outcome):
    """One conflict copy.

    Attributes:
        merged: It was taken in and removed; otherwise it lies where it was.
        withheld: How many rows stayed out as erased, or went, where it brought the tombstones of an erasure.
        renewed: How many rows gave way to what both versions come to.
        kept: The file with those rows of it that no rule settles; None where there are none.
        reason: Why it was not taken in: it cannot be read, or there is another key beside the profile's.
    """

    path: str
    document: str
    merged: bool
    added: int = 0
    withheld: int = 0
    renewed: int = 0
    kept: str | None = None
    reason: Literal["unreadable", "key"] | None = None


class Merged(Outcome):
    """What became of the conflict copies."""

    copies: tuple[TakenIn, ...] = Field(default=())
