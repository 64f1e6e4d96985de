"""Items on their way out: judged once more, and turned into lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from persona_hooks.speech import marked, phrase
from persona_mind.backlog.model import State, Step  # noqa: TC001 - outcomes hold this, and pydantic reads it
from persona_mind.kernel.rowfields import RowOrigin  # noqa: TC001 - as above
from persona_mind.kernel.showing import brought, judged_all
from persona_mind.recall.part import part

if TYPE_CHECKING:
    from datetime import datetime

    from persona_mind.backlog.model import Item
    from persona_mind.kernel.showing import Judged

EXCERPT: Final = 240
_UNITS: Final = (("s", 1, 60), ("m", 60, 60), ("h", 3_600, 48), ("d", 86_400, math.inf))
"""Each unit with its seconds, and how many of it are told in the next one: two days and more in days."""
_AWAY: Final = {
    "d": (marked("in {number}d"), marked("{number}d overdue")),
    "h": (marked("in {number}h"), marked("{number}h overdue")),
    "m": (marked("in {number}m"), marked("{number}m overdue")),
    "s": (marked("in {number}s"), marked("{number}s overdue")),
}


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as it may be shown.

    Attributes:
        text: Its text; empty where it is withheld.
        withheld: The rule that withholds it; empty where it is shown.
        note: What was said when it was closed.
        persona: Whose it is; empty where it is nobody's, or where that breaks a rule.
        due: How far away its deadline is, in words; empty without one.
        origin: Who brought the words.
        directive: It reads like an instruction, and a model wrote it.
        approved: It reads like an instruction, a stranger brought it, and a person approved it.
        history: What happened to it.
    """

    id: str
    state: State
    text: str
    withheld: str
    note: str
    tags: tuple[str, ...]
    persona: str
    due: str
    origin: RowOrigin
    directive: bool
    approved: bool
    history: tuple[Step, ...]

    @property
    def brought(self) -> str:
        """Who brought its words."""
        return brought(self.origin, directive=self.directive, approved=self.approved)


def shown(item: Item, now: datetime) -> ShownItem:
    """Return an item as it may be shown now; a text, tag, note or persona that breaks a rule withholds the whole."""
    out = _judged(item)
    text, note, *tags = out.texts
    return ShownItem(
        id=item.id,
        state=item.state,
        text=text,
        withheld=out.withheld,
        note=note,
        tags=tuple(tags),
        persona=out.label,
        due=due_label(item.deadline, now) if item.active else "",
        origin=item.brought_by,
        directive=out.directive,
        approved=out.approved,
        history=item.history or (),
    )


_known: Final[WeakKeyDictionary[Item, Judged]] = WeakKeyDictionary()


def _judged(item: Item) -> Judged:
    """Judge an item. The same few stand in every request, so what was judged once is kept.

    It is kept with the item and goes with it: a cache of its own would hold an erased text while the process lives.
    """
    known = _known.get(item)
    if known is None:
        note_origin = item.note_origin or item.brought_by
        tags = ((tag, item.brought_by) for tag in item.tags)
        parts = [(item.text, item.brought_by), (item.note or "", note_origin), *tags]
        known = _known[item] = judged_all(parts, item.approvals, item.persona)
    return known


def due_label(deadline: float | None, now: datetime) -> str:
    """Return the phrase for how far away a deadline is: ``now``, ``in 5m``, ``2h overdue``; empty without one.

    Less than a second either way is now; anything else is the nearest number of seconds, minutes, hours or days.
    """
    if deadline is None:
        return ""
    left = deadline / 1000 - now.timestamp()
    if not math.isfinite(left):
        return phrase("unknown")
    if abs(left) <= 1:
        return phrase("now")
    rounded = ((unit, math.floor(abs(left) / seconds + 0.5), most) for unit, seconds, most in _UNITS)
    unit, number = next((unit, number) for unit, number, most in rounded if number < most)
    ahead, past = _AWAY[unit]
    return phrase(ahead if left > 0 else past, number=number)


def due_words(due: str) -> str:
    """Return the phrase ``due in 5m``, or ``19s overdue``, from a label; empty where there is none."""
    return phrase("due {when}", when=due) if due and not due.endswith("overdue") else due


def line(item: ShownItem, limit: int = EXCERPT) -> tuple[str, bool]:
    """Return an item's line wherever items are listed, perhaps a phrase, and whether it shows the whole text."""
    if item.withheld:
        return phrase("[withheld: {rule}]", rule=item.withheld), True
    text, whole = part(item.text, limit)
    return text or phrase("(too long to show in part; list it by its id)"), whole
