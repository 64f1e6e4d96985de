"""The words of the ``memory`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line, quoted
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.facts.params import MAX_HITS
from persona_mind.kernel.wording import (
    capital,
    facts,
    kept_in_range,
    kind_word,
    lines,
    local,
    more,
    persona_word,
    warned,
    withheld,
)
from persona_store.hidden import visible

if TYPE_CHECKING:
    from persona_mind.facts.model import Tier
    from persona_mind.facts.outcomes import Gone, Line, Opened, Promoted, Recalled, Remembered
    from persona_mind.facts.shown import ShownFact

PLACES: Final[dict[Tier, str]] = {
    "persona": phrase("long-term memory, private to this persona"),
    "shared": phrase("long-term memory, shared by all personas"),
    "project": phrase("this project's long-term memory"),
    "stm": phrase("this project's working memory"),
}
_SOURCES: Final[dict[str, str]] = {"direct user persistence cue": phrase("direct user persistence cue")}
"""What files say of where a fact comes from, in our own words."""


def remembered(outcome: Remembered) -> Card:
    """Say what was saved, and where."""
    kind = worded(kind_word(outcome.kind))
    card = Card(
        title=f"{worded(outcome.summary)} [{outcome.id}]",
        body=(f"({kind}) {visible(one_line(outcome.text))}",) if outcome.text else (),
        detail=lines(
            say("It comes back when it matters."),
            say("It replaced {facts}.", facts=facts(outcome.retired)) if outcome.retired else "",
            say("`/mind forget {id}` takes it back.", id=outcome.id),
            worded(outcome.notice or ""),
        ),
        level="success",
    )
    return warned(card, outcome.warning)


def summary(tier: Tier, *, again: bool) -> str:
    """Return the one sentence of a receipt, as a phrase."""
    place = PLACES[tier]
    return phrase("Refreshed in {place}", place=place) if again else phrase("Saved in {place}", place=place)


def recalled(outcome: Recalled) -> Card:
    """List what was found."""
    return warned(_recalled(outcome), outcome.warning)


def _recalled(outcome: Recalled) -> Card:
    told = outcome.sessions
    if told is None:
        return _found(outcome, outcome.total, outcome.known)
    if not outcome.tiers:
        return told.words()
    found = _found(outcome, outcome.total - told.total, outcome.known - told.known)
    said = told.words()
    return Card(
        title=f"{found.title.rstrip('.')}; {said.title}",
        body=(*found.body, *said.body),
        detail=(*found.detail, *said.detail),
        hint=found.hint or said.hint,
    )


def _found(outcome: Recalled, total: int, known: int) -> Card:
    """List the facts that were found, of so many that match and so many there are."""
    count = len(outcome.lines)
    meaning = outcome.meaning.told() if outcome.meaning else ()
    if not known:
        return Card(title=say("Nothing is remembered here yet."))
    if not count:
        hint = say("Try other words, or recall without any.")
        return Card(title=say("Nothing that is remembered matches."), detail=tuple(meaning), hint=hint)
    unsafe = outcome.withheld_unsafe - (outcome.sessions.withheld_unsafe if outcome.sessions else 0)
    clipped = sum(not line.whole and not line.fact.withheld for line in outcome.lines)
    title = say_n("{number} fact recalled", "{number} facts recalled", count)
    if count < total:
        title = say("{count} of {facts} recalled", count=count, facts=facts(total))
    return Card(
        title=title,
        body=tuple(_line(line) for line in outcome.lines),
        detail=lines(
            more(total - count, room=count < MAX_HITS),
            kept_in_range(outcome.asked, MAX_HITS),
            say("{facts} withheld: the stored text breaks a rule", facts=facts(unsafe)) if unsafe else "",
            say("{facts} shown in part; read an id for the whole", facts=facts(clipped)) if clipped else "",
            *meaning,
        ),
    )


def opened(outcome: Opened) -> Card:
    """Show one fact whole."""
    fact = outcome.fact
    body = (withheld(fact.withheld),) if fact.withheld else quoted(fact.text)
    return Card(
        title=say(
            "{kind} {id} in {place}, {by}",
            kind=capital(worded(kind_word(outcome.kind))),
            id=outcome.id,
            place=PLACES[outcome.scope],
            by=fact.came,
        ),
        body=body,
        detail=lines(
            say("tags: {tags}", tags=", ".join(map(one_line, fact.tags))) if fact.tags else "",
            say("source: {source}", source=one_line(worded(_SOURCES.get(fact.source, fact.source))))
            if fact.source
            else "",
            say("persona: {name}", name=one_line(worded(persona_word(fact.persona)))) if fact.persona else "",
            say("recorded {first}, last {last}", first=local(outcome.recorded_at), last=local(outcome.last_seen_at)),
            say("expires {at}", at=local(outcome.expires_at)) if outcome.expires_at else "",
            say("supersedes {id}", id=outcome.supersedes) if outcome.supersedes else "",
            say("derived from {ids}", ids=", ".join(outcome.derived_from)) if outcome.derived_from else "",
        ),
    )


def gone(outcome: Gone) -> Card:
    """Say where a fact was forgotten."""
    places = worded(PLACES[outcome.scopes[0]])
    for tier in outcome.scopes[1:]:
        places = say("{some} and {last}", some=places, last=PLACES[tier])
    kept = say("{number} of other personas stay: only they may change theirs.", number=outcome.kept)
    card = Card(
        title=say("Forgotten: {id}, in {places}", id=outcome.id, places=places),
        detail=lines(kept if outcome.kept else ""),
        level="success",
    )
    return warned(card, outcome.warning)


def promoted(outcome: Promoted) -> Card:
    """Say that a working fact is kept for good."""
    place = PLACES[outcome.scope]
    card = Card(title=say("Kept for good in {place} [{id}]", place=place, id=outcome.id), level="success")
    return warned(card, outcome.warning)


def mark(fact: ShownFact, *, told: bool = True) -> str:
    """Return what stands before a fact's text wherever facts are listed: its kind, whose it is, who brought it.

    Args:
        fact: The fact.
        told: Name the person, too, and the host; without it, what nobody is named for is the person's own.

    Returns:
        A phrase: models read its English.
    """
    kind = kind_word(fact.kind)
    if fact.tier == "stm" and fact.persona:
        kind = phrase("{kind} · {persona}", kind=kind, persona=persona_word(one_line(fact.persona)))
    if not told and fact.origin == "user":
        return kind
    return phrase("{kind} · {by}", kind=kind, by=fact.came if told else fact.brought)


def _line(line: Line) -> str:
    fact = line.fact
    text = withheld(fact.withheld) if fact.withheld else line.excerpt or say("(too long to show in part; read it)")
    return f"- [{fact.id}] ({worded(mark(fact))}) {text}"
