"""The parameters of the safekeeping verbs: the only place where they are described and checked."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from persona_hooks.verbs import NoParams, Params, Place
from persona_mind.kernel.rowfields import MAX_ID

MAX_PATH: Final = 4_096


class Erase(Params):
    """Erase one memory for good: from every file, version and backup of the profile, so that it does not come back."""

    id: Annotated[
        str,
        Place.WORD,
        Field(
            min_length=1,
            max_length=MAX_ID,
            description="Id of a fact, a backlog item, a note or a held call, forgotten or replaced ones included.",
        ),
    ]
    everywhere: Annotated[
        bool, Field(description="Erase other memories that contain the same words, too; without it they are named.")
    ] = False


class Backup(Params):
    """Copy the whole profile, all personas and projects, into a new directory."""

    path: Annotated[
        str,
        Place.REST,
        Field(max_length=MAX_PATH, description="The directory to make; persona-mind-backup-DATE here without it."),
    ] = ""


class Restore(Params):
    """Bring the profile back as a backup holds it, without what was erased since; what it replaces is kept."""

    path: Annotated[
        str,
        Place.REST,
        Field(min_length=1, max_length=MAX_PATH, description="A backup's directory, or the name of a daily one."),
    ]
    yes: Annotated[bool, Field(description="Do it; without it you are told what it would do.")] = False
    newer: Annotated[bool, Field(description="Replace memories that changed after the backup was made, too.")] = False


class Backups(NoParams):
    """List the backups inside the profile: seven daily ones, and what restoring replaced."""


class Merge(NoParams):
    """Take in the second versions that a synchronised folder left, without what was erased."""
