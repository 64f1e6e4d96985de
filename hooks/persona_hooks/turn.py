"""A turn: how long a piece of work may take, and whether it is still wanted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.errors import UNCHANGED, BusyError, ConflictError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Callable


def _always() -> bool:
    return True


class Turn(NamedTuple):
    """The time and the licence that one dispatch or one call has.

    Work calls ``check()`` before it takes a lock and just before it renames a file into place, never after: what is
    committed is reported, not unwound.

    Attributes:
        generation: Rises whenever the session's runtime is replaced; work of an older generation is stale.
        deadline: On ``clock``, or None where nobody waits.
        alive: Whether this generation is still the current one.
        clock: A monotonic clock in seconds.
    """

    generation: int = 0
    deadline: float | None = None
    alive: Callable[[], bool] = _always
    clock: Callable[[], float] = time.monotonic

    @property
    def remaining(self) -> float | None:
        """Seconds left, not below zero; None where nobody waits."""
        return None if self.deadline is None else max(0.0, self.deadline - self.clock())

    def check(self) -> None:
        """Raise if the work should stop before it changes anything.

        Raises:
            ConflictError: The session was replaced meanwhile.
            BusyError: The time is up.
        """
        if not self.alive():
            raise ConflictError(
                phrase("The session was replaced meanwhile; {unchanged}.", unchanged=UNCHANGED), reason="stale_session"
            )
        if self.remaining == 0.0:
            raise BusyError(
                phrase("The time for this is up; {unchanged}. Try again.", unchanged=UNCHANGED), reason="deadline"
            )
