"""Which facts stand in a request: some always, some because of what is asked.

The standing ones do not depend on the prompt, so that the text that holds them stays the same from turn to turn; a part
of every cap is kept for those that match, so that no kind of fact is never seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from persona_mind.facts.files import Held
    from persona_mind.facts.search import View
    from persona_mind.facts.shown import ShownFact
    from persona_mind.kernel.identity import Key

MAX_OBJECTIVES: Final = 4
"""So that many objectives never fill the whole cap."""

MAX_MATCHES: Final = 16
"""Matches that are looked at: more than any cap, since some of them stand already."""

MAX_PROMPT: Final = 2_000
"""Characters of a prompt that are searched for; what a person asks stands at one of its ends."""


class Picked(NamedTuple):
    """One fact that was chosen."""

    held: Held
    shown: ShownFact


@dataclass(slots=True)
class Choice:
    """The facts of one view.

    Attributes:
        standing: Those that stand there whatever is asked.
        matched: Those that the prompt brought, then the next standing ones.
        objectives_left: Objectives for which there was no room.
        left: Other facts for which there was no room.
        withheld: Facts that were passed over because their text breaks a rule.
    """

    standing: list[Picked] = field(default_factory=list)
    matched: list[Picked] = field(default_factory=list)
    objectives_left: int = 0
    left: int = 0
    withheld: int = 0

    @property
    def keys(self) -> frozenset[Key]:
        """What the chosen ones say."""
        return frozenset(item.held.fact.key for item in (*self.standing, *self.matched))


def choose(view: View, cap: int, prompt: str, *, objectives: bool, elsewhere: Collection[Key] = ()) -> Choice:
    """Return the facts of one view for a request.

    Args:
        view: What the owner sees.
        cap: How many at most.
        prompt: What is asked.
        objectives: Whether objectives may be shown; without it they are neither shown nor counted.
        elsewhere: What another part of the request says already.
    """
    driving = [held for held in view.objectives if objectives and held.fact.key not in elsewhere]
    few = {id(held) for held in driving[:MAX_OBJECTIVES]}

    def allowed(held: Held) -> bool:
        return id(held) in few if _drives(held) else held.fact.key not in elsewhere

    every = len(few) == len(view.objectives) and view.keys.isdisjoint(elsewhere)
    facts = view.standing if every else [held for held in view.standing if allowed(held)]
    choice, taken = Choice(), set[int]()
    fixed = cap if len(facts) <= cap else cap - cap * 3 // 8
    choice.standing = list(_safe(view, facts, fixed, choice, taken))
    room = cap - len(choice.standing) if len(taken) < len(facts) else 0
    choice.matched = list(_safe(view, _by_match(view, facts, prompt, allowed), room, choice, taken))
    choice.objectives_left = sum(id(held) not in taken for held in driving)
    choice.left = len(facts) - len(taken) - len(few - taken)
    return choice


def choose_working(view: View, cap: int, prompt: str, *, elsewhere: Collection[Key] = ()) -> Choice:
    """Return the working facts for a request: those that match, then the latest; none stands whatever is asked."""

    def allowed(held: Held) -> bool:
        return not _drives(held) and held.fact.key not in elsewhere

    every = not view.objectives and view.keys.isdisjoint(elsewhere)
    facts = view.recent if every else [held for held in view.recent if allowed(held)]
    choice, taken = Choice(), set[int]()
    choice.matched = list(_safe(view, _by_match(view, facts, prompt, allowed), cap, choice, taken))
    choice.left = len(facts) - len(taken)
    return choice


def searched(prompt: str) -> str:
    """Return what of a prompt is searched for."""
    half = MAX_PROMPT // 2
    return prompt if len(prompt) <= MAX_PROMPT else f"{prompt[:half]} {prompt[-half:]}"


def _drives(held: Held) -> bool:
    return held.fact.kind == "objective"


def _by_match(view: View, facts: Sequence[Held], prompt: str, allowed: Callable[[Held], bool]) -> Iterator[Held]:
    query = searched(prompt)
    if query.strip() and facts:
        yield from (held for held in view.best(query, MAX_MATCHES) if allowed(held))
    yield from facts


def _safe(view: View, facts: Iterable[Held], room: int, choice: Choice, taken: set[int]) -> Iterator[Picked]:
    """Yield up to ``room`` facts that may be shown and are not taken; count those that may not be shown."""
    if room <= 0:
        return
    for held in facts:
        if id(held) in taken:
            continue
        taken.add(id(held))
        fact = view.shown(held)
        if fact.withheld:
            choice.withheld += 1
            continue
        yield Picked(held, fact)
        room -= 1
        if not room:
            return
