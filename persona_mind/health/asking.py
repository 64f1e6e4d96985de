"""What the first line of a report on memory says: why it is refused, or what a person would not learn otherwise."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import InvalidError, PersonaError
from persona_hooks.speech import phrase
from persona_mind.kernel import clock, damaged
from persona_mind.kernel.wording import local
from persona_store import diagnostics, readiness
from persona_store.layout import shown
from persona_store.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from persona_store.document import Document
    from persona_store.transaction import Profile

RECENT: Final = timedelta(days=7)
"""For how long a report begins with what was recovered."""
_RECOVERED: Final = "recovered_"


def refused(profile: Profile, documents: Sequence[Document[Any]]) -> str:
    """Return why memory cannot be read or changed, and what to do, as a phrase; empty where it can. Changes nothing."""
    tombstones = Tombstones(profile)
    for document in (*documents, tombstones.document):
        if (found := readiness.hindrance(document)) is not None:
            return found.told
    try:
        tombstones.stands("")  # every change asks whether its words were erased
    except PersonaError as error:
        return error.message
    return ""


def notable(profile: Profile, documents: Sequence[Document[Any]], now: datetime) -> tuple[str, ...]:
    """Return what a person should learn at once, as phrases: who keeps memory to itself, what was recovered lately."""
    return (*_held(documents), *_recovered(profile, now))


def _held(documents: Sequence[Document[Any]]) -> Iterator[str]:
    first = {readiness.lock_of(document): document for document in reversed(documents)}
    for document in first.values():
        found = readiness.held(document)
        if found is None:
            continue
        path, holder = shown(found.path), found.holder
        if found.since:
            since = local(found.since)
            yield phrase(
                "{path} is held by {holder} since {at}; changes wait for it", path=path, holder=holder, at=since
            )
        else:
            yield phrase("{path} is held by {holder}; changes wait for it", path=path, holder=holder)


def _recovered(profile: Profile, now: datetime) -> Iterator[str]:
    latest: dict[str, diagnostics.Note] = {}
    for note in _notes(profile.root):
        if note.word.startswith(_RECOVERED) and _is_recent(note.at, now):
            latest[note.path] = note
    for path, note in latest.items():
        yield damaged.recovered(Path(path), note.word.removeprefix(_RECOVERED), local(note.at))


def _notes(root: Path) -> list[diagnostics.Note]:
    try:
        return diagnostics.history(root)
    except (OSError, PersonaError):
        return []  # what is wrong with them stands among the findings


def _is_recent(at: str, now: datetime) -> bool:
    try:
        return clock.parse(at) > now - RECENT
    except InvalidError:
        return False
