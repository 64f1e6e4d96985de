"""The mind's closed words as people read them: kinds, states, origins; and what every card says alike.

A file, an outcome and a request hold the words of the format itself. Here each has a phrase, which is worded in a card.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.kernel import clock
from persona_mind.kernel.scope import DEFAULT_SEGMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.cards import Card
    from persona_hooks.speech import Phrase

_KINDS: Final[Mapping[str, Phrase]] = {
    "objective": phrase("objective"),
    "invariant": phrase("invariant"),
    "preference": phrase("preference"),
    "convention": phrase("convention"),
    "gotcha": phrase("gotcha"),
    "rationale": phrase("rationale"),
    "note": phrase("note"),
}
_STATES: Final[Mapping[str, Phrase]] = {
    "open": phrase("open"),
    "taken": phrase("taken"),
    "done": phrase("done"),
    "dropped": phrase("dropped"),
    "refreshed": phrase("refreshed"),
    "snoozed": phrase("snoozed"),
    "reminded": phrase("reminded"),
}
_BROUGHT: Final[Mapping[str, Phrase]] = {
    "user": phrase("by user"),
    "model": phrase("by model"),
    "import": phrase("by import"),
    "peer": phrase("by peer"),
    "worker": phrase("by worker"),
    "tool": phrase("by tool"),
}
_WEEKDAYS: Final = (
    phrase("Mon"),
    phrase("Tue"),
    phrase("Wed"),
    phrase("Thu"),
    phrase("Fri"),
    phrase("Sat"),
    phrase("Sun"),
)
_MONTHS: Final = (
    phrase("Jan"),
    phrase("Feb"),
    phrase("Mar"),
    phrase("Apr"),
    phrase("May"),
    phrase("Jun"),
    phrase("Jul"),
    phrase("Aug"),
    phrase("Sep"),
    phrase("Oct"),
    phrase("Nov"),
    phrase("Dec"),
)


def kind_word(kind: str) -> str:
    """Return the phrase for a kind of fact or note."""
    return _KINDS.get(kind, kind)


def state_word(state: str) -> str:
    """Return the phrase for the state of a backlog item, or for what happened to it."""
    return _STATES.get(state, state)


def by(origin: str) -> str:
    """Return the phrase for who brought a text: ``by user``."""
    return _BROUGHT.get(origin, origin)


def capital(text: str) -> str:
    """Return a word as it begins a line."""
    return text[:1].upper() + text[1:]


def withheld(rule: str) -> str:
    """Return what stands in place of a text that breaks a rule."""
    return say("[withheld: {rule}]", rule=rule)


def more(number: int, *, room: bool = False) -> str:
    """Return what says that ``number`` lines are left out; empty where none is.

    With ``room``, a larger page than the one that was asked for would show some of them.
    """
    if not number:
        return ""
    return say("+{number} more; `--max` shows more", number=number) if room else say("+{number} more", number=number)


def warned(card: Card, warning: str | None) -> Card:
    """Return a card that tells first of what went wrong beside what was asked for; as it is where nothing did."""
    if warning is None:
        return card
    return replace(card, body=(worded(warning), *card.body), level="warning")


def facts(number: int) -> str:
    """Return a number of facts in words."""
    return say_n("{number} fact", "{number} facts", number)


def turns(number: int) -> str:
    """Return a number of turns in words."""
    return say_n("{number} turn", "{number} turns", number)


def local(at: str) -> str:
    """Return the phrase for a time that stands in files, as people read it: ``Tue 3 Mar 2026 09:30``, in local time.

    What is no time, or one that no local calendar reaches, stays as it is.
    """
    try:
        here = clock.parse(at).astimezone()
    except (InvalidError, OverflowError, ValueError, OSError):
        return at
    return phrase(
        "{weekday} {day} {month} {year} {time}",
        weekday=_WEEKDAYS[here.weekday()],
        day=here.day,
        month=_MONTHS[here.month - 1],
        year=here.year,
        time=f"{here:%H:%M}",
    )


def moment(at: str) -> str:
    """Return ``local`` worded."""
    return worded(local(at))


def persona_word(label: str) -> str:
    """Return whose a row is, as people read it: what stands in files for the owner without a persona is no name."""
    return phrase("no persona") if label == DEFAULT_SEGMENT else label


def decimal(number: float, form: str) -> str:
    """Return a number with a fraction as people write it, in a format such as ``+.2f``."""
    whole, _, fraction = f"{number:{form}}".partition(".")
    return say("{whole}.{fraction}", whole=whole, fraction=fraction)


def kept_in_range(asked: float | None, most: int) -> str:
    """Return what says that another number was asked for than a list may have; empty where it may have that many."""
    if asked is None or math.isnan(asked) or 1 <= asked <= most:
        return ""
    return say("A list shows 1 to {most} at once; you asked for {asked}.", most=most, asked=f"{asked:g}")


def lines(*texts: str) -> tuple[str, ...]:
    """Return those that are not empty."""
    return tuple(text for text in texts if text)
