"""What a sentence asks to be remembered: a request to keep it, a standing order, or a lasting decision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.capture.language import CueKind, Language, Strong
    from persona_mind.capture.prepare import Sentence

MAX_CANDIDATE: Final = 8_192
MAX_ORDER: Final = 30
"""Words of an order that carries its "from now on" within; a longer one is a task with a story in it."""

_JOINT: Final = re.compile(r"\s*[,:;–—-]+\s*|\s+|$")
_LINKED: Final = re.compile(r"\s*[,:;–—-]+\s*|\s+|['’]|$")  # French elides: "qu'il"
_PAUSE: Final = re.compile(r"[,;:–—]")
_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be remembered, and the last sentence that it takes in."""

    kind: CueKind
    candidate: str
    last: int


def request(told: Sequence[Sentence], at: int, taken: int, known: Sequence[Language]) -> Request | None:
    """Return what the sentence at ``at`` asks to be remembered; None where it asks for nothing.

    Sentences up to ``taken`` belong to an earlier request.
    """
    for language in known:
        found = (
            _begun(told, at, language)
            or _afterwards(told, at, taken, language)
            or _ordered(told[at].text, at, language)
            or _decided(told[at].text, at, language)
        )
        if found and _WORD.search(found.candidate) and not _taken_back(told, at, found.last, known):
            return found
    return None


def _begun(told: Sequence[Sentence], at: int, language: Language) -> Request | None:
    """Return what follows a strong phrase that the sentence begins with."""
    text = told[at].text
    opening, lead = language.opening.match(text), language.lead.match(text)
    # The words before may have eaten a cue that begins like one of them, so what is left without them is tried as well.
    starts = dict.fromkeys((opening.end() if opening else 0, lead.end() if lead else 0, 0))
    for cue, start in ((cue, start) for cue in language.strong for start in starts):
        phrase = cue.phrase.match(text, start)
        said = _candidate(text, phrase.end(), cue, language) if phrase else None
        if said is not None:
            candidate, listed = said
            whole, last = _with_rest(candidate, told, at, language, listed=listed)
            return Request(_kind(cue.kind, whole, language), whole, last)
    return None


def _candidate(text: str, end: int, cue: Strong, language: Language) -> tuple[str, bool] | None:
    """Return what a strong phrase is followed by, and whether it announces a list; None where it is no such cue."""
    joint = _JOINT.match(text, end)
    if joint is None:
        return None
    rest = text[joint.end() :]
    if listed := cue.listed.match(rest):
        return rest[listed.end() :].strip(), True
    linked = cue.link.match(rest)
    if linked:
        after = _LINKED.match(rest, linked.end())
        rest = rest[after.end() if after else linked.end() :]
    if not _WORD.search(rest) or not _follows(rest, cue, language, linked=bool(linked), joint=joint[0].strip()):
        return None
    return rest, False


def _follows(rest: str, cue: Strong, language: Language, *, linked: bool, joint: str) -> bool:
    """Return whether ``rest`` is what must follow a cue of this form."""
    if language.maxims.match(rest):
        return False
    if cue.form == "standing":
        return not language.not_standing.match(rest)
    if cue.form == "request":
        told = joint.startswith(":") and not language.not_standing.match(rest)
        return told or bool(language.instruction.match(rest))
    return _states(rest, language, linked=linked, joint=joint)


def _states(rest: str, language: Language, *, linked: bool, joint: str) -> bool:
    """Return whether ``rest`` states something, after a phrase that asks to remember it."""
    if linked:
        return not language.past_after.match(rest)
    if language.errands.match(rest):
        return False
    if joint.startswith(":"):
        return True
    if language.not_after.match(rest):
        return False
    # "Don't forget the milk, it's important": what is told after a comma is not told of what is to be remembered.
    told = rest if joint else _PAUSE.split(rest, maxsplit=1)[0]
    return joint[:1] in {"-", "–", "—"} or bool(language.clause.search(told))


def _afterwards(told: Sequence[Sentence], at: int, taken: int, language: Language) -> Request | None:
    """Return what stands before words that ask to remember it, in their sentence or in the one before."""
    text = told[at].text
    if trailing := language.trailing.search(text):
        return _stated(text[: trailing.start()], at, language)
    lead = language.lead.match(text)
    asked = language.afterwards.match(text, lead.end() if lead else 0)
    before = told[at - 1] if at - 1 > taken else None
    if not asked or _WORD.search(text, asked.end()) or before is None or before.asks or not before.own:
        return None
    return _stated(before.text, at, language)


def _stated(text: str, at: int, language: Language) -> Request | None:
    opening = language.opening.match(text)
    said = text[opening.end() if opening else 0 :]
    if language.maxims.match(said) or not language.clause.search(said):
        return None
    return Request(_kind("note", said, language), said, at)


def _ordered(text: str, at: int, language: Language) -> Request | None:
    """Return an order that holds from now on, where those words do not begin its sentence."""
    lead, opening = language.lead.match(text), language.opening.match(text)
    start = lead.end() if lead else 0
    order = language.orders.match(text, opening.end() if opening else 0) or language.orders.match(text, start)
    if not order or not language.from_now.search(text, order.end()) or text.count(" ") >= MAX_ORDER:
        return None
    if language.tangled.search(text, order.end()):
        return None
    return Request(_kind("preference", text[start:], language), text[start:], at)


def _decided(text: str, at: int, language: Language) -> Request | None:
    """Return a lasting decision that is told directly."""
    told = language.decision
    opening = language.opening.match(text)
    start = opening.end() if opening else 0
    if not told.owners.match(text, start) or told.hearsay.match(text, start):
        return None
    if not (told.verbs.search(text) and told.lasting.search(text) and told.nouns.search(text)):
        return None
    _, _, after = text.partition(":")
    return Request("rationale", after.strip() or text, at)


def _taken_back(told: Sequence[Sentence], at: int, last: int, known: Sequence[Language]) -> bool:
    """Return whether a request is withdrawn or turns out to be somebody else's, at its end or right after it."""
    after = told[last + 1].text if last + 1 < len(told) and told[last + 1].own else ""
    return any(
        language.taken_back.search(told[at].text)
        or language.taken_back.search(told[last].text)
        or (after and language.disowns.match(after))
        for language in known
    )


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
