"""What of the backlog stands in a request: the owner's own items, what was taken first, then what is due soonest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from persona_mind.backlog.lines import due_words, line, shown
from persona_mind.injection.render import Ready
from persona_store.structure import inline

if TYPE_CHECKING:
    from datetime import datetime

    from persona_mind.backlog.service import Backlog
    from persona_mind.kernel.scope import Scope

KIND: Final = "backlog"


class Deferred(NamedTuple):
    """The items of one request.

    Attributes:
        lines: Those that were chosen.
        left: How many more there are.
        withheld: How many were passed over because their text breaks a rule.
    """

    lines: tuple[Ready, ...] = ()
    left: int = 0
    withheld: int = 0

    @property
    def known(self) -> int:
        """How many there are."""
        return len(self.lines) + self.left + self.withheld


def choose_deferred(backlog: Backlog, scope: Scope, cap: int, now: datetime) -> Deferred:
    """Return the owner's most urgent items, at most ``cap``. Reads only."""
    lines: list[Ready] = []
    withheld = 0
    items = backlog.own(scope)
    for item in items:
        if len(lines) >= cap:
            break
        out = shown(item, now)
        if out.withheld:
            withheld += 1
            continue
        text, whole = line(out)
        said = "" if out.origin == "user" else f" · {out.brought}"
        due = f" ({due_words(out.due)})" if out.due else ""
        lines.append(Ready(KIND, f"- [{out.id}] ({out.state}{said}) {inline(text)}{due}", whole, out.id))
    return Deferred(tuple(lines), len(items) - len(lines) - withheld, withheld)
