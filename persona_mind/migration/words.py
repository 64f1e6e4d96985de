"""The words of moving in: from an outcome to a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import Card

if TYPE_CHECKING:
    from persona_mind.migration.outcomes import PersonaMigrated


def migrated(outcome: PersonaMigrated) -> Card:
    """Say what came in, and that it may be another persona's."""
    rest = ("There is more; say it again.",) if outcome.left else ()
    if not outcome.added:
        who = "" if outcome.persona else " No persona is in use, and none never had another name."
        return Card(
            title=f"Nothing new stands under an older name.{who}",
            body=outcome.warnings,
            detail=rest,
            level="warning" if outcome.warnings else "info",
        )
    number = "1 entry" if outcome.added == 1 else f"{outcome.added} entries"
    return Card(
        title=f"Moved in {number}. Look through them: another persona may have shared the older name.",
        body=outcome.warnings,
        detail=("The old files are as they were.", *rest),
        level="warning",
        hint="`/mind recall` lists what is remembered, `/mind forget ID` takes one back.",
    )
