"""The words of the ``quarantine`` verbs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.speech import say, say_n, worded
from persona_mind.kernel.wording import by, local, moment
from persona_store.hidden import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from persona_mind.quarantine.outcomes import Approved, Dropped, HeldItem, Shown, Waiting


def waiting(outcome: Waiting) -> Card:
    """List what waits."""
    if not outcome.count:
        return Card(title=say("Nothing waits for a person here."))
    return Card(
        title=say_n("{number} call waits for a person", "{number} calls wait for a person", outcome.count),
        body=tuple(f"- [{item.id}] {_about(item)}" for item in outcome.items),
        hint=say("`/mind quarantine show ID`, then `approve ID` or `drop ID`."),
    )


def shown(outcome: Shown) -> Card:
    """Show what is held, each line of it marked, so that no text can pass for a line of the card."""
    item = outcome.item
    body = (
        tuple(_lines(outcome.arguments)) if outcome.arguments is not None else (say("It was done; its text is gone."),)
    )
    return Card(
        title=say("Quarantine {id}: {about}", id=item.id, about=_about(item)),
        body=body,
        detail=tuple(map(worded, outcome.found)),
        level="warning",
        hint=say("`/mind quarantine approve {id}` does it, with its origin; `drop {id}` erases it.", id=item.id),
    )


def approved(outcome: Approved) -> Card:
    """Say what came of an approval."""
    if outcome.changed == "no":
        return Card(title=say("{id} was approved before.", id=outcome.id))
    rules = ", ".join(outcome.rules)
    return Card(
        title=say("Approved {id}: {did}", id=outcome.id, did=outcome.did),
        detail=(say("It stays marked as brought {by}; excused: {rules}.", by=by(outcome.origin), rules=rules),),
        level="success",
    )


def dropped(outcome: Dropped) -> Card:
    """Say that it is gone."""
    if outcome.changed == "no":
        return Card(title=say("Nothing of that name is in quarantine here."))
    if outcome.done:
        return Card(
            title=say("Dropped {id}: your approval of it is withdrawn.", id=outcome.id),
            detail=(say("What was done stays; `/mind erase ID` removes a memory that came of it."),),
            level="success",
        )
    return Card(
        title=say("Dropped {id}; its text is erased.", id=outcome.id),
        detail=(
            say(
                "A backup or a conflict copy may bring it back; `/mind erase {id}` takes it there, too.", id=outcome.id
            ),
        ),
        level="success",
    )


def _about(item: HeldItem) -> str:
    state = f" · {say('approved {at}, not done', at=local(item.approved_at))}" if item.approved_at else ""
    return f"{item.verb} · {worded(by(item.origin))} · {', '.join(item.rules)} · {moment(item.held_at)}{state}"


def _lines(arguments: dict[str, JsonValue]) -> Iterator[str]:
    for name, value in arguments.items():
        yield f"{name}:"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield from (f"  | {line}" for line in visible(text).splitlines())
