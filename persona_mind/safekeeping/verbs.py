"""The safekeeping verbs: ``memory.erase`` and the ``profile`` verbs. No model is offered any, or may use one."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import NotFoundError, PersonaError, RefusedError
from persona_hooks.speech import phrase
from persona_hooks.verbs import PEOPLE, NoParams, Verb
from persona_mind.kernel.paths import named_path
from persona_mind.safekeeping import words
from persona_mind.safekeeping.outcomes import (
    BackedUp,
    BackupsListed,
    BroughtBack,
    Erasure,
    Left,
    Merged,
)
from persona_mind.safekeeping.params import Backup, Backups, Erase, Merge, Restore
from persona_store.oserrors import partly

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_hooks.ports import Host, Session
    from persona_hooks.verbs import AnyVerb, Audience, Call
    from persona_mind.kernel.access import Access, Permit
    from persona_mind.kernel.scope import Scope
    from persona_mind.notes.service import Notes
    from persona_mind.safekeeping.erasing import Erasing, Finished
    from persona_mind.safekeeping.naming import Naming
    from persona_mind.safekeeping.shelf import Shelf

ASKED: Final[frozenset[Audience]] = frozenset({"person", "script"})


@dataclass(frozen=True, slots=True)
class SafekeepingVerbs:
    """The verbs over one profile.

    Attributes:
        host: Its person's home.
        access: The gate that every call passes.
        naming: What ids name.
        erasing: Erases.
        shelf: The backups.
        notes: Where a note is forgotten besides being erased.
        outside: The directories that are not ours and may hold what was said.
        changed: Told once memories went or came.
    """

    host: Host
    access: Access
    naming: Naming
    erasing: Erasing
    shelf: Shelf
    notes: Notes
    outside: Callable[[], list[Path]]
    changed: Callable[[Session], None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("memory.erase", Erase, "erase", self.erase, words.erased, PEOPLE, "mind erase"),
            Verb("profile.backup", Backup, "write", self.backup, words.backed_up, ASKED, "mind backup"),
            Verb("profile.backups", Backups, "read", self.backups, words.listed, PEOPLE, "mind backups"),
            Verb("profile.restore", Restore, "write", self.restore, words.brought_back, ASKED, "mind restore"),
            Verb("profile.merge", Merge, "write", self.merge, words.merged, PEOPLE, "mind merge"),
        )

    def erase(self, call: Call, params: Erase) -> Erasure:
        """Erase what an id names, or finish what was interrupted."""
        scope, permit = self.access.enter(call)
        _require_person(call)
        finished = self.erasing.finish()
        if finished.changed:
            self.changed(call.session)
        with partly() if finished.changed else nullcontext():
            return self._erase(call, params, scope, permit, finished)

    def _erase(self, call: Call, params: Erase, scope: Scope, permit: Permit, finished: Finished) -> Erasure:
        try:
            named = self.naming.named(call.session, scope, params.id)
        except NotFoundError:
            if not self.erasing.was_erased(params.id):
                raise
            # The id is safe to repeat: something was erased under it.
            return Erasure(
                changed="yes" if finished.changed else "no", id=params.id, what="nothing", finished=finished.number
            )
        done = self.erasing.erase(named, self._outside(call.session), permit, everywhere=params.everywhere)
        with partly():
            try:
                if named.what == "note":
                    self.notes.forget(call.session, scope, named.id, permit)
            finally:
                self.notes.release(call.session)
                self.changed(call.session)
        return Erasure(
            changed="yes",
            id=named.id,
            what=named.what,
            rows=done.rows,
            files=done.changed,
            left=tuple(Left(path=one.path, outside=one.outside) for one in done.residue),
            finished=finished.number,
        )

    def backup(self, call: Call, params: Backup) -> BackedUp:
        """Copy the profile."""
        _scope, permit = self.access.enter(call)
        _require_person(call)
        name = params.path or f"persona-mind-backup-{self.shelf.profile.now().date().isoformat()}"
        target = named_path(call, self.host.home, name)
        return self.shelf.make(target, permit)

    def backups(self, call: Call, _: NoParams) -> BackupsListed:
        """List the backups inside the profile."""
        self.access.enter(call)
        return BackupsListed(folder=str(self.shelf.folder), backups=tuple(self.shelf.listed()))

    def restore(self, call: Call, params: Restore) -> BroughtBack:
        """Bring a backup back."""
        _scope, permit = self.access.enter(call)
        _require_person(call)
        source = self._source(call, params.path)
        try:
            done = self.shelf.restore(source, permit, yes=params.yes, newer=params.newer)
        except PersonaError as error:
            if error.changed != "no":
                self._renewed(call.session)
            raise
        if done.documents:
            self._renewed(call.session)
        return done

    def _renewed(self, session: Session) -> None:
        """Let go of what is kept in memory of documents that were replaced."""
        self.erasing.forget(frozenset())
        self.notes.release(session)
        self.changed(session)

    def merge(self, call: Call, _: NoParams) -> Merged:
        """Take conflict copies in."""
        _scope, permit = self.access.enter(call)
        _require_person(call)
        try:
            copies = tuple(self.shelf.merge(permit))
        except PersonaError as error:
            if error.changed != "no":
                self._renewed(call.session)
            raise
        if any(copy.merged for copy in copies):
            self._renewed(call.session)
        return Merged(changed="yes" if any(copy.merged for copy in copies) else "no", copies=copies)

    def _source(self, call: Call, given: str) -> Path:
        """Return the directory that a person names: one inside the profile by its name alone."""
        path = named_path(call, self.host.home, given)
        inside = self.shelf.folder / path.name
        return inside if "/" not in given.strip() and os.path.isdir(inside) else path  # noqa: PTH112 - never raises

    def _outside(self, session: Session) -> list[Path]:
        """Return where else the words may stand: what hosts wrote of conversations, this one included."""
        places = self.outside()
        log = session.journal.path
        if log is not None and not any(log.is_relative_to(place) for place in places):
            places.append(log)
        return places


def _require_person(call: Call) -> None:
    if call.origin != "user":
        raise RefusedError(phrase("Only a person erases for good, or moves whole profiles."), reason="not_a_person")
