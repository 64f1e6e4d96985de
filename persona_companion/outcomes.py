"""What the companion's verbs return."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from persona_hooks.naming import to_camel
from persona_hooks.verbs import Outcome, Sentence


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True)


class Problem(_Part):
    """One thing to correct.

    Attributes:
        path: The file or folder.
        line: Where; None for the file as a whole.
        text: The sentence, beginning with the last parts of the path.
        fatal: Whether it makes the persona or the setting unusable.
    """

    path: str
    line: int | None
    text: Sentence
    fatal: bool


class ListedPersona(_Part):
    """One persona in a list."""

    name: str
    description: str
    origin: Literal["user", "project"]
    active: bool


class Listed(Outcome):
    """Who speaks, and who could.

    Attributes:
        state: ``ready``, or ``blocked`` where the persona that was asked for cannot be used and memory is closed.
        active: The persona; None for none.
        why: Who asked for it, or why memory is closed.
        folder: Where the person's own personas live.
        untrusted: Whether the project has personas that are not offered.
    """

    state: Literal["ready", "blocked"]
    active: str | None
    why: Sentence
    personas: tuple[ListedPersona, ...]
    problems: tuple[Problem, ...]
    folder: str
    untrusted: bool


class Chosen(Outcome):
    """Who speaks now.

    Attributes:
        active: The persona; None for none.
        remembered: Whether the settings hold the choice for later sessions.
        pinned: Whether ``PI_PERSONA_DEFAULT`` decides there instead.
    """

    active: str | None
    remembered: bool
    pinned: bool


class Shown(Outcome):
    """One persona whole."""

    name: str
    description: str
    origin: Literal["user", "project"]
    path: str
    line: int
    role: str | None
    model: str | None
    notebook: bool
    objective: str
    prompt: str
    problems: tuple[Problem, ...]


class Checked(Outcome):
    """What is wrong with briefs and settings."""

    personas: int
    problems: tuple[Problem, ...]
