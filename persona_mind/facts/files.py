"""The files that facts stand in: one a persona, one that all personas share, and two a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_mind.facts.model import TIERS, Fact, LongFact, Tier, WorkingFact
from persona_mind.kernel.scope import SHARED_SEGMENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.kernel.scope import Scope
    from persona_store.document import Document, Row, Snapshot
    from persona_store.transaction import Profile

PRIVATE = "memory/ltm"


class Held(NamedTuple):
    """A fact and where it stands."""

    tier: Tier
    fact: Fact
    row: Row[Fact]


class FactFiles:
    """The documents of facts in one profile. Making it, and naming a document, touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._checked: set[str] = set()

    def document(self, tier: Tier, scope: Scope) -> Document[Fact]:
        """Return the document of a tier.

        Raises:
            RefusedError: Another persona's file has the same name but for capitals.
        """
        match tier:
            case "persona":
                self._own_file(scope.segment)
                return self._of(f"{PRIVATE}/{scope.segment}.json", LongFact)
            case "shared":
                return self._of(f"{PRIVATE}/{SHARED_SEGMENT}.json", LongFact)
            case "project":
                return self._of(f"memory/project/{scope.project.slug}.json", LongFact)
            case "stm":
                return self._of(f"memory/stm/{scope.project.slug}.json", WorkingFact)

    def named(self, relative: str) -> Document[Fact]:
        """Return the document at a path below the profile's root, for work that goes beyond one scope."""
        return self._of(relative, WorkingFact if relative.startswith("memory/stm/") else LongFact)

    def documents(self, scope: Scope, tiers: Iterable[Tier] = TIERS) -> list[tuple[Tier, Document[Fact]]]:
        """Return several tiers' documents, in the order given."""
        return [(tier, self.document(tier, scope)) for tier in tiers]

    def read(self, scope: Scope, tiers: Iterable[Tier] = TIERS) -> list[Held]:
        """Return every readable row of several tiers, expired ones included. Creates and locks nothing."""
        return [held for tier, document in self.documents(scope, tiers) for held in rows(tier, document.read())]

    def _of(self, relative: str, model: type[Fact]) -> Document[Fact]:
        # The documents differ in what they accept, not in what they give.
        return cast("Document[Fact]", self.profile.document(relative, model))

    def _own_file(self, segment: str) -> None:
        """Refuse a persona whose file another one would share where capitals do not count in names."""
        if segment in self._checked:
            return
        wanted = f"{segment}.json"
        try:
            names = [entry.name for entry in (self.profile.root / PRIVATE).iterdir()]
        except OSError:  # not there yet, or the store will say what is wrong with it
            return
        if wanted not in names and any(name.casefold() == wanted.casefold() for name in names):
            raise RefusedError(
                phrase("Another persona's memory has the same file name but for capitals. Rename one of the two."),
                reason="shared_file_name",
            )
        if wanted in names:
            self._checked.add(segment)


def rows(tier: Tier, snapshot: Snapshot[Fact]) -> list[Held]:
    """Return the readable rows of one version of a tier."""
    return [Held(tier, row.value, row) for row in snapshot.rows if row.value is not None]
