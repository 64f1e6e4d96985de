"""The backups of a profile: made, listed, restored, and taken by themselves once a day when nobody waits."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, NotFoundError, PersonaError, RefusedError
from persona_hooks.speech import phrase, phrase_n
from persona_mind.kernel.erased import Erased, stones_of
from persona_mind.kernel.wording import local
from persona_mind.quarantine import files as quarantine
from persona_mind.safekeeping.outcomes import BackedUp, BroughtBack, Faulty, LeftAsItWas, Shelved, TakenIn
from persona_store.layout import KEY, TOMBSTONES, shown
from persona_store.oserrors import partly

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from persona_mind.kernel.access import Permit
    from persona_mind.safekeeping.erasing import Erasing
    from persona_store.backup_contents import Fault
    from persona_store.cloud import ConflictCopy, Merged
    from persona_store.restoration import Plan
    from persona_store.transaction import Profile

BEHIND: Final = 5.0
"""Seconds after a turn, so that neither the person nor the next turn waits for a backup."""
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Shelf:
    """The backups of one profile. Making it touches no disk."""

    profile: Profile

    def make(self, target: Path, permit: Permit) -> BackedUp:
        """Make a backup; return how many files it holds, and what of the profile was damaged.

        Raises:
            RefusedError: Something of that name exists.
        """
        from persona_store import backup, backup_contents  # noqa: PLC0415 - few commands make one

        made = backup.backup(self.profile, target, check=permit)
        with partly():
            held = backup_contents.contents(made)
        # What only a newer release reads is as it should be here.
        damaged = {name: fault for name, fault in held.faults.items() if fault != "newer"}
        return BackedUp(path=str(made), files=held.files, damaged=_faulty(damaged))

    @property
    def folder(self) -> Path:
        """Where the backups inside the profile lie."""
        from persona_store.layout import BACKUPS  # noqa: PLC0415 - as in make

        return self.profile.root / BACKUPS

    def listed(self) -> list[Shelved]:
        """Return the backups inside the profile, what restorations replaced first. Reads only."""
        from persona_store import backup  # noqa: PLC0415 - as in make

        return [_shelved(self.folder / name) for name in backup.shelved(self.profile.root)]

    def restore(self, source: Path, permit: Permit, *, yes: bool, newer: bool) -> BroughtBack:
        """Bring a backup back, and keep what it replaces.

        Raises:
            CorruptError, NotFoundError: There is no sound backup there.
            RefusedError: It would take back later changes, or nobody said yes; nothing was changed.
            StorageError, UncertainError: The disk refused a document; all others were tried.
        """
        from persona_store import restoration  # noqa: PLC0415 - as in make

        if not os.path.lexists(source):
            raise NotFoundError(
                phrase(
                    "There is no backup there. `/mind backups` lists the daily ones, which go by name; one that you "
                    "made goes by its directory: `persona restore DIR`."
                ),
                field="path",
            )

        def agreed(plan: Plan) -> None:
            if plan.newer and not newer:
                raise _later(plan)
            if plan.differing and not yes:
                raise _unconfirmed(plan)

        if not yes:
            # Nothing is done without it, so nobody has to wait.
            plan = restoration.planned(self.profile, source, stones_of)
            agreed(plan)
            return BroughtBack(path=str(source), documents=(), withheld=0, untouched=(), damaged=_faulty(plan.faults))
        done = restoration.restore(self.profile, source, stones_of, agreed=agreed, check=permit)
        return BroughtBack(
            changed="yes" if done.documents else "no",
            path=str(source),
            documents=done.documents,
            withheld=done.withheld,
            untouched=done.untouched,
            left=tuple(LeftAsItWas(document=shown(one.document), reason=one.error.reason) for one in done.left),
            damaged=_faulty(done.faults),
            kept=done.kept.name if done.kept is not None else None,
            foreign=done.foreign,
        )

    def merge(self, permit: Permit) -> list[TakenIn]:
        """Take every conflict copy in; what was erased stays out. An error after the first says so by ``changed``.

        Tombstones come first, since they keep rows of the others out and take live ones away; see
        ``persona_store.joining``. As long as another key lies beside the profile's, nobody can tell what was erased:
        every copy stays where it is.
        """
        from persona_mind.safekeeping.versions import Versions, identity  # noqa: PLC0415 - as in make
        from persona_store import cloud  # noqa: PLC0415 - as in make

        copies = sorted(cloud.conflict_copies(self.profile.root), key=lambda copy: copy.document != TOMBSTONES)
        if foreign := cloud.foreign_keys(self.profile.root):
            left = [*((name, KEY) for name in foreign), *((copy.relative, copy.document) for copy in copies)]
            return [TakenIn(path=path, document=document, merged=False, reason="key") for path, document in left]
        taken, erased, versions = list[TakenIn](), Erased(self.profile), Versions(self.profile)
        for copy in copies:
            with partly() if any(one.merged for one in taken) else nullcontext():
                done = cloud.merge(
                    self.profile,
                    copy,
                    identity,
                    stone_of=erased.stone_in,
                    settle=versions.settled,
                    gate=erased,
                    check=permit,
                )
                taken.append(_taken(copy, done))
                if copy.document == quarantine.FILE and done is not None and done.renewed:
                    with partly(), self.profile.transaction(permit):
                        # As where a held call is done here: its text is not to stay beside the file.
                        quarantine.erase_previous(self.profile, permit)
        return taken


_BRIEF: Final = 0.5
"""Seconds that a backup waits while another process writes: the host may wait for it, and there is a next time."""


class Quiet:
    """What is done behind the conversation: an interrupted erasure is finished, and today's backup taken.

    Args:
        shelf: Where the backup goes.
        erasing: What may have been interrupted.
        later: Runs something after so many seconds; None where the host has no timers, and it is done at once.
    """

    def __init__(
        self, shelf: Shelf, erasing: Erasing, later: Callable[[float, Callable[[], None]], object] | None
    ) -> None:
        self._shelf = shelf
        self._erasing = erasing
        self._later = later
        self._waiting = False
        self._lock = threading.Lock()

    def settled(self) -> None:
        """Take note that nobody waits."""
        if self._later is None:
            self._run()
            return
        with self._lock:
            first, self._waiting = not self._waiting, True
        if first:
            self._later(BEHIND, self._run)

    def _run(self) -> None:
        from persona_store import backup  # noqa: PLC0415 - as in Shelf.make

        with self._lock:
            self._waiting = False
        # There is nobody to tell; `doctor` shows an unfinished erasure and the latest backup.
        with suppress(PersonaError):
            self._erasing.finish()
        with suppress(PersonaError):
            backup.daily(self._shelf.profile, timeout=_BRIEF)


def _shelved(path: Path) -> Shelved:
    from persona_store import backup_contents  # noqa: PLC0415 - as in Shelf.make

    try:
        return Shelved(name=path.name, made=backup_contents.made(path), files=len(backup_contents.verify(path)))
    except PersonaError:
        return Shelved(name=path.name, made="")


def _taken(copy: ConflictCopy, done: Merged | None) -> TakenIn:
    if done is None:
        return TakenIn(path=copy.relative, document=copy.document, merged=False, reason="unreadable")
    return TakenIn(
        path=copy.relative,
        document=copy.document,
        merged=True,
        added=done.added,
        withheld=done.withheld,
        renewed=done.renewed,
        kept=done.kept,
    )


def _faulty(faults: Mapping[str, Fault]) -> tuple[Faulty, ...]:
    return tuple(Faulty(document=shown(name), fault=fault) for name, fault in sorted(faults.items()))


def _unconfirmed(plan: Plan) -> RefusedError:
    would = phrase_n(
        "This would put {number} file back as it was at {made}; what it replaces is kept.",
        "This would put {number} files back as they were at {made}; what it replaces is kept.",
        len(plan.differing),
        made=local(plan.made),
    )
    return RefusedError(
        phrase("{what} Say `--yes` to do it; {unchanged}.", what=would, unchanged=UNCHANGED),
        reason="unconfirmed",
        made=plan.made,
        files=len(plan.differing),
        would=would,
    )


def _later(plan: Plan) -> RefusedError:
    listed = ", ".join(plan.newer[:_NAMED])
    if len(plan.newer) > _NAMED:
        listed = phrase("{listed} and {number} more", listed=listed, number=len(plan.newer) - _NAMED)
    return RefusedError(
        phrase(
            "Memories changed after this backup was made at {made}: {listed}. Nothing was restored. "
            "Say `--newer` to replace them, too; what is replaced is kept.",
            made=local(plan.made),
            listed=listed,
        ),
        reason="newer",
        documents=list(plan.newer),
        made=plan.made,
    )
