"""The words of ``mind.why``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.kernel.wording import decimal, moment, more, turns
from persona_mind.recorder.tell import ENOUGH
from persona_store.structure import inline

if TYPE_CHECKING:
    from persona_mind.recorder.model import Item
    from persona_mind.recorder.outcomes import Used, Why
    from persona_mind.recorder.tell import Described

_KINDS: Final = {
    "word": phrase("words of the question"),
    "kin": phrase("forms of its words"),
    "tag": phrase("tags"),
    "when": phrase("the time it names"),
    "told_when": phrase("it tells a time"),
    "meaning": phrase("likeness of meaning"),
    "seat": phrase("a place kept for that"),
    "prior": phrase("kind"),
    "recency": phrase("recency"),
    "repeats": phrase("repeats another"),
}
_TIERS: Final = {
    "persona": phrase("persona"),
    "shared": phrase("shared"),
    "project": phrase("project"),
    "stm": phrase("stm"),
    "long-term": phrase("long-term"),
    "working": phrase("working"),
    "objective": phrase("objective"),
    "notes": phrase("notes"),
    "backlog": phrase("backlog"),
}
LISTED: Final = 20


def tier_word(tier: str) -> str:
    """Return the phrase for where a memory stands, or what it counts as in a request."""
    return _TIERS.get(tier, tier)


def why(outcome: Why) -> Card:
    """Answer what was asked."""
    if outcome.memory is not None:
        return _memory(outcome, outcome.memory)
    if outcome.unmatched is not None and outcome.unseen is not None:
        return _useless(outcome, outcome.unmatched, outcome.unseen)
    if outcome.turn is None:
        return _none(outcome.recorded)
    return _request(outcome)


def _none(recorded: int) -> Card:
    """Say that there is no request to tell of, and where those that were recorded were made."""
    if not recorded:
        return Card(title=say("No request with a memory in it has been recorded yet."))
    return Card(
        title=say("No request with a memory in it has been recorded in this session or this project yet."),
        hint=say_n(
            "{number} turn is recorded elsewhere; `persona why` in the folder where it was asked tells of it.",
            "{number} turns are recorded elsewhere; `persona why` in the folder where you asked tells of them.",
            recorded,
        ),
    )


def _request(outcome: Why) -> Card:
    gone = outcome.gone
    left = [
        say("+{number} {kind} not shown", number=number, kind=tier_word(kind)) for kind, number in outcome.left.items()
    ]
    left += (
        [say("{number} withheld: the stored text breaks a rule", number=outcome.withheld)] if outcome.withheld else []
    )
    left += [say("{number} of its memories are no longer here", number=gone)] if gone else []
    return Card(
        title=say(
            "{memories} in the request of {when}, session {session}",
            memories=_memories(len(outcome.items)),
            when=moment(outcome.at or ""),
            session=inline(outcome.session or ""),
        ),
        body=tuple(_line(item, outcome.about.get(item.id)) for item in outcome.items),
        detail=tuple(left),
        hint=say("`/mind why ID` tells what became of one; `/mind why --unused` which never help."),
    )


def _memory(outcome: Why, used: Used) -> Card:
    uses = used.uses
    about = used.about
    body = [
        say(
            "shown in {shown} of {turns}, in {matched} because of what was asked",
            shown=uses.shown,
            turns=turns(uses.turns),
            matched=uses.matched,
        ),
        say("recalled by the model in {turns}", turns=turns(uses.recalled)),
        *([say("last {when}", when=moment(uses.last))] if uses.last else []),
        *(f"- {moment(item.at)}: {_reason(item.item)}" for item in outcome.occasions),
    ]
    title = f"{used.id} ({inline(worded(about.mark))})" if about else used.id
    return Card(title=title, body=((inline(worded(about.line)), *body) if about else tuple(body)))


def _useless(outcome: Why, unmatched: tuple[Used, ...], unseen: tuple[Used, ...]) -> Card:
    recorded = turns(outcome.recorded)
    if outcome.recorded < ENOUGH:
        return Card(
            title=say(
                "Only {turns} recorded yet; after {enough} it can be told what never helps.",
                turns=recorded,
                enough=ENOUGH,
            )
        )
    body: list[str] = []
    for heading, found in (
        (say("Shown again and again, never because of what was asked:"), unmatched),
        (say("Never shown:"), unseen),
    ):
        if found:
            body += [heading, *(_used(item) for item in found[:LISTED])]
            body += [more(len(found) - LISTED)] if len(found) > LISTED else []
    number = len(unmatched) + len(unseen)
    title = say("Every memory has helped in {turns}.", turns=recorded)
    if outcome.early:
        title = say("No memory is known to be of no help after {turns}.", turns=recorded)
    if number:
        title = say_n(
            "{number} memory never helped in {turns}",
            "{number} memories never helped in {turns}",
            number,
            turns=recorded,
        )
    early = say_n(
        "{number} memory could not stand in enough requests yet to tell.",
        "{number} memories could not stand in enough requests yet to tell.",
        outcome.early,
    )
    return Card(title=title, body=tuple(body), detail=(early,) if outcome.early else ())


def _used(used: Used) -> str:
    about = used.about
    text = f" ({inline(worded(about.mark))}) {worded(about.line)}" if about else ""
    shown = say("shown in {shown} of {turns}", shown=used.uses.shown, turns=turns(used.uses.turns))
    return f"- [{used.id}]{text} · {shown}"


def _line(item: Item, about: Described | None) -> str:
    text = f" ({inline(worded(about.mark))}) {worded(about.line)}" if about else f" ({worded(tier_word(item.tier))})"
    return f"- [{item.id}]{text} · {_reason(item)}"


def _reason(item: Item) -> str:
    recalled = say("recalled by the model") if item.how == "recalled" else ""
    if item.score is None or not item.terms:
        return recalled or say("stands there whatever is asked")
    ranked = sorted(item.terms.items(), key=lambda pair: -abs(pair[1]))
    terms = ", ".join(
        f"{worded(_KINDS.get(kind, kind))} {decimal(amount, '+.2f')}" for kind, amount in ranked if amount
    )
    score = say("score {score}: {terms}", score=decimal(item.score, ".2f"), terms=terms)
    return f"{recalled}, {score}" if recalled else score


def _memories(number: int) -> str:
    return say_n("{number} memory", "{number} memories", number)
