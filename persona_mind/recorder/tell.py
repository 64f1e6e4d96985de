"""What the recorded turns tell: about the last request, about one memory, about those that never help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_mind.kernel import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from persona_mind.recorder.model import Item, Turn

ENOUGH: Final = 5
"""Turns before it is said that a memory never helps."""


@dataclass(frozen=True, slots=True)
class Described:
    """A memory in words, as it may be shown now.

    Attributes:
        mark: Its kind, and whatever else stands before a text where memories are listed.
        line: Its text as one line, in part where it is long; what withholds it where it is withheld.
    """

    mark: str
    line: str


@dataclass(frozen=True, slots=True)
class Known:
    """A memory as it stands now.

    Attributes:
        since: When it was first recorded.
        everywhere: It may stand in the requests of every project.
        ranked: It stands in requests because it matters or matches, so that it can be told whether it helps.
        describe: Returns it in words; that takes a while, so only a few are asked.
    """

    since: datetime
    everywhere: bool
    ranked: bool
    describe: Callable[[], Described]


@dataclass(frozen=True, slots=True)
class Uses:
    """What became of one memory over the recorded turns.

    Attributes:
        turns: In how many turns it could have stood.
        shown: In how many it stood in the request.
        matched: In how many of these it had to do with what was asked.
        recalled: How often the model recalled it by itself.
        last: When it was last shown or recalled.
    """

    turns: int = 0
    shown: int = 0
    matched: int = 0
    recalled: int = 0
    last: str | None = None


@dataclass(frozen=True, slots=True)
class Useless:
    """Memories that never helped: shown for nothing, or never; and how many it is too early to tell of."""

    unmatched: tuple[tuple[str, Uses], ...]
    unseen: tuple[tuple[str, Uses], ...]
    early: int


def last_request(turns: Sequence[Turn], session: str, project: str) -> Turn | None:
    """Return the latest turn of a session; where it has none, the latest one of the project."""
    mine = [turn for turn in turns if turn.session == session] or [turn for turn in turns if turn.project == project]
    return mine[-1] if mine else None


def uses(turns: Iterable[Turn], handle: str, about: Known, project: str) -> Uses:
    """Return what became of one memory."""
    number = shown = matched = recalled = 0
    last: str | None = None
    for turn in turns:
        if not about.everywhere and turn.project != project:
            continue
        if clock.parse(turn.at) < about.since:
            continue
        number += 1
        mine = [item for item in turn.items if item.id == handle]
        shown += any(item.how == "shown" for item in mine)
        matched += any(item.how == "shown" and item.matched for item in mine)
        recalled += any(item.how == "recalled" for item in mine)
        last = turn.at if mine else last
    return Uses(number, shown, matched, recalled, last)


def useless(turns: Sequence[Turn], known: Mapping[str, Known], project: str) -> Useless:
    """Return the memories that never helped, those that cost the most first."""
    every = [(handle, uses(turns, handle, about, project)) for handle, about in known.items() if about.ranked]
    unmatched = [(key, use) for key, use in every if use.shown >= ENOUGH and not use.matched and not use.recalled]
    unseen = [(key, use) for key, use in every if use.turns >= ENOUGH and not use.shown and not use.recalled]
    helped = sum(bool(use.matched or use.recalled) for _, use in every)
    return Useless(
        tuple(sorted(unmatched, key=lambda pair: -pair[1].shown)),
        tuple(sorted(unseen, key=lambda pair: -pair[1].turns)),
        len(every) - helped - len(unmatched) - len(unseen),
    )


def occasions(turns: Iterable[Turn], handle: str) -> list[tuple[Turn, Item]]:
    """Return each turn that a memory stood in, the latest first."""
    return [(turn, item) for turn in reversed(list(turns)) for item in turn.items if item.id == handle]
