"""From old files to the present ones: each is read as it is, merged by what its rows say, and never changed.

Rows come as they stand. One whose text breaks a rule is withheld on the way out, as it is in a profile of the original
that is opened where it lies. What was erased does not come back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import BusyError, ConflictError, CorruptError, PersonaError
from persona_hooks.speech import phrase
from persona_mind.backlog.merge import Merge as ItemMerge
from persona_mind.backlog.model import Item
from persona_mind.facts.merge import Merge as FactMerge
from persona_mind.facts.model import Fact, LongFact, WorkingFact
from persona_mind.kernel.erased import Erased
from persona_mind.kernel.identity import content_id
from persona_mind.kernel.rowfields import UNKNOWN_ORIGIN
from persona_mind.migration.manifest import Manifest, came_in, place_of, stamp_of, with_contents
from persona_store.document import Document
from persona_store.layout import PREVIOUS
from persona_store.oserrors import storage_errors
from persona_store.rows import ModelCodec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Permit
    from persona_mind.migration.layouts import Kind, Source
    from persona_mind.migration.manifest import Place, Stamp
    from persona_store.document import Row
    from persona_store.rows import Snapshot

MAX_FILES: Final = 256
"""Files that come in at one go; the rest waits for the next turn."""
PATIENCE: Final = 30.0
"""Seconds that a move waits for a lock; nobody waits for it."""

_MODELS: Final[dict[Kind, Any]] = {"ltm": LongFact, "stm": WorkingFact, "backlog": Item}


@dataclass(slots=True)
class Moved:
    """What came of a move.

    Attributes:
        scanned: Files that were read.
        skipped: Files that had come in before and did not change.
        files: Files that brought something.
        added: Rows that came in, or were renewed.
        known: Rows that were known and stayed.
        erased: Rows that stay out, since they were erased here.
        invalid: Rows that this release cannot read; they stay where they are.
        warnings: What went wrong, each naming its file.
        again: Something is left for the next turn.
    """

    scanned: int = 0
    skipped: int = 0
    files: int = 0
    added: int = 0
    known: int = 0
    erased: int = 0
    invalid: int = 0
    warnings: list[str] = field(default_factory=list)
    again: bool = False


class Mover:
    """Moves old files into one profile."""

    def __init__(self, facts: Facts, backlog: Backlog) -> None:
        self._facts = facts
        self._backlog = backlog
        self._profile = facts.files.profile
        self._erased = Erased(self._profile)
        self._manifest = Manifest(self._profile)

    def due(self, sources: Iterable[Source]) -> list[tuple[Source, Stamp | PersonaError]]:
        """Return the files that have to be read, each with its stamp. Reads only.

        One that the disk does not tell about is among them with the error: it may have come in before, and what was
        forgotten since must not come back.

        Raises:
            PersonaError: The manifest cannot be read.
        """
        known = self._manifest.known()
        found: list[tuple[Source, Stamp | PersonaError]] = []
        for source in sources:
            try:
                stamp = self._unknown(source, known)
            except PersonaError as error:
                found.append((source, error))
                continue
            if stamp is not None:
                found.append((source, stamp))
        return found

    def _unknown(self, source: Source, known: Mapping[Place, list[Stamp]]) -> Stamp | None:
        """Return the stamp of a file that is there and has not come in, or whose destination is gone since."""
        destination = self._profile.root / source.destination
        with storage_errors(source.path):
            stamp = stamp_of(source, os.fspath(destination))
            if stamp is None:
                return None
            # A document whose file is gone is served from its previous version.
            there = destination.is_file() or destination.with_name(f"{destination.name}{PREVIOUS}").is_file()
            if there and came_in(source, stamp, known.get(place_of(stamp), ())):
                return None
            return with_contents(source, stamp)

    def move(self, sources: Callable[[], Iterable[Source]], permit: Permit) -> Moved:
        """Bring in what is due; a file that fails stops no other one.

        Raises:
            ConflictError: The session or its owner is no longer the one that this is done for.
        """
        moved, settled = Moved(), list[dict[str, str]]()
        try:
            every = list(sources())
            due = self.due(every)
        except PersonaError as error:
            moved.warnings.append(phrase("Nothing was moved in: {why}", why=error.message))
            return moved
        moved.skipped = len(every) - len(due)
        moved.again = len(due) > MAX_FILES
        try:
            for source, stamp in due[:MAX_FILES]:
                if isinstance(stamp, PersonaError):
                    moved.scanned += 1
                    moved.warnings.append(_told(source, stamp.message))
                elif self._one(source, moved, permit):
                    settled.append(stamp)
        finally:
            self._note(settled, moved)
        return moved

    def _note(self, settled: list[dict[str, str]], moved: Moved) -> None:
        try:
            self._manifest.note(settled)
        except PersonaError as error:
            moved.warnings.append(phrase("What was moved in could not be noted: {why}", why=error.message))

    def _one(self, source: Source, moved: Moved, permit: Permit) -> bool:
        """Bring one file in; return whether it need not be read again until it changes."""
        moved.scanned += 1
        try:
            rows = self._rows(source, moved)
            added = self._merge(source, rows, moved, permit) if rows else 0
        except ConflictError:
            raise
        except BusyError as error:
            moved.again = True
            moved.warnings.append(_told(source, phrase("{why}; it is tried again", why=error.message)))
            return False
        except PersonaError as error:
            moved.warnings.append(_told(source, error.message))
            return False
        moved.added += added
        moved.files += bool(added)
        return True

    def _rows(self, source: Source, moved: Moved) -> list[Row[Any]]:
        document = Document(source.root, source.relative, ModelCodec(_MODELS[source.kind]))
        snapshot: Snapshot[Any] = document.read()
        if snapshot.damage is not None:
            if not snapshot.values:
                raise CorruptError(
                    phrase("it is damaged ({reason}), and so is its previous version", reason=snapshot.damage.reason)
                )
            moved.warnings.append(
                phrase(
                    "{path} is damaged ({reason}); its previous version came in",
                    path=source.path,
                    reason=snapshot.damage.reason,
                )
            )
        if snapshot.invalid:
            moved.invalid += snapshot.invalid
            moved.warnings.append(
                phrase(
                    "{path}: {number} entries cannot be read and stay there", path=source.path, number=snapshot.invalid
                )
            )
        return [row for row in snapshot.rows if row.value is not None]

    def _merge(self, source: Source, rows: list[Row[Any]], moved: Moved, permit: Permit) -> int:
        files = self._facts.files if source.kind != "backlog" else self._backlog.files
        document: Document[Any] = files.named(source.destination)
        coming = [_present(document, row) for row in rows]
        change: FactMerge | ItemMerge
        # What was erased is left out under the lock of the write, since an erasure may begin at any time.
        if source.kind == "backlog":
            change = ItemMerge(document, coming, self._backlog.now(), self._erased.without)
            self._profile.update(document, change, check=permit, timeout=PATIENCE)
            erased = change.erased
        else:
            with self._profile.transaction(permit, PATIENCE) as transaction:
                change = FactMerge(document, self._erased.without(coming))
                transaction.update(document, change)
            erased = len(coming) - len(change.coming)
        came = change.added + change.renewed
        moved.erased += erased
        moved.known += len(rows) - came - erased
        return came

    def rename(self, relative: str, old: str, new: str, permit: Permit) -> int:
        """Give the items of a backlog that stand under a persona's older name its present one; return how many.

        Only items of the original's are meant: ours always stood under the present name.
        """
        document = self._backlog.files.named(relative)

        def mine(row: Row[Item]) -> bool:
            return row.value is not None and row.value.persona == old and row.value.brought_by == UNKNOWN_ORIGIN

        def renamed(row: Row[Item]) -> Row[Item]:
            if row.value is None or not mine(row):
                return row
            return document.revise(row, row.value.model_copy(update={"persona": new}))

        count = sum(mine(row) for row in document.read().rows)
        if count:
            self._profile.update(
                document, lambda there: [renamed(row) for row in there.rows], check=permit, timeout=PATIENCE
            )
        return count


def _told(source: Source, message: str) -> str:
    path = str(source.path)
    return message if path in message else phrase("{field}: {what}", field=path, what=message)


def _present(document: Document[Any], row: Row[Any]) -> Row[Any]:
    """Return a row as this release writes it: under its present id, and as what another program brought."""
    value: Fact | Item | None = row.value
    if value is None:
        return row
    update: dict[str, object] = {"id": content_id(value.key), "origin": UNKNOWN_ORIGIN}
    return document.revise(row, value.model_copy(update=update))
