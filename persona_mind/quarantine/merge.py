"""Two versions of one held call, as two machines made them, become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.kernel import clock
from persona_mind.quarantine.model import MAX_WAITS

if TYPE_CHECKING:
    from persona_mind.quarantine.model import HeldCall


def reconciled(old: HeldCall, new: HeldCall) -> HeldCall:
    """Return the one call that two versions come to.

    A person who had it done has decided: its text does not wait again, unless it was held once more after that. Where
    it waits in both, it waits for all that either waits for, and a consent counts only if both ask for the same.
    """
    if old.waiting and new.waiting:
        return _waiting(old, new)
    if not old.waiting and not new.waiting:
        return old
    waiting, done = (old, new) if old.waiting else (new, old)
    return waiting if clock.parse(waiting.held_at) > clock.parse(done.approved_at or done.held_at) else done


def _waiting(old: HeldCall, new: HeldCall) -> HeldCall:
    waits = {(wait.digest, wait.rule): wait for wait in (*new.waits, *old.waits)}
    if old.holds(new) and new.holds(old):
        return old.model_copy(update={"approved_at": old.approved_at or new.approved_at})
    if len(waits) > MAX_WAITS:
        return old
    return old.model_copy(update={"waits": tuple(waits.values()), "approved_at": None})
