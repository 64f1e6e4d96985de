"""The words of ``mind.why``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card
from persona_mind.recorder.tell import ENOUGH
from persona_store.structure import inline

if TYPE_CHECKING:
    from persona_mind.recorder.model import Item
    from persona_mind.recorder.outcomes import Used, Why
    from persona_mind.recorder.tell import Described

_KINDS: Final = {
    "word": "words of the question",
    "kin": "forms of its words",
    "tag": "tags",
    "when": "the time it names",
    "told_when": "it tells a time",
    "meaning": "likeness of meaning",
    "prior": "kind",
    "recency": "recency",
    "repeats": "repeats another",
}
LISTED: Final = 20


def why(outcome: Why) -> Card:
    """Answer what was asked."""
    if outcome.memory is not None:
        return _memory(outcome, outcome.memory)
    if outcome.unmatched is not None and outcome.unseen is not None:
        return _useless(outcome, outcome.unmatched, outcome.unseen)
    if outcome.turn is None:
        return Card(title="No request with a memory in it has been recorded yet.")
    return _request(outcome)


def _request(outcome: Why) -> Card:
    when = (outcome.at or "")[:16].replace("T", " ")
    left = [f"+{number} {kind} not shown" for kind, number in outcome.left.items()]
    left += [f"{outcome.withheld} withheld: the stored text breaks a rule"] if outcome.withheld else []
    left += [f"{outcome.gone} of its memories are no longer here"] if outcome.gone else []
    return Card(
        title=f"{_memories(len(outcome.items))} in the request of {when}, session {inline(outcome.session or '')}",
        body=tuple(_line(item, outcome.about.get(item.id)) for item in outcome.items),
        detail=tuple(left),
        hint="`/mind why ID` tells what became of one; `/mind why --unused` which never help.",
    )


def _memory(outcome: Why, used: Used) -> Card:
    uses = used.uses
    about = used.about
    body = [
        f"shown in {uses.shown} of {_turns(uses.turns)}, in {uses.matched} because of what was asked",
        f"recalled by the model in {_turns(uses.recalled)}",
        *([f"last {uses.last[:16].replace('T', ' ')}"] if uses.last else []),
        *(f"- {item.at[:16].replace('T', ' ')}: {_reason(item.item)}" for item in outcome.occasions),
    ]
    title = f"{used.id} ({inline(about.mark)})" if about else used.id
    return Card(title=title, body=((inline(about.line), *body) if about else tuple(body)))


def _useless(outcome: Why, unmatched: tuple[Used, ...], unseen: tuple[Used, ...]) -> Card:
    if outcome.recorded < ENOUGH:
        return Card(
            title=f"Only {_turns(outcome.recorded)} recorded yet; after {ENOUGH} it can be told what never helps."
        )
    body: list[str] = []
    for heading, found in (
        ("Shown again and again, never because of what was asked:", unmatched),
        ("Never shown:", unseen),
    ):
        if found:
            body += [heading, *(_used(item) for item in found[:LISTED])]
            body += [f"+{len(found) - LISTED} more"] if len(found) > LISTED else []
    number = len(unmatched) + len(unseen)
    title = f"{_memories(number)} never helped in {_turns(outcome.recorded)}"
    return Card(title=title if number else f"Every memory has helped in {_turns(outcome.recorded)}.", body=tuple(body))


def _used(used: Used) -> str:
    about = used.about
    text = f" ({inline(about.mark)}) {about.line}" if about else ""
    return f"- [{used.id}]{text} · shown in {used.uses.shown} of {_turns(used.uses.turns)}"


def _line(item: Item, about: Described | None) -> str:
    text = f" ({inline(about.mark)}) {about.line}" if about else f" ({item.tier})"
    return f"- [{item.id}]{text} · {_reason(item)}"


def _reason(item: Item) -> str:
    by = "recalled by the model" if item.how == "recalled" else ""
    if item.score is None or not item.terms:
        return by or "stands there whatever is asked"
    ranked = sorted(item.terms.items(), key=lambda pair: -abs(pair[1]))
    terms = ", ".join(f"{_KINDS.get(kind, kind)} {amount:+.2f}" for kind, amount in ranked if amount)
    return f"{f'{by}, ' if by else ''}score {item.score:.2f}: {terms}"


def _memories(number: int) -> str:
    return f"{number} memory" if number == 1 else f"{number} memories"


def _turns(number: int) -> str:
    return f"{number} turn" if number == 1 else f"{number} turns"
