"""Cards: the only place where words for people appear.

A card is plain data. It is compact in a conversation (a title and at most three lines) and whole on expansion;
a model reads it whole. Terminal sequences and control characters never leave this module: a card may quote
what somebody else wrote, and a clipped line is measured in columns and cut between graphemes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from persona_hooks.speech import say_n

Level = Literal["info", "success", "warning", "error"]

COMPACT_LINES = 3
COMPACT_COLUMNS = 100
MIN_COLUMNS = 16


@cache
def _unwanted() -> tuple[re.Pattern[str], ...]:
    # C0 and C1 controls but tab and line feed, which layout handles; bidi overrides would reorder a terminal line.
    controls = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    # A lone carriage return lets what follows overwrite the line; the others break lines in some terminals only.
    breaks = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
    # A lone surrogate cannot be encoded, and would end the host that prints it.
    surrogates = re.compile("[\ud800-\udfff]")
    # OSC, DCS, SOS, PM, APC strings end at BEL or ST; CSI and two-byte escapes follow. Each has a 7-bit and an 8-bit
    # form. An unfinished string eats its line, as it would in a terminal.
    sequences = re.compile(
        r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|$|(?=\n))"
        r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]",
        re.MULTILINE,
    )
    return breaks, sequences, controls, surrogates


@dataclass(frozen=True, slots=True)
class Card:
    """What a person is told about one outcome.

    Attributes:
        title: One line that stands alone: what happened, to what.
        body: The lines that a compact card shows first, at most ``COMPACT_LINES`` of them.
        detail: Further lines for the expanded card and for models: ids, omissions, sources.
        level: How it should look; never the only carrier of meaning.
        hint: What to do next, if anything.
    """

    title: str
    body: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()
    level: Level = "info"
    hint: str = ""

    def text(self) -> str:
        """Return the whole card as plain sanitized text, as models and scripts read it."""
        lines = [*self.body, *self.detail, *([self.hint] if self.hint else [])]
        return "\n".join([one_line(self.title), *(sanitize(line) for line in lines)])


def sanitize(text: str) -> str:
    """Return ``text`` without terminal sequences and control characters; words and line breaks stay."""
    if text.isprintable():
        return text  # as nearly every line is; nothing is compiled for it
    breaks, sequences, controls, surrogates = _unwanted()
    plain = controls.sub("", sequences.sub("", breaks.sub("\n", text)))
    return surrogates.sub("\N{REPLACEMENT CHARACTER}", plain).replace("\t", "    ")


def quoted(text: str) -> tuple[str, ...]:
    """Return the lines of a text that somebody else may have written, each marked.

    A card that shows one whole shows these: unmarked, the text could pass for lines of the card's own, which say who
    brought what.
    """
    return tuple(f"| {line}" for line in sanitize(text).split("\n"))


def one_line(text: str) -> str:
    """Return ``text`` sanitized and with every run of white space folded to one space."""
    return " ".join(sanitize(text).split())


def clip(text: str, columns: int) -> str:
    """Return ``text`` cut to at most ``columns`` terminal columns, with an ellipsis where it was cut.

    The cut falls between graphemes, so that no accent, emoji or wide character is torn. Line breaks become spaces.
    """
    line = sanitize(text).replace("\n", " ")
    if len(line) <= columns and line.isascii():
        return line
    from wcwidth import iter_graphemes, wcswidth  # noqa: PLC0415 - 40 ms of tables that a short answer does not need

    if wcswidth(line) <= columns:
        return line
    used, kept = 0, []
    for grapheme in iter_graphemes(line):
        used += wcswidth(grapheme)
        if used > columns - 1:
            break
        kept.append(grapheme)
    return "".join(kept).rstrip() + "…"


def render(card: Card, *, columns: int = COMPACT_COLUMNS, expanded: bool = False) -> list[str]:
    """Return the card as plain lines for a terminal of ``columns`` columns.

    Args:
        card: What to show.
        columns: The terminal's width; at least ``MIN_COLUMNS`` are used, at most ``COMPACT_COLUMNS`` when compact.
        expanded: Show every line whole, wrapped by the terminal, instead of three clipped ones.
    """
    lines = [line for part in (*card.body, *card.detail) for line in sanitize(part).split("\n")]
    hint = [one_line(card.hint)] if card.hint else []
    if expanded:
        return [one_line(card.title), *lines, *hint]
    width = max(MIN_COLUMNS, min(columns, COMPACT_COLUMNS))
    shown = [clip(line, width) for line in lines[:COMPACT_LINES]]
    left = len(lines) - len(shown)
    more = [clip(say_n("… +{number} more line", "… +{number} more lines", left), width)] if left else []
    return [clip(one_line(card.title), width), *shown, *more, *(clip(line, width) for line in hint)]


def compact(card: Card) -> Card:
    """Return ``card`` without its detail, for hosts that store what they show."""
    return replace(card, detail=())
