"""From a session's log to its notes: replayed on the active branch, counted over all of them.

A history that cannot be relied on gives no notes at all and takes none: an unknown version, an event that is not as it
should be, or more than the bounds allow. What stands in a log cannot be mended from here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from persona_hooks.errors import UNCHANGED, CapacityError, CorruptError, InvalidError, UnsupportedVersionError
from persona_hooks.speech import marked, phrase, thousands
from persona_mind.kernel import clock
from persona_mind.kernel.rowfields import units
from persona_mind.notes.model import (
    MAX_ACTIVE,
    MAX_BYTES,
    MAX_EVENTS,
    MAX_SOURCE,
    MAX_TEXT,
    TYPE,
    VERSION,
    Event,
    Forget,
    Note,
    Save,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from persona_hooks.ports import Entry

LIMITS: Final = {
    "active_notes": (MAX_ACTIVE, marked("Session notes: at most {most} active notes on this branch.")),
    "note_events": (
        MAX_EVENTS,
        marked("Session notes: at most {most} note events in this session, over all branches."),
    ),
    "note_bytes": (
        MAX_BYTES,
        marked("Session notes: at most {most} bytes of note events in this session, over all branches."),
    ),
    "note_text": (MAX_TEXT, marked("Session notes: at most {most} characters in a note.")),
    "note_source": (MAX_SOURCE, marked("Session notes: at most {most} characters in a note's source.")),
}
"""Every bound by its name in a refusal."""


class History(NamedTuple):
    """What a session's log says about notes.

    Attributes:
        active: The notes of the branch, all personas', oldest first.
        gone: The notes of the branch that were forgotten on it; for erasing alone.
        forgotten: Whose note each id was that was forgotten on this branch.
        events: How many events the session has used up, over all branches.
        size: How many bytes they take.
    """

    active: tuple[Note, ...]
    gone: tuple[Note, ...]
    forgotten: Mapping[str, str]
    events: int
    size: int

    def room_for(self, event: Event) -> None:
        """Refuse an event that would exceed a bound.

        Raises:
            CapacityError: It would; ``details["limit"]`` names the bound.
        """
        within("note_events", self.events + 1)
        within("note_bytes", self.size + encoded(payload(event)))
        if isinstance(event, Save):
            within("active_notes", len(self.active) + 1)


def replay(every: Iterable[Entry], branch: Sequence[Entry]) -> History:
    """Return the notes of a branch.

    Args:
        every: All entries of the session; those of other types count for nothing.
        branch: The note events of the active branch, from the root.

    Raises:
        CapacityError: A bound is exceeded.
        UnsupportedVersionError: A newer release wrote an event.
        CorruptError: An event is malformed, or saves a note that is there already.
    """
    sizes = [encoded(entry.data) for entry in every if entry.custom_type == TYPE]
    within("note_events", len(sizes))
    within("note_bytes", sum(sizes))
    saved: dict[str, Note] = {}
    forgotten: dict[str, str] = {}
    for entry in branch:
        match _event(entry):
            case Save() as event:
                if event.note_id in saved:
                    raise _unsafe(phrase("saves a note that is there already"))
                saved[event.note_id] = _note(event, entry)
            case event:
                forgotten[event.note_id] = event.persona
    active = tuple(note for note in saved.values() if forgotten.get(note.id) != note.persona)
    within("active_notes", len(active))
    gone = tuple(note for note in saved.values() if forgotten.get(note.id) == note.persona)
    return History(active, gone, forgotten, len(sizes), sum(sizes))


def payload(event: Event) -> dict[str, Any]:
    """Return an event as its entry holds it."""
    return event.model_dump(mode="json", by_alias=True, exclude_none=True)


def encoded(data: Mapping[str, Any]) -> int:
    """Return how many bytes an entry's data takes."""
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def within(limit: str, number: int) -> None:
    """Refuse more than a bound allows.

    Raises:
        CapacityError: It is exceeded.
    """
    most, what = LIMITS[limit]
    if number > most:
        raise CapacityError(
            phrase(
                "{limit} A new session begins without notes; {unchanged}.",
                limit=phrase(what, most=thousands(most)),
                unchanged=UNCHANGED,
            ),
            limit=limit,
            most=most,
        )


def _event(entry: Entry) -> Save | Forget:
    data = entry.data
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise UnsupportedVersionError(
            phrase(
                "This session's notes were written by a newer release (version {version}); they are left untouched.",
                version=version,
            ),
            version=version,
        )
    for name, limit in (("text", "note_text"), ("source", "note_source")):
        value = data.get(name)
        if isinstance(value, str):
            within(limit, units(value))
    kind = data.get("kind")
    if kind not in {"save", "forget"} or "version" not in data:
        raise _unsafe(phrase("holds an event of no known kind"))
    try:
        return Save.model_validate(dict(data)) if kind == "save" else Forget.model_validate(dict(data))
    except ValidationError as error:
        field = ".".join(map(str, error.errors(include_input=False, include_url=False)[0]["loc"]))
        raise _unsafe(phrase("holds an event whose {field} is malformed", field=field or phrase("content"))) from None


def _note(event: Save, entry: Entry) -> Note:
    try:
        saved = clock.parse(entry.timestamp)
    except InvalidError:
        raise _unsafe(phrase("holds an event without a time")) from None
    return Note(
        event.note_id,
        event.note_kind,
        event.text,
        event.source or "",
        event.persona,
        event.origin,
        event.origin_session_id,
        saved,
        event.approvals,
    )


def _unsafe(what: str) -> CorruptError:
    return CorruptError(
        phrase(
            "This session's log {what}, so its notes are neither shown nor changed. A new session begins "
            "without notes.",
            what=what,
        ),
        reason="unsafe_history",
    )
