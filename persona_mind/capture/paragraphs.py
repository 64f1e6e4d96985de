"""From a message to its paragraphs: without fences, tagged blocks, indented code and ``>`` lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FENCE: Final = re.compile(r""" {0,3}(`{3,}|~{3,}|"{3,}|'{3,})(.*)$""")
_CODE: Final = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_ITEM: Final = re.compile(r"\s*(?:[-+*•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)")
_TAG: Final = re.compile(r"\s*<([A-Za-z][\w:-]*)(?:\s[^<>]*)?>")
_CLOSING: Final = re.compile(r"</([A-Za-z][\w:-]*)\s*>")
_BOLD: Final = re.compile(r"\*\*(?=\S)([^*\n]+)(?<=\S)\*\*")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines without an empty one between them; ``introduces`` where a quotation or a fence follows."""

    text: str
    introduces: bool


def paragraphs(message: str) -> Iterator[Paragraph]:
    """Yield the paragraphs of a message; their lines have neither list markers nor bold."""
    lines: list[str] = []
    for line in _outside_code(_outside_tags(message.replace("\r\n", "\n").replace("\r", "\n").split("\n"))):
        if line is not None and line.strip():
            _join(lines, line)
        elif lines:
            yield Paragraph("\n".join(lines), introduces=line is None)
            lines = []
    if lines:
        yield Paragraph("\n".join(lines), introduces=False)


def _join(lines: list[str], line: str) -> None:
    """Add a line to a paragraph; one that goes on where the line before broke off is joined to it."""
    text = line.strip()
    goes_on = bool(lines) and text[:1].islower() and lines[-1][-1:] not in ".!?…:;" and not _ITEM.match(line)
    if goes_on:
        lines[-1] = f"{lines[-1]} {text}"
    else:
        marker = _ITEM.match(line)
        lines.append(_BOLD.sub(r"\1", (line[marker.end() :].strip() if marker else "") or text))


def _outside_tags(lines: Sequence[str]) -> Iterator[str | None]:
    """Yield the lines that stand in no tagged block; None for those that do. A tag that is not closed is text."""
    closings: dict[str, int] = {}
    for at, line in enumerate(lines):
        closings |= dict.fromkeys(_CLOSING.findall(line), at)
    inside = -1
    for at, line in enumerate(lines):
        tag = _TAG.match(line) if at > inside else None
        if tag:
            inside = max(inside, closings.get(tag[1], -1))
        yield line if at > inside else None


def _outside_code(lines: Iterable[str | None]) -> Iterator[str | None]:
    """Yield the lines that count; None where code or a quotation was dropped."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line) if line is not None else None
        if line is None:
            yield None
        elif fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip()
            fence = "" if closes else fence
            yield None
        elif mark and (mark[1][0] == "~" or mark[1][0] not in mark[2]):
            fence = mark[1]
            yield None
        elif line.lstrip().startswith(">") or _CODE.match(line):
            yield None
        else:
            yield line
