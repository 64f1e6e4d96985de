"""From a message to its sentences, each with whose words it is.

Fences, indented code and ``>`` lines are dropped. A sentence inside a quotation, after "he said:", in a chat log or in
a text that was handed over is not the person's own, and neither is what follows it in the same breath.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.capture.language import Language

MAX_INPUT: Final = 32_000
"""Characters that are looked at; a longer message is a document, and its beginning decides."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_CODE: Final = re.compile(r"(?: {4}| {0,3}\t)\s*\S")
_ITEM: Final = re.compile(r"\s*(?:[-+*•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)")
_END: Final = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s|$)|\n""")
_TIME: Final = r"\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp][Mm])?\]?"
_LABEL: Final = re.compile(
    rf"(?:{_TIME}\s*[-–]?\s*)?<?@?([^\W\d_a-zà-ÿ][\w.'’-]*(?: [^\W\d_a-zà-ÿ][\w.'’-]*){{0,2}})>?\s*:(?=\s|$)"
)
_QUOTES: Final = {"“": "”", "«": "»", "„": "“”", "‹": "›", "‘": "’", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message.

    Attributes:
        text: Without list marker, white space folded.
        own: The person says it, of their own accord.
        asks: It is a question.
        paragraph: Which paragraph it stands in.
    """

    text: str
    own: bool
    asks: bool
    paragraph: int


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Lines without an empty one between them; ``introduces`` where a quotation or a fence follows."""

    text: str
    introduces: bool


def sentences(message: str, languages: Sequence[Language]) -> list[Sentence]:
    """Return the sentences of a message, in order."""
    found: list[Sentence] = []
    foreign = False
    for number, paragraph in enumerate(_paragraphs(message[:MAX_INPUT])):
        marked, foreign = _marked(paragraph, languages, foreign=foreign)
        found += [Sentence(text, own, _asks(text, languages), number) for text, own in marked]
    return found


def _asks(text: str, languages: Sequence[Language]) -> bool:
    return text.rstrip("\"'”’») ").endswith("?") or any(language.questions.match(text) for language in languages)


def _paragraphs(message: str) -> Iterator[_Paragraph]:
    lines: list[str] = []
    for line in _outside_code(message):
        if line is not None and line.strip():
            _join(lines, line)
        elif lines:
            yield _Paragraph("\n".join(lines), introduces=line is None)
            lines = []
    if lines:
        yield _Paragraph("\n".join(lines), introduces=False)


def _join(lines: list[str], line: str) -> None:
    """Add a line to a paragraph; one that goes on where the line before broke off is joined to it."""
    text = line.strip()
    goes_on = bool(lines) and text[:1].islower() and lines[-1][-1:] not in ".!?…:;" and not _ITEM.match(line)
    if goes_on:
        lines[-1] = f"{lines[-1]} {text}"
    else:
        marker = _ITEM.match(line)
        lines.append((line[marker.end() :].strip() if marker else "") or text)


def _outside_code(message: str) -> Iterator[str | None]:
    """Yield the lines that count; None where code or a quotation was dropped."""
    fence = ""
    for line in message.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip()
            fence = "" if closes else fence
            yield None
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            yield None
        elif line.lstrip().startswith(">") or _CODE.match(line):
            yield None
        else:
            yield line


class _Quotations:
    """The stretches of a text between quotation marks; one that is not closed reaches to the end."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        closed_out: set[str] = set()
        at = 0
        while at < len(text):
            mark = text[at]
            end = 0
            if mark in _QUOTES and mark not in closed_out and _opens(text, at):
                end = _end_of_quotation(text, at)
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


def _marked(
    paragraph: _Paragraph, languages: Sequence[Language], *, foreign: bool
) -> tuple[list[tuple[str, bool]], bool]:
    """Return the paragraph's sentences, whether each is the person's own, and whether the next paragraph is not."""
    text = paragraph.text
    quoted = _Quotations(text)
    marked: list[tuple[str, bool]] = []
    reported = foreign
    for start, end in _spans(text, quoted, languages):
        sentence = text[start:end]
        own = not reported and not quoted.hold(start)
        marked.append((" ".join(sentence.split()), own))
        after = _after_report(sentence, languages) if own else None
        if after:
            # A quotation that ends in its own sentence says nothing about the next one.
            reported = after[0] not in _QUOTES or not _closes(after)
        elif after is not None:
            reported = True
            # "Here is the mail:" hands over all that follows, unless a quotation or a fence marks off what is meant.
            foreign = end >= len(text.rstrip()) and not paragraph.introduces
    return marked, foreign


def _after_report(sentence: str, languages: Sequence[Language]) -> str | None:
    """Return what follows the colon of a report or of a speaker's label; None where the sentence is neither."""
    if ":" not in sentence or any(language.asks_to_remember(sentence) for language in languages):
        return None
    label = _LABEL.match(sentence)
    if label and not any(language.labels.fullmatch(label[1]) for language in languages):
        return sentence[label.end() :].strip()
    head, colon, tail = sentence.partition(":")
    if not colon or (tail[:1] and not tail[0].isspace()):
        return None
    return tail.strip() if any(language.reports.search(head) for language in languages) else None


def _closes(text: str) -> bool:
    """Return whether the quotation that ``text`` opens with ends in it."""
    return any(text.find(mark, 1) > 0 for mark in _QUOTES[text[0]])


def _opens(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] not in "\"'":
        return True
    return (not before or before.isspace() or before in "([{-–—:,“«") and bool(after) and not after.isspace()


def _end_of_quotation(text: str, at: int) -> int:
    """Return where a quotation ends; 0 where it does not and its mark may be an apostrophe."""
    closers = _QUOTES[text[at]]
    for end in range(at + 1, len(text)):
        # An apostrophe inside a word closes nothing.
        if text[end] in closers and (text[end] not in "'’" or not text[end + 1 : end + 2].isalnum()):
            return end + 1
    return 0 if text[at] in "'‘" else len(text)


def _spans(text: str, quoted: _Quotations, languages: Sequence[Language]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if quoted.hold(end) or (quoted.hold(end - 1) and text[end - 1] == "\n"):
            continue
        if not _ends(text, start, match, languages):
            continue
        if text[start:end].strip():
            yield start + _indent(text[start:end]), end
        start = end
    if text[start:].strip():
        yield start + _indent(text[start:]), len(text)


def _indent(part: str) -> int:
    return len(part) - len(part.lstrip())


def _ends(text: str, start: int, match: re.Match[str], languages: Sequence[Language]) -> bool:
    """Return whether a sentence ends here: not after an abbreviation, and not before a small letter."""
    if match[0] == "\n":
        return True
    following = text[match.end() : match.end() + 8].lstrip(" \t")
    if following[:1].islower() and match[0] in {".", "…", "..."}:
        return False
    if match[0] != "." or following[:1] in {"", "\n"}:
        return True
    head = text[max(start, match.end() - 16) : match.end()]
    return not any(language.abbreviation.search(head) for language in languages)
