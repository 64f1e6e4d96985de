"""What can be done with a backlog: add, list, take, close, snooze, sweep; and the deadlines that are waited for.

A backlog changes under a lock of its own. What is to be kept or removed is worked out under it, since a list made
before would lose what was added meanwhile.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.errors import InvalidError, NotFoundError, PersonaError, RefusedError, UncertainError
from persona_hooks.speech import phrase
from persona_mind.backlog import transitions
from persona_mind.backlog.files import BacklogFiles
from persona_mind.backlog.handles import resolve
from persona_mind.backlog.model import ACTIVE, KIND, Item, State, milliseconds
from persona_mind.kernel import clock, identity
from persona_mind.kernel.approvals import approvals_of
from persona_mind.kernel.damaged import repaired, served
from persona_mind.kernel.erased import Erased
from persona_mind.kernel.rowfields import LIFE_HOURS, MAX_TEXT, units

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from persona_mind.backlog.transitions import Pair
    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.scope import Project, Scope
    from persona_store.admission import Admitted
    from persona_store.document import Document, Row, Snapshot
    from persona_store.transaction import Profile


class Draft(NamedTuple):
    """An item to be queued; every text in it has been admitted.

    Attributes:
        due: When to remind of it.
        ttl_hours: How long it lives; None for 48 hours. A later deadline extends it.
        again: Queue it anew although it was taken, done or dropped before.
        insist: Its person wants it although it was erased for good.
    """

    text: Admitted
    tags: tuple[Admitted, ...] = ()
    due: datetime | None = None
    ttl_hours: float | None = None
    again: bool = False
    insist: bool = False


class Queued(NamedTuple):
    """An item that was queued.

    Attributes:
        refreshed: It was open already, and lives longer now.
        repaired: What a person is told where a damaged file was carried on from its previous version, as a phrase.
    """

    item: Item
    refreshed: bool
    repaired: str | None


class Moved(NamedTuple):
    """An item that was asked to change; ``changed`` says whether it did, ``repaired`` is as in `Queued`."""

    item: Item
    changed: bool
    repaired: str | None


class Backlog:
    """The backlogs of one profile."""

    def __init__(self, profile: Profile, now: Now) -> None:
        self.files = BacklogFiles(profile)
        self.erased = Erased(profile)
        self.now = now

    def served(self, scope: Scope) -> str | None:
        """Return what a person is told where the backlog is read from its previous version, as a phrase."""
        document = self._document(scope.project)
        return served(document, document.read().damage)

    def own(self, scope: Scope, *, everyone: bool = False, states: Collection[State] = ()) -> list[Item]:
        """Return the owner's items, or everyone's, in the order in which they matter.

        Args:
            scope: Whose, and where.
            everyone: All personas' items, and those of nobody.
            states: Only these; open and taken ones without it.
        """
        now, wanted = self.now(), states or ACTIVE
        # Most rows of an old backlog are closed ones, so the cheap question comes first.
        found = [item for item in self._document(scope.project).read().values if item.state in wanted]
        mine = [item for item in found if (everyone or item.persona == scope.segment) and item.live(now)]
        moment = now.timestamp() * 1000
        return sorted(mine, key=lambda item: urgency(item, moment))

    def read(self, scope: Scope, handle: str) -> Item:
        """Return the one item that ``handle`` names, the owner's own first, whoever's it is otherwise.

        Raises:
            NotFoundError, RefusedError: It names none, or several.
        """
        now = self.now()
        rows = [row for row in self._document(scope.project).read().rows if row.value and row.value.live(now)]
        others = {row.value.persona for row in rows if row.value and handle in row.value.handles}
        whose = scope.segment if others & {scope.segment, None} or not others else min(filter(None, others))
        return resolve(rows, handle, whose)[1]

    def recorded(self, project: Project, ids: Collection[str]) -> dict[str, Item]:
        """Return items by their stored ids, those that have expired included."""
        return {item.id: item for item in self._document(project).read().values if item.id in ids}

    def add(self, scope: Scope, draft: Draft, permit: Permit) -> Queued:
        """Queue an item, or refresh the owner's open one that says the same.

        Raises:
            InvalidError: The text is empty or too long, or it would live past the year 9999.
            RefusedError: The owner took or closed the same item, and it was not asked for anew; or its text was
                erased for good, and nobody insists on it.
            UncertainError: It was queued, but still counts as erased.
        """
        now = self.now()
        document = self._document(scope.project)
        item = _item(scope, draft, now)
        change = transitions.Add(document, item, now, draft.again)

        def added(snapshot: Snapshot[Item]) -> Sequence[Row[Item]]:
            # Under the lock that an erasure waits for: it finds the item, or the item finds the tombstone.
            if draft.insist:
                self.erased.require_finished(item.text, item.tags)
            else:
                self.erased.require(item.text, item.tags)
            return change(snapshot)

        done = self.files.profile.update(document, added, check=permit)
        if draft.insist:
            self._insist(document, change.result, permit)
        return Queued(change.result, change.refreshed, repaired(document, done.repaired))

    def _insist(self, document: Document[Item], item: Item, permit: Permit) -> None:
        try:
            with self.files.profile.transaction(permit) as transaction:
                # Somebody may have begun to erase it since, who then has the last word.
                self.erased.require_finished(item.text, item.tags)
                if any(one.id == item.id and one.key == item.key for one in document.read().values):
                    self.erased.lift(transaction, item.text, item.tags)
                    return
            self.erased.require(item.text, item.tags)
        except RefusedError:
            raise
        except PersonaError as error:
            raise UncertainError(
                phrase("It is queued, but it still counts as erased: saying it again will be refused."),
                changed="yes",
                reason="partly_done",
                cause=error.reason,
            ) from error

    def take(self, scope: Scope, handle: str, permit: Permit) -> Moved:
        """Take an item; taking it once more changes nothing.

        Raises:
            NotFoundError, RefusedError: It is not there, another persona's, or closed.
        """
        now = self.now()
        return self._move(scope, handle, permit, lambda item: transitions.taken(item, scope.segment, now))

    def close(self, scope: Scope, handle: str, state: State, note: Admitted | None, permit: Permit) -> Moved:
        """Note that an item is done, or was dropped; as ``take``.

        Raises:
            RefusedError: Also where the note was erased for good.
        """
        now = self.now()
        said = note if note is not None and note.text.strip() else None

        def closed(item: Item) -> Item:
            if said is not None:
                self.erased.require(said.text)
            return transitions.closed(item, state, said, now)

        return self._move(scope, handle, permit, closed)

    def snooze(self, scope: Scope, handle: str, due: datetime, permit: Permit) -> Moved:
        """Give an item another deadline; as ``take``."""
        now = self.now()
        return self._move(scope, handle, permit, lambda item: transitions.snoozed(item, due, now))

    def awaited(self, project: Project) -> list[tuple[Item, float]]:
        """Return what somebody has still to be reminded of, each with its deadline in milliseconds, soonest first."""
        values = self._document(project).read().values
        waiting = [(item, due) for item in values if (due := item.awaits) is not None]
        return sorted(waiting, key=lambda pair: pair[1])

    def acknowledge(self, project: Project, pairs: Collection[Pair], timeout: float) -> None:
        """Note on disk that these deadlines were reminded of; a renewed one still waits."""
        document = self._document(project)
        change = transitions.reminded(document, frozenset(pairs), self.now())
        self.files.profile.update(document, change, timeout=timeout)

    def sweep(self, project: Project, permit: Permit) -> None:
        """Remove from disk what has expired, and all but the newest thousand of what was closed."""
        now = self.now()
        document = self._document(project)
        change = transitions.sweep(now)
        snapshot = document.read()
        # A look without the lock, so that a quiet moment costs nothing; what goes is worked out again under it.
        if len(change(snapshot)) < len(snapshot.rows):
            self.files.profile.update(document, change, check=permit)

    def _move(self, scope: Scope, handle: str, permit: Permit, to: Callable[[Item], Item]) -> Moved:
        document = self._document(scope.project)
        change = transitions.Move(document, handle, scope.segment, to, self.now())
        if not document.read().rows:
            raise NotFoundError(phrase("This project's backlog is empty."), field="id")
        done = self.files.profile.update(document, change, check=permit)
        return Moved(change.result, done.changed, repaired(document, done.repaired))

    def _document(self, project: Project) -> Document[Item]:
        return self.files.document(project)


def urgency(item: Item, moment: float) -> tuple[int, int, float, float, str]:
    """Order items: taken, open, closed; overdue, due later, never due; the earlier deadline; the newer; the id.

    ``moment`` is now, in milliseconds since the epoch as deadlines are.
    """
    deadline = item.deadline
    when = 2 if deadline is None else int(deadline > moment)
    state = {"taken": 0, "open": 1}.get(item.state, 2)
    return state, when, deadline or 0.0, -item.created.timestamp(), item.id


def _item(scope: Scope, draft: Draft, now: datetime) -> Item:
    text, tags = draft.text.text.strip(), tuple(tag.text.strip() for tag in draft.tags)
    if not identity.normal_text(text):
        raise InvalidError(phrase("text: there is nothing to do in it."), field="text")
    if units(text) > MAX_TEXT:
        raise InvalidError(phrase("text: at most {limit} characters.", limit=MAX_TEXT), field="text", limit=MAX_TEXT)
    due = None if draft.due is None else milliseconds(draft.due)
    ends = now + timedelta(hours=LIFE_HOURS if draft.ttl_hours is None else draft.ttl_hours)
    return Item(
        id=identity.content_id(identity.key(KIND, text, tags)),
        text=text,
        state="open",
        tags=tuple(tag for tag in tags if tag),
        persona=scope.segment,
        created_at=clock.format(now),
        due_at_epoch_ms=due,
        expires_at=clock.format(ends if draft.due is None else max(ends, draft.due)),
        origin=draft.text.origin,
        approvals=approvals_of((draft.text, *draft.tags)),
        history=transitions.first_step(now, due),
    )
