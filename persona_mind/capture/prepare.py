"""From a message to its sentences, each with whose words it is.

Fences, tagged blocks, indented code and ``>`` lines are dropped. A sentence inside a quotation, after "he said:", in a
chat log, a letter, a mail or a text that was handed over is not the person's own, and neither is what follows it in the
same breath.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_mind.capture.paragraphs import paragraphs
from persona_mind.capture.provenance import given_away
from persona_mind.capture.quotations import Quotations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.capture.language import Language
    from persona_mind.capture.paragraphs import Paragraph

MAX_INPUT: Final = 32_000
"""Characters that are looked at; a longer message is a document, and its beginning decides."""

_END: Final = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s|$)|\n""")
_QUESTION: Final = re.compile(r"\?\W{0,20}$")


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


def sentences(message: str, languages: Sequence[Language]) -> list[Sentence]:
    """Return the sentences of a message, in order."""
    found: list[Sentence] = []
    foreign = False
    for number, paragraph in enumerate(paragraphs(message[:MAX_INPUT])):
        marked, foreign = _marked(paragraph, languages, foreign=foreign)
        found += [Sentence(text, own, _asks(text, languages), number) for text, own in marked]
    return found


def _asks(text: str, languages: Sequence[Language]) -> bool:
    return bool(_QUESTION.search(text)) or any(language.questions.match(text) for language in languages)


def _marked(
    paragraph: Paragraph, languages: Sequence[Language], *, foreign: bool
) -> tuple[list[tuple[str, bool]], bool]:
    """Return the paragraph's sentences, whether each is the person's own, and whether the next paragraph is not."""
    text = paragraph.text
    quoted = Quotations(text)
    marked: list[tuple[str, bool]] = []
    reported = foreign
    for start, end in _spans(text, quoted, languages):
        sentence = text[start:end]
        own = not reported and not quoted.hold(start)
        marked.append((" ".join(sentence.split()).lstrip("¡"), own))
        if not own:
            continue
        ends_line = sentence.endswith("\n") or text[end : end + 1] in {"", "\n"}
        reach = given_away(sentence, languages, ends_line=ends_line)
        reported = reach is not None
        # "Here is the mail:" hands over all that follows, unless a quotation or a fence marks off what is meant.
        at_end = end >= len(text.rstrip())
        foreign = (reach == "message" or (reach == "text" and at_end)) and not (at_end and paragraph.introduces)
    return marked, foreign


def _spans(text: str, quoted: Quotations, languages: Sequence[Language]) -> Iterator[tuple[int, int]]:
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
