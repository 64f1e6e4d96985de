"""The words of moving in: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.speech import say, say_n, worded

if TYPE_CHECKING:
    from persona_mind.migration.outcomes import PersonaMigrated


def migrated(outcome: PersonaMigrated) -> Card:
    """Say what came in, and that it may be another persona's."""
    rest = (say("There is more; say it again."),) if outcome.left else ()
    warnings = tuple(map(worded, outcome.warnings))
    if not outcome.added:
        title = say("Nothing new stands under an older name.")
        if not outcome.persona:
            title = f"{title} {say('No persona is in use, so there is no older name to look for.')}"
        return Card(
            title=title,
            body=warnings,
            detail=rest,
            level="warning" if outcome.warnings else "info",
        )
    return Card(
        title=say_n(
            "Moved in {number} entry. Look through them: another persona may have shared the older name.",
            "Moved in {number} entries. Look through them: another persona may have shared the older name.",
            outcome.added,
        ),
        body=warnings,
        detail=(say("The old files are as they were."), *rest),
        level="warning",
        hint=say("`/mind recall` lists what is remembered, `/mind forget ID` takes one back."),
    )
