"""Whose conversation it is, said in a log whose messages cannot say it: an entry where the persona changes.

A host's own messages carry no persona. So each branch gets an entry before the first message that is another persona's
than the one before it, and whoever reads the log later goes by the nearest one above.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_hooks.owner import SPEAKER

if TYPE_CHECKING:
    from persona_hooks.ports import Journal
    from persona_host.runtime import Runtime

_UNKNOWN: Final = object()
_NOTHING: Final = object()


class Speaker:
    """What the active branch says last, as far as it was looked at."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._said: object = _UNKNOWN

    def moved(self) -> None:
        """Forget what the branch said: it is another one."""
        self._said = _UNKNOWN

    def tell(self, runtime: Runtime) -> None:
        """Append an entry if the branch says something else, before a person's message is appended.

        Where there is no owner, or the host does not take the entry, nothing is said, and the turn goes on.
        """
        with suppress(PersonaError):
            persona = runtime.owner().persona
            if self._said is _UNKNOWN:
                said = self._journal.branch(SPEAKER)
                self._said = said[-1].data.get("persona") if said else _NOTHING
            if self._said != persona:
                self._journal.append(runtime.session.guard(), SPEAKER, {"persona": persona})
                self._said = persona
