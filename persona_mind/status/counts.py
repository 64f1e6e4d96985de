"""The mind's place in a host's status line: how much is remembered and deferred here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_hooks.speech import say

if TYPE_CHECKING:
    from persona_hooks.ports import Session, Ui
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.search import Views
    from persona_mind.kernel.access import Access

KEY: Final = "mind"


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one plugin instance.

    Attributes:
        access: The gate: without an owner, or with memory off, there is nothing to count.
        views: Recall.
        backlog: The backlog.
        ui: Where they stand.
    """

    access: Access
    views: Views
    backlog: Backlog
    ui: Ui

    def show(self, session: Session) -> None:
        """Show ``mind 2L·1S · backlog 3``: long-term facts, working facts, items to be done; clear it without any."""
        try:
            self.ui.status(KEY, self._text(session))
        except PersonaError:
            self.ui.status(KEY, None)

    def _text(self, session: Session) -> str | None:
        if not self.access.enabled(session):
            return None
        scope = self.access.scope(session, self.access.owner(session))
        now, home = self.backlog.now(), scope.project.home
        long = len(self.views.view(scope, ("persona", "shared"), now).facts)
        if home:
            return say("mind {long}L", long=long) if long else None
        long += len(self.views.view(scope, ("project",), now).facts)
        working = len(self.views.view(scope, ("stm",), now).facts)
        items = len(self.backlog.own(scope))
        if not (long or working or items):
            return None
        return say("mind {long}L·{working}S · backlog {items}", long=long, working=working, items=items)
