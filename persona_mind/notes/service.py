"""What can be done with notes: save, forget, look at. The session's log is the only place that holds them.

A change is checked against the branch as it was read, then against the owner, and appended under a guard that names
that branch's end: whatever came between is a conflict, and the check is made again.
"""

from __future__ import annotations

import os
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import ConflictError, InvalidError, NotFoundError
from persona_hooks.ports import Guard
from persona_hooks.speech import phrase
from persona_mind.kernel.approvals import approvals_of
from persona_mind.kernel.identity import normal_text
from persona_mind.kernel.rowfields import units
from persona_mind.notes.history import History, payload, replay, within
from persona_mind.notes.model import TYPE, Event, Forget, Note, Save
from persona_mind.notes.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from persona_hooks.ports import Entry, Session
    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.erased import Erased
    from persona_mind.kernel.kinds import Kind
    from persona_mind.kernel.scope import Scope
    from persona_store.admission import Admitted
    from persona_store.document import Rows
    from persona_store.tombstones import Tombstone

_TRIES: Final = 4
_KEPT: Final = 8


class Draft(NamedTuple):
    """A note to be saved; its texts have been admitted."""

    kind: Kind
    text: Admitted
    source: Admitted | None = None


class Done(NamedTuple):
    """What became of a change.

    Attributes:
        id: The note's id.
        again: It was so before, and nothing was written.
        durable: A file holds the log, so that the change outlives this process.
    """

    id: str
    again: bool
    durable: bool


@dataclass(slots=True)
class _Replayed:
    """A session's history as it was last replayed, and what each persona sees of it as long as nobody erases."""

    every: list[str]
    branch: list[str]
    history: History
    stones: Rows[Tombstone] | None = None
    views: dict[str, View] = field(default_factory=dict)

    def seen_by(self, stones: Rows[Tombstone] | None) -> dict[str, View]:
        """Return the views for what is erased by now: another process may have erased what stands in one."""
        if stones != self.stones:
            self.stones, self.views = stones, {}
        return self.views


