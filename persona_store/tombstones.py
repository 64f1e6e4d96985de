"""What was erased and must not come back, remembered without remembering it.

A tombstone is a keyed hash of a fact's semantic key. The key never leaves the profile, so a tombstone tells nothing
to whoever guesses texts elsewhere.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.errors import UNCHANGED, CapacityError, CorruptError
from persona_hooks.speech import phrase
from persona_store import commit, files, recovery
from persona_store.jsontext import MAX_BYTES, MAX_ENTRIES, DamageError, encode_row
from persona_store.layout import KEY, TOMBSTONES
from persona_store.oserrors import storage_errors
from persona_store.rows import RawCodec, Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from persona_store.document import Document, Snapshot
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile, Transaction

KEY_BYTES: Final = 32
_ID: Final = re.compile(r"[0-9a-f]{64}")
LONG_ENOUGH: Final = 12
"""A text of so many characters is told wherever it stands: a shorter one may be a kind, a state or somebody's tag."""


class Tombstone(BaseModel):
    """One erased text: its keyed hash, when it was erased, and whether every place has been swept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    id: str = Field(pattern=r"^[0-9a-f]{64}$")
    erased_at: str = Field(alias="erasedAt", max_length=40)
    swept: bool


def stone_id(row: Row[dict[str, JsonValue]]) -> str | bytes:
    """Return what tells a tombstone from others when two files of them join: its hash, or its bytes if it has none."""
    found = row.value.get("id") if row.value is not None else None
    return found if isinstance(found, str) else row.raw


def as_swept(row: Row[dict[str, JsonValue]]) -> Row[dict[str, JsonValue]]:
    """Return a tombstone of another file as one that waits for nothing here, where its erasure never began."""
    if row.value is None or row.value.get("swept") is not False:
        return row
    value = {**row.value, "swept": True}
    return Row(encode_row(value), value)


def told_id(row: Row[object]) -> str | None:
    """Return a tombstone's keyed hash; None where it has none.

    It keeps its text out whatever else stands in the row, and whether or not this release can read that.
    """
    if isinstance(row.value, Tombstone):
        return row.value.id
    value = RawCodec().decode(row.raw) if row.value is None else row.value
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def told_ids(rows: Iterable[Row[object]]) -> frozenset[str]:
    """Return the keyed hashes of all tombstones that have one."""
    return frozenset([found for row in rows if (found := told_id(row)) is not None])


def hashed(key: str, secret: bytes) -> str:
    """Return the keyed hash that the tombstone of a semantic key has."""
    # A row of somebody else's may hold half a surrogate, which JSON can write and UTF-8 cannot.
    return hmac.digest(secret, key.encode("utf-8", "surrogatepass"), "sha256").hex()


class _Past(NamedTuple):
    """What the previous version adds to one version of the file.

    Attributes:
        stamp: The previous version's.
        settled: Whether that stamp tells every later change.
        sequence: The file's.
        ids: None of them but where the file is older.
    """

    stamp: files.Stamp
    settled: bool
    sequence: int
    ids: frozenset[str]


class Tombstones:
    """The tombstones of a profile. Making this and asking it create nothing on disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._past: _Past | None = None
        self.document: Document[Tombstone] = profile.document(TOMBSTONES, Tombstone)

    def stands(self, key: str) -> bool:
        """Whether a semantic key was erased, so that capture, import, merge and undo must refuse it.

        Raises:
            CorruptError: There are tombstones, but the key to read them is gone or damaged; or the file is older than
                its previous version, and that cannot be read.
        """
        return self.any_stands((key,))

    def any_stands(self, keys: Iterable[str]) -> bool:
        """Whether one of several semantic keys was erased; as `stands`, with one look at the files."""
        standing = self._standing()
        if not any(standing):
            return False
        secret = self.key()
        asked = (hashed(key, secret) for key in keys)
        return any(stone in ids for stone in asked for ids in standing)

    def _standing(self) -> list[frozenset[str]]:
        """Return the ids of all tombstones, in parts."""
        document = self.document
        with storage_errors(document.path):
            directory = document.open()
            if directory is None:
                return []
            with directory:
                snapshot = document.read_in(directory)
                standing = [page.made(told_ids) for page in snapshot.rows.pages]
                return [*standing, self._newer(directory, snapshot)] if snapshot.exists else standing

    def _newer(self, directory: files.Directory, snapshot: Snapshot[Tombstone]) -> frozenset[str]:
        """Return the tombstones of the previous version where the file is older, as when somebody put an old one back.

        What the file does not know was erased all the same.
        """
        document, known = self.document, self._past
        stamp = directory.stamp(document.backup_name)
        if stamp is None:
            return frozenset()
        if known is not None and known.settled and (known.stamp, known.sequence) == (stamp, snapshot.sequence):
            return known.ids
        settled, ids = not stamp.is_young(), frozenset[str]()
        if recovery.is_older_than_previous(document, directory, snapshot):
            try:
                ids = told_ids(document.parse(directory.read(document.backup_name, MAX_BYTES)[0]).rows)
            except FileNotFoundError:
                return frozenset()  # it went since its head was read: the file is what stands
            except (DamageError, files.OversizeError):
                raise recovery.older(document) from None
        self._past = _Past(stamp, settled, snapshot.sequence, ids)
        return ids

    def untold(self) -> int:
        """Return how many rows there are that keep nothing out, since nobody can tell their hash."""
        return sum(told_id(row) is None for row in self.document.read().rows)

    def among(self, keys: Iterable[str], ids: Collection[str]) -> frozenset[str]:
        """Return which of some ids, whether or not they stand, are those of one of several semantic keys.

        Raises:
            CorruptError: As `stands`.
        """
        secret = self.key()
        return frozenset([stone for stone in (hashed(key, secret) for key in keys) if stone in ids])

    def add(self, transaction: Transaction, keys: Iterable[str], erased_at: str) -> None:
        """Put up tombstones, not yet swept, unless they stand so already; durable when this returns.

        Raises:
            CapacityError: They would be more than a document holds; nothing was changed.
        """
        secret = self.key(create=True)
        stones = [Tombstone(id=hashed(key, secret), erased_at=erased_at, swept=False) for key in keys]

        def mutate(snapshot: Snapshot[Tombstone]) -> list[Row[Tombstone]]:
            standing = {stone.id for stone in snapshot.values if not stone.swept}
            new = {stone.id: stone for stone in stones if stone.id not in standing}
            kept = [row for row in snapshot.rows if row.value is None or row.value.id not in new]
            if len(kept) + len(new) > MAX_ENTRIES:
                raise self._full(len(kept) + len(new))
            return [*kept, *map(self.document.row, new.values())]

        transaction.update(self.document, mutate)

    def _full(self, size: int) -> CapacityError:
        return CapacityError(
            phrase(
                "{path} keeps {number} erased texts and ids in mind at most, and would have to keep {size}; "
                "{unchanged}. Erase fewer memories, and forget the others.",
                path=self.document.path,
                number=MAX_ENTRIES,
                size=size,
                unchanged=UNCHANGED,
            ),
            path=os.fspath(self.document.path),
            limit=MAX_ENTRIES,
            size=size,
        )

    def mark_swept(self, transaction: Transaction, keys: Iterable[str]) -> None:
        """Say that every place has been swept of these."""
        secret = self.key()
        done = {hashed(key, secret) for key in keys}

        def swept(row: Row[Tombstone]) -> Row[Tombstone]:
            if row.value is None or row.value.id not in done:
                return row
            return self.document.revise(row, row.value.model_copy(update={"swept": True}))

        transaction.update(self.document, lambda snapshot: [swept(row) for row in snapshot.rows])

    def lift(self, transaction: Transaction, key: str) -> bool:
        """Take a tombstone away, since its person insists on the text; True when there was one."""
        if not self.stands(key):
            return False
        gone = hashed(key, self.key())
        return transaction.update(
            self.document, lambda there: [row for row in there.rows if told_id(row) != gone]
        ).changed

    def unswept(self) -> bool:
        """Whether an erasure was interrupted before every place was swept; how many is not told by their tombstones.

        One erasure puts up several: for each spelling of its words, and for each id.
        """
        return any(not stone.swept for stone in self.document.read().values)

    def key(self, *, create: bool = False) -> bytes:
        """Return the profile's key; with ``create``, make one where there never was any.

        Raises:
            CorruptError: It is gone or damaged.
        """
        root = self._profile.root
        with storage_errors(root / KEY), files.open_directory(root, [], create=create) as directory:
            try:
                secret, _ = directory.read(KEY, KEY_BYTES)
            except (FileNotFoundError, files.OversizeError):
                secret = b""
            if len(secret) == KEY_BYTES:
                return secret
            if not create or secret or told_ids(self.document.read().rows):
                raise CorruptError(
                    phrase(
                        "{path} is missing or damaged, so erased texts cannot be told; restore it from a backup",
                        path=root / KEY,
                    ),
                    reason="profile_key",
                    path=os.fspath(root / KEY),
                )
            return self._make(directory)

    def _make(self, directory: files.Directory) -> bytes:
        commit.sweep(directory, KEY)
        secret = secrets.token_bytes(KEY_BYTES)
        commit.replace_file(
            directory, KEY, [secret], settle=lambda: None, keep=None, ancestors=(self._profile.root, [])
        )
        return secret
