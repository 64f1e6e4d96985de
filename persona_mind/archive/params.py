"""Parameters and outcomes of the ``archive`` verbs. No outcome holds the text of a memory."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from persona_hooks.verbs import Outcome, Params, Place

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


class Trouble(Outcome):
    """Why an entry did not come in."""

    where: str
    what: str


class SourceReport(Outcome):
    """What became of one source.

    Attributes:
        name: The file, below what was named.
        format: What it was taken for; empty where nobody could tell.
        renewed: Entries that were known, and were later here.
        skipped: Entries that are no memories, or were turned off where they come from.
    """

    name: str
    format: str
    found: int
    added: int
    renewed: int
    known: int
    refused: int
    quarantined: int
    failed: int
    skipped: int
    problems: tuple[Trouble, ...] = ()


class Imported(Outcome):
    """What became of all sources.

    Attributes:
        rehearsed: Nothing was written.
        ignored: Files that hold no memories.
    """

    rehearsed: bool
    added: int
    renewed: int
    known: int
    refused: int
    quarantined: int
    failed: int
    skipped: int
    ignored: int
    sources: tuple[SourceReport, ...]


class Exported(Outcome):
    """An archive was written.

    Attributes:
        entries: How many entries each part put in.
    """

    path: str
    bytes: int
    entries: dict[str, int]
    everything: bool
