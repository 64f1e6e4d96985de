"""The tombstones of a conflict copy join the profile's, and what either kept out goes from its live documents.

Live rows go first, then the tombstones join, then live rows are looked at once more: an interruption leaves the copy,
whose tombstones are still new to the profile, and nothing that was written in between stays.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from persona_hooks.errors import CorruptError, UnsupportedVersionError
from persona_store import files, jsontext, recovery
from persona_store.cloud import Merged, conflict_copies
from persona_store.document import Document
from persona_store.layout import TOMBSTONES, documents_below
from persona_store.oserrors import partly, storage_errors
from persona_store.previous import scrub
from persona_store.rows import RawCodec
from persona_store.tombstones import as_swept, stone_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from persona_store.cloud import Fields, Gate
    from persona_store.rows import Row, Snapshot
    from persona_store.transaction import Profile


def join(
    profile: Profile,
    coming: Sequence[Row[Fields]],
    gate: Gate | None,
    check: Callable[[], None] | None,
    timeout: float,
) -> Merged:
    """Let the tombstones of a copy join the profile's, and take away what those that one machine did not know refuse.

    Which version of a document kept its name is the service's choice, so a tombstone that only one of both files of
    them holds is new to whoever wrote the other one, and so perhaps to the rows that stand.

    A person's own row that was said after such a tombstone was put up stays, or may come in with its copy: its person
    has insisted on it, or did not know and said it all the same. The tombstones that refuse it then stand no more, as
    after insisting. A row by anybody else goes, and so does one that does not tell when it was said. What tombstones of
    both files refuse is judged by nobody again, nor is what is being erased here.
    """
    return _Joining(profile, tuple(map(as_swept, coming)), gate, check, timeout).run()


@dataclass
class _Joining:
    profile: Profile
    coming: Sequence[Row[Fields]]
    gate: Gate | None
    check: Callable[[], None] | None
    timeout: float
    added: int = 0
    taken: int = 0
    new: dict[str, str] = field(default_factory=dict)
    lifted: frozenset[str] = frozenset()

    def run(self) -> Merged:
        stones = Document(self.profile.root, TOMBSTONES, RawCodec())
        self.new = self._only_one_holds(stones.read())
        if self.gate is not None and self.new:
            # Without the key nobody could judge any row: that is said now, and the copy stays.
            self.gate.among({}, self.new)
        self.lifted = self._insisted()
        self.new = {known: at for known, at in self.new.items() if known not in self.lifted}
        self._sweep()
        with self._told():
            with self.profile.transaction(self.check, self.timeout) as transaction:
                transaction.update(stones, self._joined)
            with partly():
                self._sweep()
        return Merged(self.added, self.taken)

    def _only_one_holds(self, snapshot: Snapshot[Fields]) -> dict[str, str]:
        """Return the ids that only one of both files holds, and when each was put up."""
        here, coming = ({stone_id(row) for row in rows} for rows in (snapshot.rows, self.coming))
        begun = {stone_id(row) for row in snapshot.rows if (row.value or {}).get("swept") is False}
        found = dict[str, str]()
        for row in (*snapshot.rows, *self.coming):
            known, at = stone_id(row), (row.value or {}).get("erasedAt")
            if isinstance(known, str) and known in here ^ coming and known not in begun:
                found[known] = max(found.get(known, ""), at if isinstance(at, str) else "")
        return found

    def _insisted(self) -> frozenset[str]:
        """Return those of the tombstones that refuse what was said again later."""
        gate, lifted = self.gate, frozenset[str]()
        if gate is None or not self.new:
            return lifted
        for document in self._documents(copies=True):
            with suppress(CorruptError, UnsupportedVersionError):
                for value in document.read().values:
                    found = gate.among(value, self.new)
                    if not self._keeps_out(value, found):
                        lifted |= found
        return lifted

    def _documents(self, *, copies: bool = False) -> Iterator[Document[Fields]]:
        """Yield the live documents, and the copies of them that are still to be merged."""
        with storage_errors(self.profile.root):
            passed = {copy.relative for copy in conflict_copies(self.profile.root) if not copies}
            for relative in list(documents_below(self.profile.root)):
                if relative not in passed and relative != TOMBSTONES:
                    yield Document(self.profile.root, relative, RawCodec())

    def _sweep(self) -> None:
        """Take away what the new tombstones refuse, from documents and their previous versions."""
        if self.gate is None or not self.new:
            return
        for document in self._documents():
            # Nothing here can read it: it stays, as it does when a text is erased here.
            with self._told(), suppress(CorruptError, UnsupportedVersionError):
                if any(map(self._refused, (*document.read().rows, *_previous(document)))):
                    self._sweep_one(document)

    def _told(self) -> AbstractContextManager[None]:
        return partly() if self.taken else nullcontext()

    def _sweep_one(self, document: Document[Fields]) -> None:
        if document.family != "memory":
            self._clean(document, partial(self.profile.update, check=self.check, timeout=self.timeout))
            return
        with self.profile.transaction(self.check, self.timeout) as transaction:
            self._clean(document, transaction.update)

    def _clean(self, document: Document[Fields], update: Callable[..., object]) -> None:
        gone = 0

        def mutate(snapshot: Snapshot[Fields]) -> Sequence[Row[Fields]]:
            nonlocal gone
            kept = [row for row in snapshot.rows if not self._refused(row)]
            gone = len(snapshot.rows) - len(kept)
            return kept

        if any(map(self._refused, document.read().rows)):
            update(document, mutate)
            self.taken += gone
        with self._told():
            if any(map(self._refused, _previous(document))):
                scrub(self.profile, document, self.check, self.timeout)

    def _refused(self, row: Row[Fields]) -> bool:
        if self.gate is None or row.value is None:
            return False
        return self._keeps_out(row.value, self.gate.among(row.value, self.new))

    def _keeps_out(self, value: Fields, found: frozenset[str]) -> bool:
        return self.gate is not None and any(not self.gate.said_after(value, self.new[stone]) for stone in found)

    def _joined(self, snapshot: Snapshot[Fields]) -> Sequence[Row[Fields]]:
        standing = {stone_id(row) for row in snapshot.rows}
        joining = {stone_id(row): row for row in self.coming if stone_id(row) not in standing | self.lifted}
        self.added = len(joining)
        return [*(row for row in snapshot.rows if not self._is_lifted(row)), *joining.values()]

    def _is_lifted(self, row: Row[Fields]) -> bool:
        # One that is being erased again meanwhile stands.
        return stone_id(row) in self.lifted and (row.value or {}).get("swept") is not False


def _previous(document: Document[Fields]) -> Sequence[Row[Fields]]:
    """Return the rows of a document's previous version; none where it is the newer one, which a person chooses then."""
    with storage_errors(document.path), suppress(FileNotFoundError, files.OversizeError, jsontext.DamageError):
        directory = document.open()
        if directory is None:
            return ()
        with directory:
            if not recovery.is_older_than_previous(document, directory, document.read_in(directory)):
                return document.parse(directory.read(document.backup_name, jsontext.MAX_BYTES)[0]).rows
    return ()
