"""The part of a conversation's notes in an archive: they come back as notes of the conversation that takes them in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_mind.kernel import clock
from persona_mind.kernel.kinds import KINDS
from persona_mind.kernel.parts import START, Leaf
from persona_store import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.parts import Extent
    from persona_mind.notes.model import Note
    from persona_mind.notes.service import Notes

_NAME: Final = "notes/session.json"


class NotesPart:
    """The notes of an archive; see ``kernel.parts.Part``."""

    name = "notes"
    version = 1

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def leaves(self, extent: Extent) -> Iterator[Leaf]:
        """Return the owner's notes on the active branch; other conversations keep theirs in their own logs."""
        notes = self._notes.view(extent.session, extent.scope).notes
        if notes:
            rows = tuple(jsontext.encode_row(_fields(note)) for note in notes)
            yield Leaf(_NAME, rows, max((clock.format(note.saved) for note in notes), default=START), len(rows))

    def take(self, leaf: Leaf, intake: Intake) -> None:
        """Save them as notes of this conversation, each by the verb that saves notes."""
        if leaf.name != _NAME:
            raise InvalidError(phrase("notes have no file of that name"), field="name")
        for number, raw in enumerate(leaf.rows, 1):
            intake.tally.found += 1
            _take(phrase("entry {number}", number=number), raw, intake)
            intake.told()


def _take(where: str, raw: bytes, intake: Intake) -> None:
    note: Any = json.loads(raw)
    if not isinstance(note, dict) or not isinstance(text := note.get("text"), str) or note.get("kind") not in KINDS:
        intake.tally.fail(where, phrase("it is no note"))
        return
    whose = note.get("persona")
    if isinstance(whose, str) and intake.persona(whose) != intake.scope.segment:
        # Another persona's, in an archive of all of them; nobody else reads its notes.
        intake.tally.skipped += 1
        return
    source = note.get("source") if isinstance(note.get("source"), str) else ""
    found = intake.passes(where, [("text", text), *([("source", source)] if source else [])])
    if found is None:
        return
    arguments = {"text": text, "kind": note["kind"], "source": source}
    if found.word == "quarantined":
        intake.hold(where, found, "notes.save", arguments)
    elif intake.rehearse:
        intake.tally.added += 1
    else:
        answer = intake.perform("notes.save", {name: value for name, value in arguments.items() if value})
        if answer.ok:
            intake.tally.added += answer.changed == "yes"
            intake.tally.known += answer.changed == "no"
        else:
            intake.tally.fail(where, answer.why)


def _fields(note: Note) -> dict[str, jsontext.JsonValue]:
    held: dict[str, jsontext.JsonValue] = {
        "id": note.id,
        "kind": note.kind,
        "text": note.text,
        "source": note.source or None,
        "persona": note.persona,
        "origin": note.origin,
        "originSessionId": note.origin_session_id,
        "savedAt": clock.format(note.saved),
    }
    return {name: value for name, value in held.items() if value is not None}
