"""Notes on their way out: judged once more by the rules of now."""

from __future__ import annotations

from dataclasses import dataclass

from persona_hooks.speech import phrase
from persona_mind.kernel.showing import brought, judged_all
from persona_mind.kernel.wording import kind_word
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
        """Who brought its words."""
        return brought(self.note.origin, directive=self.directive, approved=self.approved)

    @property
    def mark(self) -> str:
        """What stands before its text in a request: its kind, and who brought it if not the person."""
        kind = kind_word(self.note.kind)
        return kind if self.note.origin == "user" else phrase("{kind} · {by}", kind=kind, by=self.brought)


def shown(note: Note) -> ShownNote:
    """Return a note as it may be shown now; a text, source or label that breaks a rule withholds the whole."""
    parts = [(note.text, note.origin), (note.source, note.origin)]
    out = judged_all(parts, note.approvals, note.persona)
    text, source = out.texts
    return ShownNote(note, text, source, out.withheld, directive=out.directive, approved=out.approved)
