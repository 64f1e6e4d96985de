"""What the ``mind`` verbs return. None of them carries the text of a memory but the snapshot's card."""

from __future__ import annotations

from pydantic import Field

from persona_hooks.verbs import Outcome, Sentence


class Overview(Outcome):
    """What is remembered here, in numbers.

    Attributes:
        long: Private and shared facts.
        project: Facts of the project.
        working: Working facts of the project.
        backlog: The owner's items that are still to be done in the project.
        waiting: Calls in quarantine that wait for a person.
        home: The person works at home, which is no project.
        block: What the model is given.
        notice: What a person is told while nothing was ever stored.
    """

    persona: str | None
    long: int
    project: int
    working: int
    backlog: int
    waiting: int
    home: bool
    block: str = Field(default="", exclude=True)
    notice: Sentence | None = Field(default=None, exclude=True)


class Switched(Outcome):
    """The session's switch.

    Attributes:
        enabled: Whether memory works in this session now.
        durable: Whether the session's log is kept in a file, so that a resumed session knows.
        shared: Whether it is the session that commands in a shell share, rather than a conversation.
    """

    enabled: bool
    durable: bool
    shared: bool
