"""The ``notes`` verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.verbs import EVERYONE, Verb
from persona_mind.kernel import clock, labels
from persona_mind.kernel.admitting import admitted
from persona_mind.notes import words
from persona_mind.notes.outcomes import Line, NoteGone, NoteOpened, NoteSaved, NotesListed, Storage
from persona_mind.notes.params import ForgetNote, ListNotes, ReadNote, SaveNote
from persona_mind.notes.service import Draft
from persona_mind.notes.shown import shown
from persona_mind.recall.part import part

if TYPE_CHECKING:
    from persona_hooks.ports import Session
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.kernel.access import Access
    from persona_mind.notes.service import Notes
    from persona_mind.notes.shown import ShownNote

EXCERPT: Final = 240
GUIDE: Final = (
    "Notes of this conversation only, on its active branch: what you work on, what was decided for now. A new session "
    "begins without them; what should last goes into `memory`."
)


@dataclass(frozen=True, slots=True)
class NoteVerbs:
    """The verbs over the notes of a session.

    Attributes:
        access: The gate that every call passes.
        notes: The service.
    """

    access: Access
    notes: Notes

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("notes.save", SaveNote, "write", self.save, words.saved, EVERYONE, "mind note save"),
            Verb("notes.list", ListNotes, "read", self.list, words.listed, EVERYONE, "mind note list"),
            Verb("notes.read", ReadNote, "read", self.read, words.opened, EVERYONE, "mind note read"),
            Verb("notes.forget", ForgetNote, "write", self.forget, words.gone, EVERYONE, "mind note forget"),
        )

    def save(self, call: Call, params: SaveNote) -> NoteSaved:
        """Admit every text, then append the note."""
        scope, permit = self.access.enter(call)
        draft = Draft(
            params.kind,
            admitted(params.text.strip(), call.origin, "text"),
            None if params.source is None else admitted(params.source.strip(), call.origin, "source"),
        )
        done = self.notes.save(call.session, scope, draft, permit)
        return NoteSaved(
            changed="no" if done.again else "yes",
            id=done.id,
            kind=params.kind,
            again=done.again,
            storage=_storage(call.session),
            durable=done.durable,
        )

    def list(self, call: Call, params: ListNotes) -> NotesListed:
        """List the branch's notes, the latest first, or those that match."""
        scope, _ = self.access.enter(call)
        view = self.notes.view(call.session, scope)
        asked = params.query.strip()
        found = [note for note, _ in view.matching(asked)] if asked else list(reversed(view.notes))
        lines = tuple(_line(view.shown(note), asked) for note in found)
        return NotesListed(
            count=len(lines),
            total=len(view.notes),
            withheld_unsafe=sum(bool(line.shown.withheld) for line in lines),
            ids=tuple(note.id for note in found),
            lines=lines,
        )

    def read(self, call: Call, params: ReadNote) -> NoteOpened:
        """Return one note whole."""
        scope, _ = self.access.enter(call)
        note = self.notes.read(call.session, scope, params.id)
        out = shown(note)
        return NoteOpened(
            id=note.id,
            kind=note.kind,
            withheld=out.withheld or None,
            saved_at=clock.format(note.saved),
            origin=note.origin,
            origin_session_id=labels.session(note.origin_session_id),
            shown=out,
        )

    def forget(self, call: Call, params: ForgetNote) -> NoteGone:
        """Forget one note on the active branch."""
        scope, permit = self.access.enter(call)
        done = self.notes.forget(call.session, scope, params.id, permit)
        path = call.session.journal.path
        return NoteGone(
            changed="no" if done.again else "yes",
            id=done.id,
            again=done.again,
            storage=_storage(call.session),
            durable=done.durable,
            transcript=str(path) if path is not None and done.durable else None,
        )


def _storage(session: Session) -> Storage:
    return "memory" if session.journal.path is None else "session"


def _line(out: ShownNote, query: str) -> Line:
    text, whole = part(out.text, EXCERPT, query)
    return Line(shown=out, excerpt=text, whole=whole)
