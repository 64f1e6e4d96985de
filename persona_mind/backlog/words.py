"""The words of the ``backlog`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card, one_line, quoted
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.backlog.lines import due_words, line
from persona_mind.backlog.params import MAX_ITEMS
from persona_mind.kernel import clock
from persona_mind.kernel.wording import (
    capital,
    kept_in_range,
    lines,
    local,
    moment,
    more,
    persona_word,
    state_word,
    warned,
    withheld,
)

if TYPE_CHECKING:
    from persona_mind.backlog.lines import ShownItem
    from persona_mind.backlog.outcomes import Added, Listed, Shifted


def added(outcome: Added) -> Card:
    """Say that an item was queued, and when it will be heard of."""
    refreshed, id_ = outcome.refreshed, outcome.id
    title = say("Refreshed in the backlog [{id}]", id=id_) if refreshed else say("Queued in the backlog [{id}]", id=id_)
    due = f", {worded(due_words(outcome.due_label))} ({moment(outcome.due)})" if outcome.due else ""
    card = Card(
        title=f"{title}{due}",
        detail=lines(_end(outcome), worded(outcome.notice or "")),
        level="success",
    )
    return warned(card, outcome.warning)


def _end(outcome: Added) -> str:
    """Say until when the item stays: one that lives for its reminder alone is there for a day after it."""
    if not outcome.expires_at:
        return ""
    if outcome.due and clock.parse(outcome.expires_at) <= clock.parse(outcome.due):
        return say("It stays until a day after its reminder.")
    return say("It expires {at}.", at=moment(outcome.expires_at))


def listed(outcome: Listed) -> Card:
    """List items, or show one whole."""
    return warned(_listed(outcome), outcome.warning)


def _listed(outcome: Listed) -> Card:
    if outcome.whole:
        return _one(outcome.items[0])
    total, unsafe = outcome.total, outcome.withheld_unsafe
    if not total:
        return Card(title=say("Nothing of that kind is in this project's backlog."))
    some = outcome.count < total
    return Card(
        title=say("{count} of {items}", count=outcome.count, items=_items(total)) if some else _items(total),
        body=tuple(listing(item, everyone=outcome.everyone) for item in outcome.items),
        detail=lines(
            more(outcome.withheld, room=outcome.count < MAX_ITEMS),
            kept_in_range(outcome.asked, MAX_ITEMS),
            say("{items} withheld: the stored text breaks a rule", items=_items(unsafe)) if unsafe else "",
        ),
    )


def taken(outcome: Shifted) -> Card:
    """Show the item that was taken, whole."""
    id_, brought = outcome.id, outcome.item.brought
    fresh = outcome.changed == "yes"
    title = (
        say("Taken: {id}, {by}", id=id_, by=brought) if fresh else say("Taken before: {id}, {by}", id=id_, by=brought)
    )
    return warned(Card(title=title, body=_whole(outcome.item), level="success"), outcome.warning)


def shut(outcome: Shifted) -> Card:
    """Say that an item is done or dropped."""
    card = Card(title=f"{capital(worded(state_word(outcome.state)))}: {outcome.id}", level="success")
    return warned(card, outcome.warning)


def snoozed(outcome: Shifted) -> Card:
    """Say when the item will be heard of again."""
    when, due = due_words(outcome.item.due), moment(outcome.due or "")
    card = Card(title=say("Snoozed: {id}, {when} ({due})", id=outcome.id, when=when, due=due), level="success")
    return warned(card, outcome.warning)


def listing(item: ShownItem, *, everyone: bool = False) -> str:
    """Return an item's line in a list."""
    text, _ = line(item)
    whose = f" · {one_line(worded(persona_word(item.persona)) or say('nobody'))}" if everyone else ""
    due = f" · {worded(due_words(item.due))}" if item.due else ""
    note = f" · {say('note: {text}', text=one_line(item.note))}" if item.note else ""
    state = worded(state_word(item.state))
    return f"- [{item.id}] ({state}{whose} · {worded(item.brought)}) {worded(text)}{due}{note}"


def _one(item: ShownItem) -> Card:
    about = lines(
        worded(due_words(item.due)),
        say("note: {text}", text=one_line(item.note)) if item.note else "",
        say("tags: {tags}", tags=", ".join(map(one_line, item.tags))) if item.tags else "",
        say("persona: {name}", name=one_line(worded(persona_word(item.persona)))) if item.persona else "",
        *(f"{moment(step.at)} {worded(state_word(step.to))}{_for(step.due_at_epoch_ms)}" for step in item.history),
    )
    title = say("Backlog item {id} ({state} · {by})", id=item.id, state=state_word(item.state), by=item.brought)
    return Card(title=title, body=_whole(item), detail=about)


def _whole(item: ShownItem) -> tuple[str, ...]:
    return (withheld(item.withheld),) if item.withheld else quoted(item.text)


def _for(due: float | None) -> str:
    if due is None:
        return ""
    at = clock.from_milliseconds(due)
    return f", {say('due {when}', when=local(at) if at else phrase('never'))}"


def _items(number: int) -> str:
    return say_n("{number} item", "{number} items", number)
