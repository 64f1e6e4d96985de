"""Notes on their way out: judged once more by the rules of now."""

from __future__ import annotations

from dataclasses import dataclass

from persona_hooks.cards import one_line
from persona_mind.kernel.approvals import judged
from persona_mind.notes.model import Note  # noqa: TC001 - outcomes hold this, and pydantic reads it


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note as it may be shown.

    Attributes:
        text: Its text; empty where it is withheld.
        withheld: The rule that withholds it; empty where it is shown.
        directive: It reads like an instruction, and a model wrote it.
        approved: It reads like an instruction, a stranger brought it, and a person approved it.
    """

    note: Note
    text: str
    source: str
    withheld: str
    directive: bool
    approved: bool = False

    @property
    def brought(self) -> str:
        """Who brought its words; where they read like an order, they must not be taken for the person's."""
        return f"by {self.note.origin}{', not the user' if self.directive else ', approved' if self.approved else ''}"

    @property
    def mark(self) -> str:
        """What stands before its text in a request: its kind, and who brought it if not the person."""
        return self.note.kind if self.note.origin == "user" else f"{self.note.kind} · {self.brought}"


def shown(note: Note) -> ShownNote:
    """Return a note as it may be shown now; a text or source that breaks a rule withholds the whole."""
    # The scanner takes a while to load, and a session without notes needs none.
    from persona_store.admission import Shown  # noqa: PLC0415

    parts = [judged(text, note.origin, note.approvals) for text in (note.text, note.source)]
    broken = next((part.rule for part in parts if not isinstance(part, Shown)), "")
    if broken:
        return ShownNote(note, "", "", broken, directive=False)
    text, source = (part.text for part in parts if isinstance(part, Shown))
    flags = frozenset[str]().union(*(part.flags for part in parts if isinstance(part, Shown)))
    return ShownNote(note, text, source, "", directive="directive" in flags, approved="approved" in flags)


def part(text: str, limit: int, query: str = "") -> tuple[str, bool]:
    """Return at most ``limit`` characters of a text as one line, and whether that is all of it.

    What is returned is empty where no part can be shown without changing what the text says.
    """
    line = one_line(text)
    if len(line) <= limit:
        return line, True
    # Most notes are short, and the analysis behind excerpts takes a while to load.
    from persona_mind.recall.excerpt import excerpt  # noqa: PLC0415

    found = excerpt(line, limit, query)
    return found.text, found.whole
