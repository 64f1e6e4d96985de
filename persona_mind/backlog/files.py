"""The file that a project's backlog stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.backlog.model import Item

if TYPE_CHECKING:
    from persona_mind.kernel.scope import Project
    from persona_store.document import Document
    from persona_store.transaction import Profile


class BacklogFiles:
    """The backlogs of one profile, one a project. Making it, and naming a document, touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def document(self, project: Project) -> Document[Item]:
        """Return the document of a project; it has a lock of its own, apart from memory's."""
        return self.named(f"backlog/{project.slug}.json")

    def named(self, relative: str) -> Document[Item]:
        """Return the document at a path below the profile's root, for work that goes beyond one project."""
        return self.profile.document(relative, Item)
