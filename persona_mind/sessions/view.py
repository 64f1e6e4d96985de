"""Whose turns may be quoted: one owner's view of a project's logs, with the index over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_mind.sessions.model import Turn
from persona_mind.sessions.pieces import pieces
from persona_mind.sessions.ranking import Ranking
from persona_mind.sessions.reading import UNRECORDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from persona_mind.kernel.scope import Scope
    from persona_mind.recall.pool import Sources
    from persona_mind.sessions.logs import Log

MAX_TURNS: Final = 200_000
"""Turns that are searched, those of the latest conversations."""


@dataclass(slots=True)
class View:
    """What one owner may see, at one state of the logs.

    Attributes:
        logs: The state.
        unread: How many logs could not be read.
        older: How many logs are left out because there are too many turns.
    """

    logs: list[Log]
    turns: list[Turn]
    ranking: Ranking
    unread: int
    older: int


def seen(old: View | None, logs: list[Log], scope: Scope, present: str, meaning: Sources) -> View:
    """Return what an owner sees of a project's logs; the present conversation is no past one.

    What was analysed for the view before it is not analysed again.
    """
    readable = [log for log in logs if log.header is not None and log.header.session_id != present]
    chosen: list[Log] = []
    number = 0
    for log in readable:
        number += len(log.said)
        if number > MAX_TURNS and chosen:
            break
        chosen.append(log)
    # A conversation stands before its forks, so that what both hold is cited where it was said.
    chosen.sort(key=lambda log: (log.header.timestamp if log.header else "", log.path.name))
    unsaid = set[tuple[str, float | None]]().union(*(log.unsaid for log in logs))
    turns = list(_turns(chosen, scope.persona, unsaid))
    ranking = Ranking(meaning=meaning) if old is None else old.ranking
    ranking.sync(turns)
    return View(logs, turns, ranking, sum(log.unreadable for log in logs), len(readable) - len(chosen))


def _turns(logs: Iterable[Log], persona: str | None, seen: set[tuple[str, float | None]]) -> Iterator[Turn]:
    """Yield the turns that an owner may see, but for those that were ``seen``; what forks repeat, once."""
    for log in logs:
        session = log.header.session_id if log.header else ""
        place = 0
        for said in log.said:
            if said.persona is not UNRECORDED and said.persona != persona:
                continue
            if (said.id, said.at) in seen:
                continue
            seen.add((said.id, said.at))
            name = said.persona if said.role == "model" and isinstance(said.persona, str) else ""
            for number, text in enumerate(pieces(said.text)):
                key = f"{session}/{said.id}/{number}"
                yield Turn(key, session, said.id, text, place, said.at, said.role, name)
                place += 1
