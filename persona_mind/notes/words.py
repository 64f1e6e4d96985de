"""The words of the ``notes`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card, one_line, quoted
from persona_hooks.speech import say, say_n, worded
from persona_mind.kernel.wording import capital, kind_word, lines, withheld

if TYPE_CHECKING:
    from persona_mind.notes.outcomes import Line, NoteGone, NoteOpened, NoteSaved, NotesListed


def saved(outcome: NoteSaved) -> Card:
    """Say that a note stands, and how long it lasts."""
    title = say("Noted in memory only [{id}]", id=outcome.id)
    if outcome.storage == "session":
        title = say("Noted in this session's log [{id}]", id=outcome.id)
    if outcome.again:
        title = say("Noted already on this branch [{id}]", id=outcome.id)
    objective = say("It drives this session only; a new one begins without it.") if outcome.kind == "objective" else ""
    return Card(title=title, detail=lines(_lasting(outcome), objective), level="success")


def listed(outcome: NotesListed) -> Card:
    """List notes."""
    total, unsafe = outcome.total, outcome.withheld_unsafe
    if not total:
        return Card(title=say("No notes stand on this branch of the conversation."))
    if not outcome.count:
        hint = say("Try other words, or list without any.")
        return Card(title=say("No note on this branch matches."), hint=hint)
    some = outcome.count < total
    clipped = sum(not line.whole and not line.shown.withheld for line in outcome.lines)
    return Card(
        title=say("{count} of {notes}", count=outcome.count, notes=_notes(total)) if some else _notes(total),
        body=tuple(_line(line) for line in outcome.lines),
        detail=lines(
            say("{notes} withheld: the stored text breaks a rule", notes=_notes(unsafe)) if unsafe else "",
            say("{notes} shown in part; read an id for the whole", notes=_notes(clipped)) if clipped else "",
        ),
    )


def opened(outcome: NoteOpened) -> Card:
    """Show one note whole."""
    note = outcome.shown
    return Card(
        title=say(
            "{kind} {id}, noted in this conversation, {by}",
            kind=capital(worded(kind_word(outcome.kind))),
            id=outcome.id,
            by=note.brought,
        ),
        body=(withheld(note.withheld),) if note.withheld else quoted(note.text),
        detail=lines(
            say("source: {source}", source=one_line(note.source)) if note.source else "",
            say("saved {at} in session {session}", at=outcome.saved_at, session=one_line(outcome.origin_session_id)),
        ),
    )


def gone(outcome: NoteGone) -> Card:
    """Say that a note is forgotten here, and where its text still stands."""
    title = say("Forgotten on this branch: {id}", id=outcome.id)
    if outcome.again:
        title = say("Forgotten before: {id}", id=outcome.id)
    path = outcome.transcript
    kept = say("The transcript keeps what was written: {path}", path=path) if path else ""
    return Card(title=title, detail=lines(say("Other branches keep the note."), kept), level="success")


def _lasting(outcome: NoteSaved) -> str:
    if outcome.durable:
        return say("A restart of this session finds it; a new session does not inherit it.")
    if outcome.storage == "memory":
        return say("This session is kept in memory only: a restart does not find the note.")
    return say("This session's log is not in a file yet: until its first message, a restart does not find the note.")


def _line(line: Line) -> str:
    note = line.shown
    text = withheld(note.withheld) if note.withheld else line.excerpt or say("(too long to show in part; read it)")
    return f"- [{note.note.id}] ({worded(kind_word(note.note.kind))} · {worded(note.brought)}) {text}"


def _notes(number: int) -> str:
    return say_n("{number} note", "{number} notes", number)
