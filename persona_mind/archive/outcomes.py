"""What the ``archive`` verbs return. Nothing in it holds the text of a memory."""

from __future__ import annotations

from persona_hooks.verbs import Outcome, Sentence


class Trouble(Outcome):
    """Why an entry did not come in."""

    where: Sentence
    what: Sentence


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
