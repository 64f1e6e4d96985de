"""What of a conversation's notes stands in a request: a block of its own, inside the one budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from persona_mind.injection.choose import searched
from persona_mind.injection.render import EXCERPT, Ready, Section, Tally, body, fenced, overhead
from persona_mind.kernel.budget import BYTES_PER_TOKEN, size, tokens
from persona_mind.kernel.clock import age
from persona_store.structure import inline

if TYPE_CHECKING:
    from datetime import datetime

    from persona_mind.kernel.budget import Allowance
    from persona_mind.notes.view import View

NOTES_TOKENS: Final = 600
"""Everything about notes, fence and heading and what is disclosed included."""
FOOTER_TOKENS: Final = 40
KIND: Final = "notes"


class Noted(NamedTuple):
    """The notes of one request.

    Attributes:
        lines: Those that were chosen, in order.
        left: How many more there are.
        withheld: How many were passed over because their text breaks a rule.
        view: What they were chosen from.
    """

    lines: tuple[Ready, ...] = ()
    left: int = 0
    withheld: int = 0
    view: View | None = None

    @property
    def known(self) -> int:
        """How many there are."""
        return len(self.lines) + self.left + self.withheld


def choose_noted(view: View, prompt: str, now: datetime, *, objectives: bool) -> Noted:
    """Return the notes for a request: objectives, then those that match the task, then the latest. Reads only.

    Args:
        view: What the owner sees on the active branch.
        prompt: What is asked.
        now: For their age.
        objectives: Whether objectives may be shown; without it they are neither shown nor counted.
    """
    lines: list[Ready] = []
    withheld = spent = left = 0
    for note, _ in view.ordered(searched(prompt)):
        if note.kind == "objective" and not objectives:
            continue
        out = view.shown(note)
        if out.withheld:
            withheld += 1
        elif spent > NOTES_TOKENS * BYTES_PER_TOKEN:
            left += 1
        else:
            text, whole = view.part(note, EXCERPT)
            line = f"- [{inline(out.mark)}] {inline(text)} ({age(note.saved, now)})" if text else ""
            spent += size(line)
            lines.append(Ready(KIND, line, whole, note.id))
    return Noted(tuple(lines), left, withheld, view)


def block(noted: Noted, key: str, persona: str, total: Allowance, now: datetime) -> tuple[str, Tally]:
    """Return the notes' block, at most ``NOTES_TOKENS`` long and taken from ``total``, and what it left out.

    The block is empty where no note fits.
    """
    tally = Tally({})
    if not noted.known:
        return "", tally
    frame = tokens(overhead(key, persona)) + FOOTER_TOKENS
    total.reserve(frame)
    inner = total.within(NOTES_TOKENS - frame)
    tally.skip(KIND, noted.left)
    tally.withheld = noted.withheld
    blocks = body([Section("Notes of this conversation", noted.lines)], inner, tally, now)
    told = _disclosed(tally)
    return fenced(key, persona, [*blocks, *([told] if told else [])]), tally


def _disclosed(tally: Tally) -> str:
    left = tally.left.get(KIND, 0)
    told = [f"+{left} not shown"] if left else []
    told += [f"{tally.clipped} shown in part"] if tally.clipped else []
    told += [f"{tally.withheld} withheld: the stored text breaks a rule"] if tally.withheld else []
    return f"… {'; '.join(told)} (`notes`: list finds, read shows the whole)" if told else ""
