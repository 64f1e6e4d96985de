"""The verb that moves in what stands under a persona's older name, which another persona may have shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_hooks.verbs import PEOPLE, Verb
from persona_mind.migration.params import MigratePersona
from persona_mind.migration.words import migrated

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.ports import Session
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.migration.background import Moving
    from persona_mind.migration.outcomes import PersonaMigrated


@dataclass(frozen=True, slots=True)
class MigrationVerbs:
    """The verbs over one profile's moves.

    Attributes:
        access: The gate that every call passes.
        moving: Knows the old files.
        facts: Where facts go.
        backlog: Where items go.
        changed: Told once something came in.
    """

    access: Access
    moving: Moving
    facts: Facts
    backlog: Backlog
    changed: Callable[[Session], None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb(
                "mind.migrate_persona", MigratePersona, "write", self.migrate, migrated, PEOPLE, "mind migrate-persona"
            ),
        )

    def migrate(self, call: Call, _: MigratePersona) -> PersonaMigrated:
        """Move everything in now, what may be another persona's included."""
        scope, permit = self.access.enter(call)
        # Moving in happens once; most conversations have nothing to move.
        from persona_mind.migration.moving import Mover  # noqa: PLC0415
        from persona_mind.migration.outcomes import PersonaMigrated  # noqa: PLC0415 - as above

        mover = Mover(self.facts, self.backlog)
        moved = mover.move(lambda: self.moving.sources(call.session, scope, ambiguous=True), permit)
        stale = self.moving.stale_items(scope, ambiguous=True)
        if stale is not None:
            moved.added += mover.rename(*stale, permit)
        if moved.added:
            self.changed(call.session)
        return PersonaMigrated(
            changed="yes" if moved.added else "no",
            persona=scope.persona,
            files=moved.files,
            added=moved.added,
            known=moved.known,
            left=moved.again,
            warnings=tuple(moved.warnings),
        )
