"""Whose conversation it is, said in a log whose messages cannot say it: an entry where the persona changes.

A host's own messages carry no persona. So each branch gets an entry before the first message that is another persona's
than the one before it, and whoever reads the log later goes by the nearest one above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_hooks.owner import SPEAKER

if TYPE_CHECKING:
    from persona_hooks.ports import Journal
    from persona_host.runtime import Runtime

_UNKNOWN: Final = object()
_NOTHING: Final = object()
_NOBODY: Final = object()
"""Stands for the persona where nobody owns the memory that the words could go to."""


class Speaker:
    """What the active branch says last, as far as it was looked at."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._said: object = _UNKNOWN
        self._missed = False
        self._leaf: str | None = None

    def moved(self) -> None:
        """Forget what the branch said: it is another one."""
        self._said = _UNKNOWN
        self._missed = False

    def tell(self, runtime: Runtime) -> None:
        """Append an entry if the branch says something else, before a person's message is appended.

        Where nobody owns the memory, the entry says that it is not known whose the words are, unless the branch names
        nobody anyway. Where the host does not take the entry, the turn goes on; see ``catch_up``.
        """
        try:
            self._tell(runtime)
        except PersonaError:
            if not self._missed:
                self._missed, self._leaf = True, self._journal.leaf

    def catch_up(self, runtime: Runtime) -> None:
        """Append what the host did not take before, with the messages that stand under another's name meanwhile."""
        if self._missed:
            self.tell(runtime)

    def _tell(self, runtime: Runtime) -> None:
        if self._said is _UNKNOWN:
            said = self._journal.branch(SPEAKER)
            self._said = said[-1].data.get("persona", _NOBODY) if said else _NOTHING
        persona, doubted = _owner(runtime), self._doubted() if self._missed else []
        names_nobody = self._said is _NOTHING and persona is _NOBODY
        if doubted or (self._said != persona and not names_nobody):
            data = {} if persona is _NOBODY else {"persona": persona}
            self._journal.append(runtime.session.guard(), SPEAKER, {**data, "doubted": doubted} if doubted else data)
            self._said = persona
        self._missed = False

    def _doubted(self) -> list[str]:
        branch = self._journal.branch()
        ids = [entry.id for entry in branch]
        since = ids.index(self._leaf) + 1 if self._leaf in ids else 0
        return [entry.id for entry in branch[since:] if entry.type == "message"]


def _owner(runtime: Runtime) -> object:
    try:
        return runtime.owner().persona
    except PersonaError:
        return _NOBODY
