"""Cues: the sentences of a message that ask to be remembered, and those that only sound so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_mind.capture.language import languages
from persona_mind.capture.prepare import Sentence, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.capture.language import CueKind, Language, Strong

MAX_CUES: Final = 4
SNIPPET: Final = 200
MAX_CANDIDATE: Final = 8_192

_JOINT: Final = re.compile(r"\s*[,:;–—-]+\s*|\s+|$")
_WORD: Final = re.compile(r"\w")


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
    known = languages()
    told = sentences(message, known)
    found: list[Cue] = []
    taken = -1
    for at, sentence in enumerate(told):
        if at <= taken or sentence.asks:
            continue
        cue, last = _strong(told, at, known) if sentence.own else (None, at)
        cue = cue or _weak(sentence, known)
        if cue is not None:
            found.append(cue)
            taken = last
        if len(found) == MAX_CUES:
            break
    return found


def _strong(told: Sequence[Sentence], at: int, known: Sequence[Language]) -> tuple[Cue | None, int]:
    """Return the strong cue that a sentence is, and the last sentence that its candidate takes in."""
    text = told[at].text
    for language in known:
        opening = language.opening.match(text)
        start = opening.end() if opening else 0
        for cue in language.strong:
            # The lead-ins may have eaten a cue that is one of them, so the bare beginning is tried as well.
            for begin in dict.fromkeys((start, 0)):
                phrase = cue.phrase.match(text, begin)
                said = _candidate(text, phrase.end(), cue, language) if phrase else None
                if said is not None:
                    candidate, listed = said
                    whole, last = _with_rest(candidate, told, at, language, listed=listed)
                    if _WORD.search(whole):
                        return Cue(_kind(cue.kind, whole, language), whole, text[:SNIPPET]), last
        decision = _decision(text, language)
        if decision:
            return Cue("rationale", decision, text[:SNIPPET]), at
    return None, at


def _candidate(text: str, end: int, cue: Strong, language: Language) -> tuple[str, bool] | None:
    """Return what a strong phrase is followed by, and whether it announces a list; None where it is no such cue."""
    joint = _JOINT.match(text, end)
    if joint is None:
        return None
    rest, joined = text[joint.end() :], bool(joint[0].strip())
    if listed := cue.listed.match(rest):
        return rest[listed.end() :].strip(), True
    linked = cue.link.match(rest)
    if linked:
        after = _JOINT.match(rest, linked.end())
        rest = rest[after.end() if after else linked.end() :]
    if not rest or not _follows(rest, cue, language, linked=bool(linked), joint=joint[0].strip() if joined else ""):
        return None
    return rest, False


def _follows(rest: str, cue: Strong, language: Language, *, linked: bool, joint: str) -> bool:
    """Return whether ``rest`` is what must follow a cue of this form."""
    if cue.form == "standing":
        return not language.not_standing.match(rest)
    if cue.form == "request":
        return bool(language.instruction.match(rest))
    if linked:
        return not language.past_after.match(rest)
    if joint.startswith(":"):
        return True
    if language.not_after.match(rest):
        return False
    return joint[:1] in {"-", "–", "—"} or bool(language.clause.search(rest))


def _with_rest(
    candidate: str, told: Sequence[Sentence], at: int, language: Language, *, listed: bool
) -> tuple[str, int]:
    """Return a candidate with the sentences that belong to it: all after an announcement, else those that go on."""
    parts, last = [candidate] if candidate else [], at
    for sentence in _after(told, at):
        belongs = listed or (bool(language.goes_on.match(sentence.text)) and not sentence.asks)
        if not belongs or sum(map(len, parts)) + len(sentence.text) > MAX_CANDIDATE:
            break
        parts.append(sentence.text)
        last += 1
    return " ".join(parts), last


def _after(told: Sequence[Sentence], at: int) -> Iterator[Sentence]:
    """Yield the sentences after one that the person says in the same paragraph."""
    for sentence in told[at + 1 :]:
        if not sentence.own or sentence.paragraph != told[at].paragraph:
            return
        yield sentence


def _kind(kind: CueKind, candidate: str, language: Language) -> CueKind:
    return next((head for head, pattern in language.heads if pattern.match(candidate)), kind)


def _decision(text: str, language: Language) -> str:
    """Return the candidate of a lasting decision that is told directly; empty where the sentence is none."""
    told = language.decision
    opening = language.opening.match(text)
    start = opening.end() if opening else 0
    if not told.owners.match(text, start) or told.hearsay.match(text, start):
        return ""
    if not (told.verbs.search(text) and told.lasting.search(text) and told.nouns.search(text)):
        return ""
    _, _, after = text.partition(":")
    return after.strip() or text


def _weak(sentence: Sentence, known: Sequence[Language]) -> Cue | None:
    """Return the hint that a sentence gives; its snippet starts at the words that gave it."""
    for kind, pattern in (entry for language in known for entry in language.weak):
        found = pattern.search(sentence.text)
        if found:
            return Cue(kind, "", sentence.text[found.start() : found.start() + SNIPPET])
    return None
