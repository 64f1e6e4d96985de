"""The mind's closed words as people read them: kinds, states, origins; and what every card says alike.

A file, an outcome and a request hold the words of the format itself. Here each has a phrase, which is worded in a card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.speech import phrase, say, say_n

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def more(number: int) -> str:
    """Return what says that ``number`` lines are left out; empty where none is."""
    return say("+{number} more", number=number) if number else ""


def facts(number: int) -> str:
    """Return a number of facts in words."""
    return say_n("{number} fact", "{number} facts", number)


def turns(number: int) -> str:
    """Return a number of turns in words."""
    return say_n("{number} turn", "{number} turns", number)


def moment(at: str) -> str:
    """Return a time as it stands in files, to the minute, for people: ``2026-03-01 09:30``; empty without one."""
    if len(at) < len("2026-03-01T09:30"):
        return at
    year, month, day, hour, minute = at[:4], at[5:7], at[8:10], at[11:13], at[14:16]
    return say("{year}-{month}-{day} {hour}:{minute}", year=year, month=month, day=day, hour=hour, minute=minute)


def lines(*texts: str) -> tuple[str, ...]:
    """Return those that are not empty."""
    return tuple(text for text in texts if text)
