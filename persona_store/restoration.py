"""Bringing a backup back: judged, kept and replaced as one, so that nothing that was acknowledged is lost on the way.

What is to be replaced is compared with the backup, copied, and replaced only where it still is the version that was
compared. Memory stays under one transaction for all of that. Every other document has a lock of its own, which is never
held together with memory's: one that changed in between is left as it is, and named.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import (
    ConflictError,
    CorruptError,
    PersonaError,
    RefusedError,
    StorageError,
    UncertainError,
    UnsupportedVersionError,
)
from persona_hooks.speech import phrase
from persona_store import backup, backup_contents, commit, files, foreign_lock, recovery, syncfiles
from persona_store.document import Document
from persona_store.layout import KEY, RECORDER, TOMBSTONES, documents_below
from persona_store.locks import DEFAULT_TIMEOUT, LockName, Rank
from persona_store.oserrors import partly, storage_errors
from persona_store.pages import Rows
from persona_store.rows import RawCodec
from persona_store.sieve import Sieve
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from persona_store.backup_contents import Contents, Fault
    from persona_store.jsontext import JsonValue
    from persona_store.rows import Row, Snapshot
    from persona_store.transaction import Profile

    Fields = dict[str, JsonValue]
    KeysOf = Callable[[Fields], Iterable[str]]
    Update = Callable[[Document[Fields], "_Put", str], bool]

_BRIEF: Final = 1.0
"""Seconds that who has restored waits to let older copies go: there is a next time."""


class Plan(NamedTuple):
    """What restoring a backup would do to a profile as it stood when this was made.

    Attributes:
        made: When the backup was made.
        differing: The documents that would change, and the key where it would come back.
        newer: Those of them that changed after the version that the backup holds: that would be taken back.
        faults: Documents that were not whole when the backup was made.
    """

    made: str
    differing: tuple[str, ...]
    newer: tuple[str, ...]
    faults: Mapping[str, Fault]


class Left(NamedTuple):
    """A document that was left as it was, and why."""

    document: str
    error: PersonaError


@dataclass(frozen=True)
class Restored:
    """What came back.

    Attributes:
        documents: The documents that changed, and the key where it came back.
        withheld: How many rows stayed out, since they were erased.
        untouched: Documents that the backup does not know, or of which it holds nothing that can be read.
        left: Documents that could not be brought back; restoring again does it, once nothing is in the way.
        faults: Documents that were not whole when the backup was made.
        kept: The backup of what was replaced; None where nothing was.
        foreign: The backup's tombstones were made by another key, so that they could not join those of the profile.
    """

    documents: tuple[str, ...]
    withheld: int
    untouched: tuple[str, ...]
    left: tuple[Left, ...] = ()
    faults: Mapping[str, Fault] = field(default_factory=dict)
    kept: Path | None = None
    foreign: bool = False


def planned(profile: Profile, source: Path, keys_of: KeysOf) -> Plan:
    """Return what restoring a backup would do now. Reads only; arguments as for `restore`.

    Raises:
        CorruptError: The backup is damaged.
    """
    return _Restoration(profile, backup_contents.contents(source), keys_of).plan()


def restore(
    profile: Profile,
    source: Path,
    keys_of: KeysOf,
    *,
    agreed: Callable[[Plan], None] = lambda _: None,
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Restored:
    """Bring documents back as a backup holds them, without what was erased since; what they replace is kept.

    Every document goes back by a change of its own, so that its previous version stays beside it and its sequence
    goes on. One that cannot be read any more is put in quarantine and replaced. Documents that the backup does not
    know are left as they are. One that refuses keeps none of the others from coming back. Restoring again finishes an
    interrupted one.

    Args:
        profile: Where to.
        source: A directory made by `backup.backup`.
        keys_of: Returns the semantic keys by which a row may have been erased; none for one that has none.
        agreed: Called with what would be done, just before it is done; what it raises leaves everything as it is.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for each lock.

    Raises:
        CorruptError: The backup is damaged; nothing was changed.
        BusyError: Another process kept the transaction; nothing was changed.
        StorageError, UncertainError: The disk refused a document; all others were tried, and ``details["left"]`` names
            those that did not come back.
    """
    work = _Restoration(profile, backup_contents.contents(source), keys_of, _Asked(check), timeout)
    work.judge()
    return work.run(agreed, source.name)


@dataclass
class _Asked:
    """A check that remembers that it refused: then the whole is over, not one document."""

    check: Callable[[], None] | None = None
    over: bool = False

    def __call__(self) -> None:
        if self.check is not None:
            self.over = True
            self.check()
            self.over = False


@dataclass
class _Put:
    """The change that puts a document back.

    Attributes:
        rows: As the backup holds it.
        sift: Leaves out what was erased, asked under the lock since an erasure may begin at any time.
        withheld: How many rows stayed out.
    """

    rows: Sequence[Row[Fields]]
    sift: Callable[[Snapshot[Fields], Sequence[Row[Fields]]], Sequence[Row[Fields]]]
    withheld: int = 0

    def __call__(self, snapshot: Snapshot[Fields]) -> Sequence[Row[Fields]]:
        """Return the rows of the next version; may be called again on a newer one."""
        kept = self.sift(snapshot, self.rows)
        self.withheld = len(self.rows) - len(kept)
        return kept


@dataclass(frozen=True)
class _Coming:
    """A document that the backup brings.

    Attributes:
        document: Where to.
        held: As the backup holds it.
        present: What it would replace; None where that cannot be read.
        put: The change.
    """

    document: Document[Fields]
    held: Snapshot[Fields]
    present: Snapshot[Fields] | None
    put: _Put

    @property
    def seen(self) -> str:
        """The fingerprint that the file must still have; no file has that of what cannot be read."""
        return self.present.fingerprint if self.present is not None else ""

    def differs(self) -> bool:
        """Whether it would change; what is noted about requests is not taken back to what it was."""
        if self.present is None or self.present.damage is not None:
            return True
        if self.document.family == RECORDER and self._went_on():
            return False
        try:
            return [row.raw for row in self.put(self.present)] != [row.raw for row in self.present.rows]
        except PersonaError:
            # What tells erased texts cannot be read, or not yet: the key comes back first.
            return True

    def is_newer(self) -> bool:
        """Whether a memory that is there changed after the version in the backup, provided that the two differ."""
        return self.document.family != RECORDER and self._went_on()

    def _went_on(self) -> bool:
        """Whether what is there changed after the version in the backup, provided that the two differ.

        A count tells it on one machine, a moment where a profile was begun anew. Two that agree in both were one
        version, which somebody edited since; not so where the previous version is read in place of a damaged one.
        """
        if self.present is None or not self.present.sequence or self.document.relative == TOMBSTONES:
            return False
        there, then = ((one.sequence, datetime.fromisoformat(one.updated_at)) for one in (self.present, self.held))
        same = there == then and self.present.damage is None
        return same or there[0] > then[0] or there[1] > then[1]


class _Restoration:
    """One restoration of one backup."""

    def __init__(
        self,
        profile: Profile,
        contents: Contents,
        keys_of: KeysOf,
        asked: _Asked | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        self._profile = profile
        self._contents = contents
        self._sieve = Sieve(profile, contents, keys_of)
        self._asked = asked or _Asked()
        self._timeout = timeout
        self._changed: list[str] = []
        self._left: list[Left] = []
        self._kept: Path | None = None
        self._replaced = False
        """Whether anything was replaced, or may have been."""

    def plan(self) -> Plan:
        """Compare what is there with what would come."""
        return self._planned([one for one in self._coming() if one.differs()])

    def judge(self) -> None:
        """Judge all rows before anybody is kept waiting; once the tombstones change, they are judged again."""
        for one in self._coming():
            with suppress(PersonaError):
                one.put(one.present or one.document.read_in(None))

    def run(self, agreed: Callable[[Plan], None], source: str) -> Restored:
        """Do it."""
        try:
            coming = self._bring_all(agreed)
        except PersonaError:
            # Anything else may have come between a replacement and our taking note of it.
            self._let_copies_go(source)
            raise
        self._let_copies_go(source)
        with partly() if self._changed or self._left else nullcontext():
            self._raise_what_a_disk_refused()
            return self._restored(coming)

    def _bring_all(self, agreed: Callable[[Plan], None]) -> Sequence[_Coming]:
        with self._profile.transaction(self._asked, self._timeout) as transaction:
            coming = list(self._coming())
            differing = [one for one in coming if one.differs()]
            plan = self._planned(differing)
            if not plan.differing:
                return coming
            agreed(plan)
            self._kept = backup.replaced(self._profile)
            with partly():
                self._bring_key()
                for one in differing:
                    if one.document.family == "memory":
                        self._bring(
                            one, lambda document, put, seen: transaction.update(document, put, expect=seen).changed
                        )
        with partly():
            for one in differing:
                if one.document.family != "memory":
                    self._bring(one, self._update_alone)
        return coming

    def _let_copies_go(self, source: str) -> None:
        """Let the oldest copies go once something was replaced; otherwise the new one, which must not push others out.

        In a transaction of its own, since other documents are replaced outside of memory's, and an erasure that sweeps
        copies meanwhile must find them whole. Where it is not to be had, there is one more of them until the next time.
        """
        if self._kept is None:
            return
        with suppress(PersonaError), self._profile.transaction(timeout=min(_BRIEF, self._timeout)):
            if self._replaced:
                backup.forget_replaced(self._profile.root, self._kept.name, source)
            elif backup.drop_replaced(self._kept):
                self._kept = None

    def _coming(self) -> Iterable[_Coming]:
        """Yield every document that the backup brings; what keeps the others from bringing erased texts comes first."""
        sieve, documents = self._sieve, self._contents.documents
        for relative in sorted(documents, key=lambda relative: (relative != TOMBSTONES, relative)):
            held = documents[relative].version
            if held is not None:
                document = Document(self._profile.root, relative, RawCodec())
                put = _Put(held.rows, sieve.joined if relative == TOMBSTONES else sieve.sifted)
                yield _Coming(document, held, _present(document), put)

    def _planned(self, differing: Sequence[_Coming]) -> Plan:
        names = sorted([*(one.document.relative for one in differing), *([KEY] if self._sieve.key_comes() else ())])
        newer = sorted(one.document.relative for one in differing if one.is_newer())
        return Plan(self._contents.made, tuple(names), tuple(newer), self._contents.faults)

    def _bring_key(self) -> None:
        """Without the key the backup's own tombstones could not be read."""
        if not self._sieve.key_comes() or self._contents.key is None:
            return
        try:
            self._put_key(self._contents.key)
        except PersonaError as error:
            self._replaced |= error.changed != "no"
            self._left.append(Left(KEY, error))
        else:
            self._replaced = True
            self._changed.append(KEY)

    def _put_key(self, key: bytes) -> None:
        root = self._profile.root
        with storage_errors(root / KEY), files.open_directory(root, [], create=True) as directory:
            recovery.quarantine(directory, KEY)
            syncfiles.put(directory, KEY, key)

    def _update_alone(self, document: Document[Fields], put: _Put, seen: str) -> bool:
        update = self._profile.update
        return update(document, put, expect=seen, check=self._asked, timeout=self._timeout).changed

    def _bring(self, one: _Coming, update: Update) -> None:
        relative = one.document.relative
        try:
            changed = self._change(one, update)
        except PersonaError as error:
            self._replaced |= error.changed != "no"
            if self._asked.over:
                raise
            self._left.append(Left(relative, error))
            return
        self._replaced |= changed
        self._changed += [relative] * changed

    def _change(self, one: _Coming, update: Update) -> bool:
        self._require_copy(one)
        try:
            return update(one.document, one.put, one.seen)
        except CorruptError as error:
            if error.details.get("path") != str(one.document.path) or error.reason == "quarantine_full":
                raise
            self._replace(one)
            return True

    def _require_copy(self, one: _Coming) -> None:
        """Refuse to replace what is not among what was kept: the disk refused it just then, or it is in no backup."""
        if one.present is None or not one.present.exists or self._kept is None:
            return
        if not backup_contents.has_copy(self._kept, one.document.relative):
            raise RefusedError(
                phrase("{path} could not be kept; it was left as it is", path=one.document.path),
                reason="not_kept",
                path=str(one.document.path),
            )

    def _replace(self, one: _Coming) -> None:
        """Put aside a document that no change can be made to, its previous version as well, and replace it.

        Neither it nor its previous version can be read, or it is older than that: restoring is how a person chooses.
        """
        document = one.document
        name = LockName(Rank.STORE, document.family, document.relative)
        with self._profile.locks.hold(name, self._timeout, self._asked) as hold, storage_errors(document.path):
            foreign_lock.wait(document.path, self._timeout, self._asked)
            with files.open_directory(self._profile.root, document.parts, create=True) as directory:
                seen = directory.stamp(document.name)
                rows = one.put(_still_there(one, directory))
                both = (document.name, document.backup_name)
                for aside in both:
                    recovery.quarantine(directory, aside)
                now = self._profile.now()
                # Past every sequence that a version may have had: milliseconds are, but for a clock that went back.
                heads = [recovery.sequence_in(directory, aside) or 0 for aside in both]
                pieces = document.encode(
                    Rows.of(rows), max(int(now.timestamp() * 1000), *(head + 1 for head in heads)), instant(now)
                )

                def settle() -> None:
                    hold.check()
                    foreign_lock.refuse(document.path)
                    present = directory.stamp(document.name)
                    if present is not seen and not (seen is not None and seen.same_version(present)):
                        raise _changed_meanwhile(document)
                    self._asked()

                commit.sweep(directory, document.name)
                ancestors = (self._profile.root, document.parts)
                commit.replace_file(directory, document.name, pieces, settle=settle, keep=None, ancestors=ancestors)

    def _raise_what_a_disk_refused(self) -> None:
        for left in self._left:
            if isinstance(left.error, StorageError | UncertainError):
                raise self._told(left.error) from left.error

    def _told(self, error: PersonaError) -> PersonaError:
        """Return what a disk refused with all that did not come back, and where what was replaced is kept."""
        names = [one.document for one in self._left]
        if self._kept is None:
            error.details = {**error.details, "left": names}
            return error
        message = phrase("{what}; what was replaced is kept as {name}", what=error.message, name=self._kept.name)
        details = {**error.details, "left": names, "kept": self._kept.name}
        return type(error)(message, reason=error.reason, changed=error.changed, **details)

    def _restored(self, coming: Sequence[_Coming]) -> Restored:
        known = {one.document.relative for one in coming}
        uncounted = {TOMBSTONES, *(one.document for one in self._left)}
        return Restored(
            documents=tuple(sorted(self._changed)),
            withheld=sum(one.put.withheld for one in coming if one.document.relative not in uncounted),
            untouched=tuple(name for name in documents_below(self._profile.root) if name not in known),
            left=tuple(self._left),
            faults=self._contents.faults,
            kept=self._kept,
            foreign=self._sieve.foreign,
        )


def _present(document: Document[Fields]) -> Snapshot[Fields] | None:
    try:
        return document.read()
    except (CorruptError, UnsupportedVersionError):
        return None
    except (RefusedError, StorageError):
        # A link, or another account's file, lies in its place, or its disk refuses: so will the change.
        return None


def _still_there(one: _Coming, directory: files.Directory) -> Snapshot[Fields]:
    """Return what is to be replaced, which under the lock must be what was judged; nothing where it cannot be read."""
    try:
        snapshot = one.document.read_in(directory)
    except CorruptError:
        return one.document.read_in(None)
    if snapshot.fingerprint != one.seen:
        raise _changed_meanwhile(one.document)
    return snapshot


def _changed_meanwhile(document: Document[Fields]) -> ConflictError:
    return ConflictError(
        phrase("{path} changed meanwhile; it was left as it is", path=document.path),
        reason="fingerprint",
        path=str(document.path),
    )
