"""Cues: the sentences of a message that ask to be remembered, and those that only sound so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from persona_mind.capture.language import languages
from persona_mind.capture.prepare import MAX_INPUT, sentences
from persona_mind.capture.requests import request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.capture.language import CueKind, Language
    from persona_mind.capture.prepare import Sentence

MAX_CUES: Final = 4
SNIPPET: Final = 200


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue of a message.

    Attributes:
        kind: The kind of the fact.
        candidate: What is to be remembered, uncut; empty where the cue is weak.
        snippet: The beginning of the sentence, for telling one cue from another.
    """

    kind: CueKind
    candidate: str
    snippet: str

    @property
    def strong(self) -> bool:
        """Whether it is written without asking the model."""
        return bool(self.candidate)


def find_cues(message: str) -> list[Cue]:
    """Return the cues of a person's message, at most four, in order. Touches nothing."""
    text = normalize("NFC", message[:MAX_INPUT])
    lowered = text.lower().replace("’", "'")
    known = languages()
    hinting = [language for language in known if language.hint.search(lowered)]
    # Nearly every message ends here, so nothing else may be looked at before.
    return _found(sentences(text, known), hinting) if hinting else []


def _found(told: Sequence[Sentence], hinting: Sequence[Language]) -> list[Cue]:
    found: list[Cue] = []
    taken = -1
    for at, sentence in enumerate(told):
        if at <= taken or sentence.asks:
            continue
        asked = request(told, at, taken, hinting) if sentence.own else None
        if asked is not None:
            found.append(Cue(asked.kind, asked.candidate, sentence.text[:SNIPPET]))
            taken = asked.last
        elif cue := _weak(sentence, hinting):
            found.append(cue)
            taken = at
        if len(found) == MAX_CUES:
            break
    return found


def _weak(sentence: Sentence, known: Sequence[Language]) -> Cue | None:
    """Return the hint that a sentence gives; its snippet starts at the words that gave it."""
    for kind, pattern in (entry for language in known for entry in language.weak):
        found = pattern.search(sentence.text)
        if found:
            return Cue(kind, "", sentence.text[found.start() : found.start() + SNIPPET])
    return None