class Notes:
    """The notes of all sessions. Nothing is kept here but the last replay of a few of them."""

    def __init__(self, erased: Erased | None = None) -> None:
        self._erased = erased
        self._replayed: OrderedDict[str, _Replayed] = OrderedDict()

    def view(self, session: Session, scope: Scope) -> View:
        """Return the owner's notes on the active branch. Reads only.

        Raises:
            CapacityError, UnsupportedVersionError, CorruptError: As ``history.replay``, and as ``Erased.stands``.
        """
        branch = [entry.id for entry in session.journal.branch(TYPE)]
        if not branch:
            return View(())
        replayed = self._replayed.get(session.id)
        if replayed is None or replayed.branch != branch:
            # Only now, since a foreign host sends every entry of every branch for it.
            replayed, _ = self._read(session)
        # Read before the notes are judged: what is erased between the two is judged again at the next look.
        views = replayed.seen_by(None if self._erased is None else self._erased.standing)
        view = views.get(scope.segment)
        if view is None:
            view = views[scope.segment] = View(self._shown(_of(scope, replayed.history)))
        return view

    def read(self, session: Session, scope: Scope, handle: str) -> Note:
        """Return one of the owner's notes.

        Raises:
            NotFoundError: The active branch holds no such note of this persona's; and as ``view``.
        """
        return _named(self.view(session, scope).notes, handle)

    def save(self, session: Session, scope: Scope, draft: Draft, permit: Permit) -> Done:
        """Append a note to the active branch, unless one of this kind says the same there.

        Raises:
            InvalidError: There is nothing in the text.
            RefusedError: It was erased for good.
            CapacityError: A bound is reached.
            ConflictError: The conversation went on, or the owner changed.
        """
        text, source = draft.text.text.strip(), draft.source.text.strip() if draft.source else ""
        wanted = normal_text(text)
        if not wanted:
            raise InvalidError(phrase("text: there is nothing to note in it."), field="text")
        if self._erased is not None:
            self._erased.require(text, (), (source,))
        within("note_text", units(text))
        within("note_source", units(source))

        def decide(history: History) -> Event | str:
            mine = [note for note in _of(scope, history) if note.kind == draft.kind]
            same = next((note for note in mine if normal_text(note.text) == wanted), None)
            if same is not None:
                return same.id
            return Save(
                note_id=secrets.token_hex(6),
                origin_session_id=session.id,
                persona=scope.segment,
                note_kind=draft.kind,
                text=text,
                source=source or None,
                origin=draft.text.origin,
                approvals=approvals_of((draft.text, draft.source)),
            )

        return self._append(session, decide, permit)

    def forget(self, session: Session, scope: Scope, handle: str, permit: Permit) -> Done:
        """Append a tombstone to the active branch; other branches, and the bytes of the log, keep the note.

        Raises:
            NotFoundError: The active branch never held such a note of this persona's.
            CapacityError, ConflictError: As ``save``.
        """

        def decide(history: History) -> Event | str:
            if history.forgotten.get(handle) == scope.segment:
                return handle
            note = _named(_of(scope, history), handle)
            return Forget(note_id=note.id, origin_session_id=session.id, persona=scope.segment)

        return self._append(session, decide, permit)

    def forgotten(self, session: Session, scope: Scope) -> tuple[Note, ...]:
        """Return what the owner forgot on the active branch, whose log keeps the words; for erasing them. Reads only.

        Raises:
            CapacityError, UnsupportedVersionError, CorruptError: As ``history.replay``.
        """
        if not session.journal.branch(TYPE):
            return ()
        replayed, _ = self._read(session)
        return self._shown([note for note in replayed.history.gone if note.persona == scope.segment])

    def release(self, session: Session) -> None:
        """Let go of what is kept of a session."""
        self._replayed.pop(session.id, None)

    def _shown(self, notes: list[Note]) -> tuple[Note, ...]:
        """Return notes without those whose text was erased: no log can be changed, and other branches keep them."""
        erased = self._erased
        return tuple(note for note in notes if erased is None or not erased.stands(note.text, (), (note.source,)))

    def _append(self, session: Session, decide: Callable[[History], Event | str], permit: Permit) -> Done:
        """Append what ``decide`` makes of the branch; an id from it means that there is nothing to write."""
        for attempt in range(1, _TRIES + 1):
            replayed, leaf = self._read(session)
            event = decide(replayed.history)
            if isinstance(event, str):
                path = session.journal.path
                there = path is not None and os.path.exists(path)  # noqa: PTH110 - it never raises
                return Done(event, again=True, durable=there)
            replayed.history.room_for(event)
            permit()
            try:
                receipt = session.journal.append(Guard(session.id, session.generation, leaf), TYPE, payload(event))
            except ConflictError as error:
                if error.reason != "branch_moved" or attempt == _TRIES:
                    raise
            else:
                return Done(event.note_id, again=False, durable=receipt.durable)
        raise _moving()

    def _read(self, session: Session) -> tuple[_Replayed, str]:
        """Return the notes of the branch and its end, read while that did not move."""
        journal = session.journal
        for _ in range(_TRIES):
            leaf = journal.leaf
            every = [entry for entry in journal.entries() if entry.custom_type == TYPE]
            branch = journal.branch(TYPE)
            # The first reading may itself take in what other processes appended.
            if journal.leaf == leaf:
                return self._replay(session.id, every, branch), leaf or ""
        raise _moving()

    def _replay(self, session_id: str, every: list[Entry], branch: list[Entry]) -> _Replayed:
        ids = [entry.id for entry in every], [entry.id for entry in branch]
        known = self._replayed.get(session_id)
        if known is None or (known.every, known.branch) != ids:
            known = self._replayed[session_id] = _Replayed(*ids, replay(every, branch))
        self._replayed.move_to_end(session_id)
        while len(self._replayed) > _KEPT:
            self._replayed.popitem(last=False)
        return known


def _of(scope: Scope, history: History) -> list[Note]:
    return [note for note in history.active if note.persona == scope.segment]


def _named(notes: Iterable[Note], handle: str) -> Note:
    found = next((note for note in notes if note.id == handle), None)
    if found is None:
        raise NotFoundError(phrase("No such note stands on this branch of the conversation."), field="id")
    return found


def _moving() -> ConflictError:
    return ConflictError(
        phrase("The conversation goes on too fast for a note; nothing was written."), reason="branch_moved"
    )
