"""The words of the ``notes`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card, one_line, quoted

if TYPE_CHECKING:
    from persona_mind.notes.outcomes import Line, NoteGone, NoteOpened, NoteSaved, NotesListed


def saved(outcome: NoteSaved) -> Card:
    """Say that a note stands, and how long it lasts."""
    place = "this session's log" if outcome.storage == "session" else "memory only"
    title = f"Noted already on this branch [{outcome.id}]" if outcome.again else f"Noted in {place} [{outcome.id}]"
    objective = "It drives this session only; a new one begins without it." if outcome.kind == "objective" else ""
    return Card(title=title, detail=_lines(_lasting(outcome), objective), level="success")


def listed(outcome: NotesListed) -> Card:
    """List notes."""
    if not outcome.total:
        return Card(title="No notes stand on this branch of the conversation.")
    if not outcome.count:
        return Card(title="No note on this branch matches.", hint="Try other words, or list without any.")
    some = outcome.count < outcome.total
    clipped = sum(not line.whole and not line.shown.withheld for line in outcome.lines)
    return Card(
        title=f"{outcome.count} of {_notes(outcome.total)}" if some else _notes(outcome.total),
        body=tuple(_line(line) for line in outcome.lines),
        detail=_lines(
            f"{_notes(outcome.withheld_unsafe)} withheld: the stored text breaks a rule"
            if outcome.withheld_unsafe
            else "",
            f"{_notes(clipped)} shown in part; read an id for the whole" if clipped else "",
        ),
    )


def opened(outcome: NoteOpened) -> Card:
    """Show one note whole."""
    note = outcome.shown
    return Card(
        title=f"{outcome.kind.capitalize()} {outcome.id}, noted in this conversation, {note.brought}",
        body=(f"[withheld: {note.withheld}]",) if note.withheld else quoted(note.text),
        detail=_lines(
            f"source: {one_line(note.source)}" if note.source else "",
            f"saved {outcome.saved_at} in session {one_line(outcome.origin_session_id)}",
        ),
    )


def gone(outcome: NoteGone) -> Card:
    """Say that a note is forgotten here, and where its text still stands."""
    title = f"Forgotten {'before' if outcome.again else 'on this branch'}: {outcome.id}"
    kept = f"The transcript keeps what was written: {outcome.transcript}" if outcome.transcript else ""
    return Card(title=title, detail=_lines("Other branches keep the note.", kept), level="success")


def _lasting(outcome: NoteSaved) -> str:
    if outcome.durable:
        return "A restart of this session finds it; a new session does not inherit it."
    if outcome.storage == "memory":
        return "This session is kept in memory only: a restart does not find the note."
    return "This session's log is not in a file yet: until its first message, a restart does not find the note."


def _line(line: Line) -> str:
    note = line.shown
    text = f"[withheld: {note.withheld}]" if note.withheld else line.excerpt or "(too long to show in part; read it)"
    return f"- [{note.note.id}] ({note.note.kind} · {note.brought}) {text}"


def _notes(number: int) -> str:
    return f"{number} note" if number == 1 else f"{number} notes"


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
