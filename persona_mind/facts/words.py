"""The words of the ``memory`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line, quoted
from persona_store.hidden import visible

if TYPE_CHECKING:
    from persona_mind.facts.model import Tier
    from persona_mind.facts.outcomes import Gone, Line, Opened, Promoted, Recalled, Remembered
    from persona_mind.facts.shown import ShownFact

PLACES: Final[dict[Tier, str]] = {
    "persona": "long-term memory, private to this persona",
    "shared": "long-term memory, shared by all personas",
    "project": "this project's long-term memory",
    "stm": "this project's working memory",
}


def remembered(outcome: Remembered) -> Card:
    """Say what was saved, and where."""
    return Card(
        title=f"{outcome.summary} [{outcome.id}]",
        body=(f"({outcome.kind}) {visible(one_line(outcome.text))}",) if outcome.text else (),
        detail=_sentences(
            "It comes back when it matters.",
            f"It replaced {_facts(outcome.retired)}." if outcome.retired else "",
            f"`/mind forget {outcome.id}` takes it back.",
            outcome.notice or "",
        ),
        level="success",
    )


def summary(tier: Tier, *, again: bool) -> str:
    """Return the one sentence of a receipt."""
    return f"{'Refreshed' if again else 'Saved'} in {PLACES[tier]}"


def recalled(outcome: Recalled) -> Card:
    """List what was found."""
    told = outcome.sessions
    if told is None:
        return _found(outcome, outcome.total, outcome.known)
    if not outcome.tiers:
        return told.card
    facts = _found(outcome, outcome.total - told.total, outcome.known - told.known)
    return Card(
        title=f"{facts.title.rstrip('.')}; {told.card.title}",
        body=(*facts.body, *told.card.body),
        detail=(*facts.detail, *told.card.detail),
        hint=facts.hint or told.card.hint,
    )


def _found(outcome: Recalled, total: int, known: int) -> Card:
    """List the facts that were found, of so many that match and so many there are."""
    count = len(outcome.lines)
    if not known:
        return Card(title="Nothing is remembered here yet.")
    if not count:
        return Card(title="Nothing that is remembered matches.", hint="Try other words, or recall without any.")
    withheld = sum(bool(line.fact.withheld) for line in outcome.lines)
    clipped = sum(not line.whole and not line.fact.withheld for line in outcome.lines)
    return Card(
        title=f"{count} of {_facts(total)} recalled" if count < total else f"{_facts(count)} recalled",
        body=tuple(_line(line) for line in outcome.lines),
        detail=_sentences(
            f"+{total - count} more" if count < total else "",
            f"{_facts(withheld)} withheld: the stored text breaks a rule" if withheld else "",
            f"{_facts(clipped)} shown in part; read an id for the whole" if clipped else "",
        ),
    )


def opened(outcome: Opened) -> Card:
    """Show one fact whole."""
    fact = outcome.fact
    body = (f"[withheld: {fact.withheld}]",) if fact.withheld else quoted(fact.text)
    return Card(
        title=f"{outcome.kind.capitalize()} {outcome.id} in {PLACES[outcome.scope]}, {fact.came}",
        body=body,
        detail=_sentences(
            f"tags: {', '.join(map(one_line, fact.tags))}" if fact.tags else "",
            f"source: {one_line(fact.source)}" if fact.source else "",
            f"persona: {one_line(fact.persona)}" if fact.persona else "",
            f"recorded {outcome.recorded_at}, last {outcome.last_seen_at}",
            f"expires {outcome.expires_at}" if outcome.expires_at else "",
            f"supersedes {outcome.supersedes}" if outcome.supersedes else "",
            f"derived from {', '.join(outcome.derived_from)}" if outcome.derived_from else "",
        ),
    )


def gone(outcome: Gone) -> Card:
    """Say where a fact was forgotten."""
    return Card(
        title=f"Forgotten: {outcome.id}, in {' and '.join(PLACES[tier] for tier in outcome.scopes)}",
        detail=_sentences(
            f"{outcome.kept} of other personas stay: only they may change theirs." if outcome.kept else ""
        ),
        level="success",
    )


def promoted(outcome: Promoted) -> Card:
    """Say that a working fact is kept for good."""
    return Card(title=f"Kept for good in {PLACES[outcome.scope]} [{outcome.id}]", level="success")


def mark(fact: ShownFact, *, told: bool = True) -> str:
    """Return what stands before a fact's text wherever facts are listed: its kind, whose it is, who brought it.

    Args:
        fact: The fact.
        told: Name the person, too, and the host; without it, what nobody is named for is the person's own.
    """
    whose = f" · {one_line(fact.persona)}" if fact.tier == "stm" and fact.persona else ""
    brought = f" · {fact.came if told else fact.brought}" if told or fact.origin != "user" else ""
    return f"{fact.kind}{whose}{brought}"


def _line(line: Line) -> str:
    fact = line.fact
    text = f"[withheld: {fact.withheld}]" if fact.withheld else line.excerpt or "(too long to show in part; read it)"
    return f"- [{fact.id}] ({mark(fact)}) {text}"


def _facts(number: int) -> str:
    return f"{number} fact" if number == 1 else f"{number} facts"


def _sentences(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
