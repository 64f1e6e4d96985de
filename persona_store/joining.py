"""The tombstones of a conflict copy join the profile's, and what either kept out goes from its live documents.

Live rows go first; then, in one transaction, memory is looked at once more and the tombstones join; then all else is
looked at once more. An interruption leaves the copy, whose tombstones are still new to the profile.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from persona_hooks.errors import CorruptError, PersonaError, UnsupportedVersionError
from persona_store import files, jsontext, recovery
from persona_store.cloud import Merged, conflict_copies
from persona_store.document import Document, is_unusable
from persona_store.layout import TOMBSTONES, documents_below
from persona_store.oserrors import partly, storage_errors
from persona_store.previous import scrub, sweep_both
from persona_store.rows import RawCodec, Row
from persona_store.tombstones import as_swept, stone_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from persona_store.cloud import Fields, Gate
    from persona_store.rows import Snapshot
    from persona_store.transaction import Profile, Transaction


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

    A person's own row that was said first after such a tombstone was put up stays, or may come in with its copy: its
    person has insisted on it, or did not know and said it all the same. The tombstones that refuse it then stand no
    more, as after insisting. A row by anybody else goes, and so does one that does not tell when it was said; so does
    one that was only said again, since a model may have done that. What tombstones of
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
    found: dict[bytes, frozenset[str]] = field(default_factory=dict)

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
                # What came in since: once both files hold the tombstones, nobody judges by them again.
                self._sweep(transaction)
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
            with _passed_over():
                for row in document.read().rows:
                    found = self._among(row)
                    if row.value is not None and not self._keeps_out(row.value, found):
                        lifted |= found
        return lifted

    def _documents(self, *, copies: bool = False) -> Iterator[Document[Fields]]:
        """Yield the live documents, and the copies of them that are still to be merged."""
        with storage_errors(self.profile.root):
            passed = {copy.relative for copy in conflict_copies(self.profile.root) if not copies}
            for relative in list(documents_below(self.profile.root)):
                if relative not in passed and relative != TOMBSTONES:
                    yield Document(self.profile.root, relative, RawCodec())

    def _sweep(self, transaction: Transaction | None = None) -> None:
        """Take away what the new tombstones refuse, from documents and their previous versions.

        Args:
            transaction: Only from memory, and in this.

        Raises:
            CorruptError, UnsupportedVersionError: A document cannot be read; the copy stays until it can.
        """
        if self.gate is None or not self.new:
            return
        for document in self._documents():
            if transaction is not None and document.family != "memory":
                continue
            with self._told(), _passed_over():
                if self._is_older(document):
                    self._sweep_both(document)
                elif any(map(self._refused, (*document.read().rows, *_previous(document)))):
                    self._sweep_one(document, transaction)

    def _is_older(self, document: Document[Fields]) -> bool:
        """Whether a document is older than its previous version, so that no change may be made to it."""
        with storage_errors(document.path):
            directory = document.open()
            with directory or nullcontext():
                return directory is not None and recovery.is_older_than_previous(
                    document, directory, document.read_in(directory)
                )

    def _sweep_both(self, document: Document[Fields]) -> None:
        """Take rows out of both versions where they stand: a person has yet to choose between them."""
        gone = sweep_both(self.profile, document, self, self.check, self.timeout)
        self.taken += sum(map(bool, gone))

    def in_bytes(self, data: bytes) -> bool:
        """Leave what cannot be parsed: nobody can tell a tombstone's words."""
        del data
        return False

    def in_row(self, raw: bytes) -> bool:
        """Whether a row goes."""
        return self._refused(Row(raw, RawCodec().decode(raw)))

    def _told(self) -> AbstractContextManager[None]:
        return partly() if self.taken else nullcontext()

    def _sweep_one(self, document: Document[Fields], within: Transaction | None) -> None:
        if document.family != "memory":
            self._clean(document, partial(self.profile.update, check=self.check, timeout=self.timeout))
        elif within is not None:
            self._clean(document, within.update)
        else:
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
        return row.value is not None and self._keeps_out(row.value, self._among(row))

    def _among(self, row: Row[Fields]) -> frozenset[str]:
        """Return which of the new tombstones are about a row: hashing is dear, and it is looked at several times."""
        if self.gate is None or row.value is None:
            return frozenset()
        found = self.found.get(row.raw)
        if found is None:
            found = self.found[row.raw] = self.gate.among(row.value, self.new)
        return found & self.new.keys()

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


@contextmanager
def _passed_over() -> Iterator[None]:
    """Pass over what is none of ours; what we cannot read only now must not be passed over for good."""
    try:
        yield
    except PersonaError as error:
        if not is_unusable(error) or isinstance(error, CorruptError | UnsupportedVersionError):
            raise


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
