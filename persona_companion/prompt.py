"""The persona's part of the model's request: its prompt, and its objective unless a brake may hold."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from persona_hooks.specs import Block

if TYPE_CHECKING:
    from persona_companion.briefs import Brief

BLOCK: Final = "persona"
ORDER: Final = 10

# The prompt may use markup of its own, but neither close our block nor open one that passes for the mind's.
_OURS: Final = re.compile(r"<(?=\s*/?\s*persona\b)", re.IGNORECASE)
# Some readers break a line at these and others do not; an author who means a new line is given one.
_BREAKS: Final = re.compile("[\u2028\u2029]")


def persona_block(brief: Brief, *, objective: bool) -> Block | None:
    """Return the block for ``brief``, with its objective or without; None where that leaves nothing to say."""
    parts = [brief.prompt]
    if objective and brief.objective:
        parts.append(f"Objective: {brief.objective}")
    text = _BREAKS.sub("\n", _OURS.sub("&lt;", "\n\n".join(part for part in parts if part)))
    if not text:
        return None
    return Block(BLOCK, f'<persona name="{escape(brief.name)}">\n{text}\n</persona>', ORDER)
