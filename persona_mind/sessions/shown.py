"""Turns on their way out: judged by who said them, shown in part, cited."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from persona_hooks.cards import one_line
from persona_mind.kernel import clock
from persona_mind.kernel.past import Cited
from persona_mind.sessions.outcomes import Quote

if TYPE_CHECKING:
    from persona_mind.sessions.model import Turn


def cited(turn: Turn) -> Cited:
    """Return where a turn was said."""
    at = None if turn.at is None else clock.format(datetime.fromtimestamp(turn.at, UTC))
    return Cited(session=turn.session, turn=turn.id, at=at, role=turn.role)


def quote(turn: Turn, limit: int, query: str = "") -> Quote:
    """Return a turn as it may be shown now, at most ``limit`` characters of it, around the words of a query."""
    # The scanner and the analysis take a while to load, and without past conversations nothing is quoted.
    from persona_mind.recall.excerpt import excerpt  # noqa: PLC0415
    from persona_store.admission import Shown, show  # noqa: PLC0415

    verdict = show(turn.text, turn.role)
    if not isinstance(verdict, Shown):
        return Quote(cited(turn), "", whole=False, withheld=verdict.rule)
    part = excerpt(one_line(verdict.text), limit, query)
    return Quote(cited(turn), part.text, part.whole, directive="directive" in verdict.flags)
