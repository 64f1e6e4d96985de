"""The words of the ``backlog`` verbs: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card, one_line, quoted
from persona_mind.backlog.lines import due_words, line
from persona_mind.kernel import clock

if TYPE_CHECKING:
    from persona_mind.backlog.lines import ShownItem
    from persona_mind.backlog.outcomes import Added, Listed, Shifted


def added(outcome: Added) -> Card:
    """Say that an item was queued, and when it will be heard of."""
    did = "Refreshed in the backlog" if outcome.refreshed else "Queued in the backlog"
    due = f", {due_words(outcome.due_label)} ({outcome.due})" if outcome.due else ""
    return Card(
        title=f"{did} [{outcome.id}]{due}",
        detail=tuple(text for text in (f"It expires {outcome.expires_at}.", outcome.notice) if text),
        level="success",
    )


def listed(outcome: Listed) -> Card:
    """List items, or show one whole."""
    if outcome.whole:
        return _one(outcome.items[0])
    if not outcome.total:
        return Card(title="Nothing of that kind is in this project's backlog.")
    some = outcome.count < outcome.total
    return Card(
        title=f"{outcome.count} of {_items(outcome.total)}" if some else _items(outcome.total),
        body=tuple(listing(item, everyone=outcome.everyone) for item in outcome.items),
        detail=tuple(
            text
            for text in (
                f"+{outcome.withheld} more" if outcome.withheld else "",
                f"{_items(outcome.withheld_unsafe)} withheld: the stored text breaks a rule"
                if outcome.withheld_unsafe
                else "",
            )
            if text
        ),
    )


def taken(outcome: Shifted) -> Card:
    """Show the item that was taken, whole."""
    did = "Taken" if outcome.changed == "yes" else "Taken before"
    return Card(title=f"{did}: {outcome.id}, {outcome.item.brought}", body=_whole(outcome.item), level="success")


def shut(outcome: Shifted) -> Card:
    """Say that an item is done or dropped."""
    return Card(title=f"{outcome.state.capitalize()}: {outcome.id}", level="success")


def snoozed(outcome: Shifted) -> Card:
    """Say when the item will be heard of again."""
    return Card(title=f"Snoozed: {outcome.id}, {due_words(outcome.item.due)} ({outcome.due})", level="success")


def listing(item: ShownItem, *, everyone: bool = False) -> str:
    """Return an item's line in a list."""
    text, _ = line(item)
    whose = f" · {one_line(item.persona or 'nobody')}" if everyone else ""
    due = f" · {due_words(item.due)}" if item.due else ""
    note = f" · note: {one_line(item.note)}" if item.note else ""
    return f"- [{item.id}] ({item.state}{whose} · {item.brought}) {text}{due}{note}"


def _one(item: ShownItem) -> Card:
    about = [
        due_words(item.due),
        f"note: {one_line(item.note)}" if item.note else "",
        f"tags: {', '.join(map(one_line, item.tags))}" if item.tags else "",
        f"persona: {one_line(item.persona)}" if item.persona else "",
        *(f"{step.at} {step.to}{_for(step.due_at_epoch_ms)}" for step in item.history),
    ]
    return Card(
        title=f"Backlog item {item.id} ({item.state} · {item.brought})",
        body=_whole(item),
        detail=tuple(text for text in about if text),
    )


def _whole(item: ShownItem) -> tuple[str, ...]:
    return (f"[withheld: {item.withheld}]",) if item.withheld else quoted(item.text)


def _for(due: float | None) -> str:
    return "" if due is None else f", due {clock.from_milliseconds(due) or 'never'}"


def _items(number: int) -> str:
    return f"{number} item" if number == 1 else f"{number} items"
