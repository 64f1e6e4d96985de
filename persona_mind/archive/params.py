"""The parameters of the ``archive`` verbs: the only place where they are described and checked."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from persona_hooks.verbs import Params, Place

MAX_PATH: Final = 4_096

Format = Literal["persona", "chatgpt", "claude", "hermes", "mem0", "basic-memory"]
Into = Literal["persona", "shared", "project"]


class Import(Params):
    """Take in memories that another program exported, or an archive of ours; the source stays as it is."""

    path: Annotated[
        str, Place.REST, Field(min_length=1, max_length=MAX_PATH, description="A file or a directory, or a ZIP of it.")
    ]
    format: Annotated[
        Format | None, Field(description="What it comes from; found out from its contents without it.")
    ] = None
    scope: Annotated[
        Into,
        Field(description="Where memories of other programs go: private to this persona, shared, or this project's."),
    ] = "persona"
    adopt: Annotated[bool, Field(description="Take another persona's archive in as this persona's own.")] = False
    dry_run: Annotated[bool, Field(description="Only say what would be done.")] = False


class Export(Params):
    """Write what is remembered here into one archive that import takes back."""

    path: Annotated[
        str,
        Place.REST,
        Field(max_length=MAX_PATH, description="The file to write; persona-mind-DATE.zip here without it."),
    ] = ""
    all_personas: Annotated[
        bool, Field(description="All personas and all projects, not only what this persona sees in this project.")
    ] = False
    force: Annotated[bool, Field(description="Replace a file of that name.")] = False
