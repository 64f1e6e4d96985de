"""What a move by command comes to."""

from __future__ import annotations

from persona_hooks.verbs import Outcome, Sentence


class PersonaMigrated(Outcome):
    """What came of it.

    Attributes:
        persona: The persona's name; None for none, which never had another one.
        files: Files that brought something.
        added: Entries that came in, were renewed, or were given the present name.
        known: Entries that were known.
        left: Files that are left for another go.
        warnings: What went wrong, each naming its file.
    """

    persona: str | None
    files: int
    added: int
    known: int
    left: bool
    warnings: tuple[Sentence, ...]
