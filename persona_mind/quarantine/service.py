"""What can be done with what is held: hold, list, claim for performing, settle, drop.

An approval is written before the held call is made again, and the text leaves the file only after that call has
succeeded: an interruption leaves a call that can be approved once more, never a text that is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.errors import BusyError, CapacityError, NotFoundError
from persona_hooks.speech import phrase
from persona_mind.kernel import clock
from persona_mind.quarantine import files
from persona_mind.quarantine.model import belongs
from persona_store.oserrors import partly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.clock import Now
    from persona_mind.kernel.scope import Scope
    from persona_mind.quarantine.model import HeldCall
    from persona_store.document import Row, Snapshot
    from persona_store.transaction import Profile

MAX_HELD: Final = 64
"""Calls that wait at once for one persona in one project."""
MAX_HELD_BYTES: Final = 256 * 1024
"""Bytes of their arguments."""
MAX_APPROVED: Final = 1_000
"""Approvals that are remembered in all; a row keeps its own for as long as it stands."""


class Quarantine:
    """The quarantine of one profile. Making it touches no disk."""

    def __init__(self, profile: Profile, now: Now) -> None:
        self.profile = profile
        self.now = now
        self.document = files.document(profile)

    def visible(self, scope: Scope) -> list[HeldCall]:
        """Return what was held for this persona in this project, approved calls included. Reads only."""
        return [held for held in self.document.read().values if belongs(held, scope)]

    def waiting(self, scope: Scope) -> list[HeldCall]:
        """Return the calls that wait for a person, the oldest first. Reads only."""
        return [held for held in self.visible(scope) if held.waiting]

    def read(self, scope: Scope, handle: str) -> HeldCall:
        """Return one of them.

        Raises:
            NotFoundError: Nothing of that name is held here.
        """
        return _named(self.visible(scope), handle)

    def consented(self, scope: Scope, origin: str, digest: str, rule: str) -> bool:
        """Return whether a person approved this text from this origin for this persona. Reads only."""
        return any(
            held.persona == scope.segment and held.origin == origin and held.excuses(digest, rule)
            for held in self.document.read().values
        )

    def hold(self, scope: Scope, new: HeldCall, permit: Permit) -> bool:
        """Keep a call, and return whether it was not held before.

        A call that was approved and breaks another rule now waits again.

        Raises:
            CapacityError: There is no room; ``details["limit"]`` names what is full.
        """

        def mutate(snapshot: Snapshot[HeldCall]) -> Sequence[Row[HeldCall]]:
            known = next((row for row in snapshot.rows if row.value is not None and row.value.id == new.id), None)
            if known is not None and known.value is not None and known.value.holds(new):
                return snapshot.rows
            others = [held for held in snapshot.values if held.waiting and belongs(held, scope) and held.id != new.id]
            _require_room(others, new)
            if known is None:
                return [*snapshot.rows, self.document.row(new)]
            again = self.document.revise(known, new)
            return [again if row is known else row for row in snapshot.rows]

        with self.profile.transaction(permit) as transaction:
            return transaction.update(self.document, mutate).changed

    def claim(self, scope: Scope, handle: str, permit: Permit) -> HeldCall:
        """Write down that a person approves a held call, and that it is being performed; return it as it was before.

        Raises:
            NotFoundError: Nothing of that name is held here.
            BusyError: Somebody else has approved it and is performing it just now.
        """
        now = self.now()
        found: list[HeldCall] = []

        def claimed(held: HeldCall) -> HeldCall:
            found[:] = [held]
            if not held.waiting:
                return held
            if held.busy(now):
                raise BusyError(
                    phrase("This is being approved just now; look again in a moment."), reason="being_approved"
                )
            moment = clock.format(now)
            return held.model_copy(update={"approved_at": held.approved_at or moment, "performing_at": moment})

        with self.profile.transaction(permit) as transaction:
            transaction.update(self.document, self._changing(scope, handle, claimed))
        return found[0]

    def settle(self, scope: Scope, handle: str, *, done: bool) -> None:
        """End the performing of a claimed call: its text goes if it was done, and waits on if it was not.

        It asks for no permit: whatever happened meanwhile, what was done is done.
        """

        def settled(held: HeldCall) -> HeldCall:
            update = {"performing_at": None, "arguments": None if done else held.arguments}
            return held.model_copy(update=update)

        change = self._changing(scope, handle, settled)
        with self.profile.transaction() as transaction:
            transaction.update(self.document, lambda snapshot: _bounded(change(snapshot)))
            if done:
                files.erase_previous(self.profile)

    def drop(self, scope: Scope, handle: str, permit: Permit) -> HeldCall | None:
        """Remove a held call, or an approval, with every copy of its text; return what it was, None without one."""
        gone: list[HeldCall] = []

        def mutate(snapshot: Snapshot[HeldCall]) -> Sequence[Row[HeldCall]]:
            gone[:] = [held for held in snapshot.values if held.id == handle and belongs(held, scope)]
            return [row for row in snapshot.rows if row.value is None or row.value not in gone]

        if not any(held.id == handle for held in self.visible(scope)):
            return None
        with self.profile.transaction(permit) as transaction:
            transaction.update(self.document, mutate)
            with partly():
                files.erase_previous(self.profile, permit)
        return gone[0] if gone else None

    def _changing(
        self, scope: Scope, handle: str, change: Callable[[HeldCall], HeldCall]
    ) -> Callable[[Snapshot[HeldCall]], Sequence[Row[HeldCall]]]:
        def mutate(snapshot: Snapshot[HeldCall]) -> Sequence[Row[HeldCall]]:
            old = _named([held for held in snapshot.values if belongs(held, scope)], handle)
            return [
                self.document.revise(row, change(old)) if row.value is not None and row.value.id == old.id else row
                for row in snapshot.rows
            ]

        return mutate


def _named(visible: Sequence[HeldCall], handle: str) -> HeldCall:
    found = next((held for held in visible if held.id == handle), None)
    if found is None:
        raise NotFoundError(
            phrase("Nothing of that name is in quarantine here; `/mind quarantine` lists what is."), field="id"
        )
    return found


def _require_room(waiting: Sequence[HeldCall], new: HeldCall) -> None:
    full = ""
    if len(waiting) >= MAX_HELD:
        full = f"{MAX_HELD} calls"
    elif sum(held.size for held in waiting) + new.size > MAX_HELD_BYTES:
        full = f"{MAX_HELD_BYTES // 1024} KiB"
    if full:
        raise CapacityError(
            phrase(
                "A person must approve this, and the quarantine is full ({full} wait). It was not kept. `/mind "
                "quarantine` lists what waits; approve or drop some.",
                full=full,
            ),
            reason="quarantine_full",
            limit=full,
        )


def _bounded(rows: Sequence[Row[HeldCall]]) -> Sequence[Row[HeldCall]]:
    """Return the rows without the oldest approvals beyond the bound; nothing that waits is ever among them."""
    approved = [row.value for row in rows if row.value is not None and not row.value.waiting]
    if len(approved) <= MAX_APPROVED:
        return rows
    oldest = sorted(approved, key=lambda held: held.approved_at or "")[: len(approved) - MAX_APPROVED]
    gone = {held.id for held in oldest}
    return [row for row in rows if row.value is None or row.value.id not in gone]
