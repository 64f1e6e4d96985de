"""The words of the ``quarantine`` verbs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_store.hidden import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from persona_mind.quarantine.outcomes import Approved, Dropped, HeldItem, Shown, Waiting


def waiting(outcome: Waiting) -> Card:
    """List what waits."""
    if not outcome.count:
        return Card(title="Nothing waits for a person here.")
    number = "1 call waits" if outcome.count == 1 else f"{outcome.count} calls wait"
    return Card(
        title=f"{number} for a person",
        body=tuple(f"- [{item.id}] {_about(item)}" for item in outcome.items),
        hint="`/mind quarantine show ID`, then `approve ID` or `drop ID`.",
    )


def shown(outcome: Shown) -> Card:
    """Show what is held, each line of it marked, so that no text can pass for a line of the card."""
    item = outcome.item
    body = tuple(_lines(outcome.arguments)) if outcome.arguments is not None else ("It was done; its text is gone.",)
    return Card(
        title=f"Quarantine {item.id}: {_about(item)}",
        body=body,
        detail=outcome.found,
        level="warning",
        hint=f"`/mind quarantine approve {item.id}` does it, with its origin; `drop {item.id}` erases it.",
    )


def approved(outcome: Approved) -> Card:
    """Say what came of an approval."""
    if outcome.changed == "no":
        return Card(title=f"{outcome.id} was approved before.")
    return Card(
        title=f"Approved {outcome.id}: {outcome.did}",
        detail=(f"It stays marked as brought by {outcome.origin}; excused: {', '.join(outcome.rules)}.",),
        level="success",
    )


def dropped(outcome: Dropped) -> Card:
    """Say that it is gone."""
    if outcome.changed == "no":
        return Card(title="Nothing of that name is in quarantine here.")
    return Card(title=f"Dropped {outcome.id}; its text is erased.", level="success")


def _about(item: HeldItem) -> str:
    state = f" · approved {item.approved_at}, not done" if item.approved_at else ""
    return f"{item.verb} · by {item.origin} · {', '.join(item.rules)} · {item.held_at}{state}"


def _lines(arguments: dict[str, JsonValue]) -> Iterator[str]:
    for name, value in arguments.items():
        yield f"{name}:"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield from (f"  | {line}" for line in visible(text).splitlines())
