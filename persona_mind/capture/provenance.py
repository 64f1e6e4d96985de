"""Whose words follow a sentence: the person's own, or those of a report, a chat log, a letter or a text to work on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from persona_mind.capture.quotations import QUOTES, closes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.capture.language import Language

Reach = Literal["paragraph", "text", "message"]
"""How far: the paragraph, the text that is announced at its end, or all that is left."""

_TIME: Final = r"\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp][Mm])?\]?"
_NAMES: Final = r"[^\W\d_a-zà-ÿ][\w.'’-]*(?: [^\W\d_a-zà-ÿ][\w.'’-]*){0,2}"
_LABEL: Final = re.compile(rf"(?:{_TIME}\s*[-–]?\s*)?<?@?({_NAMES}|user|assistant|system|human|ai|bot)>?\s*:(?=\s|$)")
_SPEAKER: Final = re.compile(rf"{_NAMES}(?: (?:APP|BOT))?(?: ?[—–-] ?| )(?:\w+ \w{{1,3}} )?{_TIME}")


def given_away(sentence: str, languages: Sequence[Language], *, ends_line: bool) -> Reach | None:
    """Return how much of what follows the person's own sentence is not theirs; None where all of it is."""
    if ends_line and _hands_over(sentence, languages):
        return "message"
    after = _after_report(sentence, languages)
    if after is None or (after and after[0] in QUOTES and closes(after)):
        return None  # a quotation that ends in its own sentence says nothing about the next one
    return "paragraph" if after else "text"


def _hands_over(line: str, languages: Sequence[Language]) -> bool:
    """Return whether a line begins a letter, a mail, a message of a chat or a text to work on."""
    words = line.strip().rstrip(",.!: ")
    field, colon, _ = words.partition(":")
    return bool(_SPEAKER.fullmatch(words)) or any(
        language.salutations.fullmatch(words)
        or (colon and language.headers.fullmatch(field))
        or language.asks_to_work_on(line)
        for language in languages
    )


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
