"""What the ``quarantine`` verbs return. What is held stands in the card of ``show`` and nowhere else."""

from __future__ import annotations

from pydantic import Field, JsonValue

from persona_hooks.verbs import Outcome, Sentence


class HeldItem(Outcome):
    """One held call in numbers and names.

    Attributes:
        verb: What is to be done.
        origin: Who brought it.
        rules: The rules that it breaks.
        approved_at: When a person approved it, though it could not be done then.
    """

    id: str
    verb: str
    origin: str
    rules: tuple[str, ...]
    held_at: str
    approved_at: str | None = None


class Waiting(Outcome):
    """What waits for a person here."""

    count: int
    items: tuple[HeldItem, ...]


class Shown(Outcome):
    """One held call.

    Attributes:
        item: Names and numbers.
        found: For each text that has to be looked at: the argument, the rule, and where.
        arguments: What the verb was called with; None once it was done.
    """

    item: HeldItem
    found: tuple[Sentence, ...]
    arguments: dict[str, JsonValue] | None = Field(exclude=True)


class Approved(Outcome):
    """A held call was approved.

    Attributes:
        did: What came of it, in the words of its own verb; empty where it was done before.
    """

    id: str
    verb: str
    origin: str
    rules: tuple[str, ...]
    did: str = Field(default="", exclude=True)


class Dropped(Outcome):
    """A held call is gone.

    Attributes:
        done: It had been approved and done, so that only the approval went.
    """

    id: str
    done: bool = False
