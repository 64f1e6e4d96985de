"""What of a text stands between quotation marks."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

QUOTES: Final = {"“": "”", "«": "»", "„": "“”", "‹": "›", "‘": "’", '"': '"', "'": "'"}


class Quotations:
    """The stretches of a text between quotation marks; one that is not closed reaches to the end."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        closed_out: set[str] = set()
        at = 0
        while at < len(text):
            mark = text[at]
            end = 0
            if mark in QUOTES and mark not in closed_out and _opens(text, at):
                end = _end(text, at)
                if not end:
                    # No later one can close either; looking again each time would take the square of the time.
                    closed_out.add(mark)
            if end:
                self._starts.append(at)
                self._ends.append(end)
            at = end or at + 1

    def hold(self, at: int) -> bool:
        """Return whether a place lies inside a quotation or on its opening mark."""
        before = bisect_right(self._starts, at) - 1
        return before >= 0 and at < self._ends[before]


def closes(text: str) -> bool:
    """Return whether the quotation that ``text`` opens with ends in it."""
    return any(text.find(mark, 1) > 0 for mark in QUOTES[text[0]])


def _opens(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] not in "\"'":
        return True
    return (not before or before.isspace() or before in "([{-–—:,“«") and bool(after) and not after.isspace()


def _end(text: str, at: int) -> int:
    """Return where a quotation ends; 0 where it does not and its mark may be an apostrophe."""
    tripled = text[at] * 3
    if text[at] in "\"'" and text.startswith(tripled, at):
        found = text.find(tripled, at + 3)
        return found + 3 if found >= 0 else len(text)
    closers = QUOTES[text[at]]
    for end in range(at + 1, len(text)):
        # An apostrophe inside a word closes nothing.
        if text[end] in closers and (text[end] not in "'’" or not text[end + 1 : end + 2].isalnum()):
            return end + 1
    return 0 if text[at] in "'‘" else len(text)
