"""From an id to what a person wants erased: its words, and everything of the profile that holds them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import UNCHANGED, CorruptError, NotFoundError, RefusedError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_mind.facts.files import Held
from persona_mind.facts.model import TIERS
from persona_mind.facts.resolve import resolve
from persona_mind.kernel.identity import folded_text
from persona_mind.quarantine.model import belongs, strings
from persona_mind.safekeeping.former import former
from persona_store.document import Document
from persona_store.layout import documents_below
from persona_store.rows import RawCodec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from persona_hooks.ports import Session
    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.scope import Scope
    from persona_mind.notes.model import Note
    from persona_mind.notes.service import Notes
    from persona_mind.quarantine.model import HeldCall
    from persona_mind.quarantine.service import Quarantine
    from persona_mind.safekeeping.outcomes import What
    from persona_store.erase import Target
    from persona_store.transaction import Profile


@dataclass(frozen=True, slots=True)
class Named:
    """What an id names.

    Attributes:
        texts: Its words as they are stored, in every spelling that was found.
        ids: Every id that it is recorded under.
    """

    what: What
    id: str
    texts: tuple[str, ...]
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Naming:
    """The faculties that have ids."""

    facts: Facts
    backlog: Backlog
    notes: Notes
    quarantine: Quarantine

    def named(self, session: Session, scope: Scope, handle: str) -> Named:
        """Return what an id names among everything that the owner can see, expired rows included.

        What no live document holds any more is found by its id in older versions of the same documents, and a note
        that was forgotten in the conversation's own log.

        Raises:
            NotFoundError: It names nothing.
            RefusedError: It names several things.
            StorageError: An older version could not be looked into.
        """
        found = self._fact(scope, handle) or self._item(scope, handle) or self._note(session, scope, handle)
        found = found or self._held(scope, handle) or self._former(session, scope, handle)
        if found is None:
            raise NotFoundError(
                phrase(
                    "No fact, backlog item, note or held call of this id is visible here; recall and the lists show "
                    "those that are."
                ),
                field="id",
            )
        return found

    def _former(self, session: Session, scope: Scope, handle: str) -> Named | None:
        """Return what the id named before it was forgotten, superseded, closed or dropped."""
        facts = [
            Held(tier, fact, row)
            for tier, document in self.facts.files.documents(scope)
            for row, fact in former(document)
        ]
        items = [item for _, item in former(self.backlog.files.document(scope.project))]
        calls = [held for _, held in former(self.quarantine.document) if held.waiting and belongs(held, scope)]
        found = _of_facts(facts, handle) or _of_items(items, handle) or _of_calls(calls, handle)
        return found or _of_notes(self.notes.forgotten(session, scope), handle)

    def _fact(self, scope: Scope, handle: str) -> Named | None:
        return _of_facts(self.facts.files.read(scope, TIERS), handle)

    def _item(self, scope: Scope, handle: str) -> Named | None:
        return _of_items(self.backlog.files.document(scope.project).read().values, handle)

    def _note(self, session: Session, scope: Scope, handle: str) -> Named | None:
        return _of_notes(self.notes.view(session, scope).notes, handle)

    def _held(self, scope: Scope, handle: str) -> Named | None:
        return _of_calls(self.quarantine.waiting(scope), handle)


def _of_facts(rows: Sequence[Held], handle: str) -> Named | None:
    if not any(handle in held.fact.handles for held in rows):
        return None
    found = resolve(rows, handle)
    ids = frozenset[str]().union(*(held.fact.handles for held in found))
    return Named("fact", found[0].fact.id, _texts(held.fact.text for held in found), ids)


def _of_items(items: Iterable[Item], handle: str) -> Named | None:
    named = [item for item in items if handle in item.handles]
    named = [item for item in named if item.id == handle] or named
    if not named:
        return None
    if len({item.key for item in named}) > 1:
        raise RefusedError(
            phrase("This id names several items; {unchanged}.", unchanged=UNCHANGED), reason="ambiguous_id", field="id"
        )
    return Named("item", handle, _texts(item.text for item in named), frozenset(item.id for item in named))


def _of_notes(notes: Iterable[Note], handle: str) -> Named | None:
    note = next((note for note in notes if note.id == handle), None)
    return None if note is None else Named("note", note.id, (note.text,), frozenset({note.id}))


def _of_calls(calls: Iterable[HeldCall], handle: str) -> Named | None:
    held = next((held for held in calls if held.id == handle), None)
    return None if held is None else Named("held call", held.id, _looked_at(held), frozenset({held.id}))


@dataclass(frozen=True, slots=True)
class Holding:
    """One row of a live document that holds some words."""

    document: str
    id: str
    text: str


def holding(profile: Profile, target: Target) -> Iterator[Holding]:
    """Yield every row of every live document that an erasure of these words would take. Reads only.

    Raises:
        StorageError: A folder could not be looked into, so that rows might be missed.
    """
    for relative in documents_below(profile.root):
        try:
            rows = Document(profile.root, relative, RawCodec()).read().rows
        except (CorruptError, UnsupportedVersionError):
            continue  # the erasure leaves it and names it
        for row in rows:
            if row.value is not None and target.in_value(row.value):
                yield Holding(relative, str(row.value.get("id", "")), _text(row.value))


def says_the_same(one: str, texts: Iterable[str]) -> bool:
    """Return whether two texts differ in spelling only."""
    return folded_text(one) in set(map(folded_text, texts))


def _text(row: dict[str, Any]) -> str:
    arguments = row.get("arguments")
    text = arguments.get("text") if isinstance(arguments, dict) else row.get("text")
    return text if isinstance(text, str) else ""


def _looked_at(held: HeldCall) -> tuple[str, ...]:
    """Return the words that a person was to look at; what else a call holds is names and numbers."""
    digests = {wait.digest for wait in held.waits}
    texts = [text for _, text in strings(held.arguments or {})]
    found = [text for text in texts if _digest(text) in digests or _digest(text.strip()) in digests]
    return _texts(found or texts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _texts(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
