"""What was erased and must not come back, remembered without remembering it.

A tombstone is a keyed hash of a fact's semantic key. The key never leaves the profile, so a tombstone tells nothing
to whoever guesses texts elsewhere.
"""

from __future__ import annotations

import hmac
import os
import secrets
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.errors import CorruptError
from persona_hooks.speech import phrase
from persona_store import commit, files
from persona_store.jsontext import encode_row
from persona_store.layout import KEY, TOMBSTONES
from persona_store.oserrors import storage_errors
from persona_store.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_store.document import Document, Snapshot
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile, Transaction

KEY_BYTES: Final = 32
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


def _ids(rows: Iterable[Row[Tombstone]]) -> frozenset[str]:
    return frozenset([row.value.id for row in rows if row.value is not None])


class Tombstones:
    """The tombstones of a profile. Making this and asking it create nothing on disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.document: Document[Tombstone] = profile.document(TOMBSTONES, Tombstone)

    def stands(self, key: str) -> bool:
        """Whether a semantic key was erased, so that capture, import, merge and undo must refuse it.

        Raises:
            CorruptError: There are tombstones, but the key to read them is gone or damaged.
        """
        return self.any_stands((key,))

    def any_stands(self, keys: Iterable[str]) -> bool:
        """Whether one of several semantic keys was erased; as `stands`, with one look at the files."""
        standing = [page.made(_ids) for page in self.document.read().rows.pages]
        if not any(standing):
            return False
        secret = self._key()
        asked = (self._hash(key, secret) for key in keys)
        return any(stone in ids for stone in asked for ids in standing)

    def add(self, transaction: Transaction, keys: Iterable[str], erased_at: str) -> None:
        """Put up tombstones, not yet swept, unless they stand so already; durable when this returns."""
        secret = self._key(create=True)
        stones = [Tombstone(id=self._hash(key, secret), erased_at=erased_at, swept=False) for key in keys]

        def mutate(snapshot: Snapshot[Tombstone]) -> list[Row[Tombstone]]:
            standing = {stone.id for stone in snapshot.values if not stone.swept}
            new = {stone.id: stone for stone in stones if stone.id not in standing}
            kept = [row for row in snapshot.rows if row.value is None or row.value.id not in new]
            return [*kept, *map(self.document.row, new.values())]

        transaction.update(self.document, mutate)

    def mark_swept(self, transaction: Transaction, keys: Iterable[str]) -> None:
        """Say that every place has been swept of these."""
        secret = self._key()
        done = {self._hash(key, secret) for key in keys}

        def swept(row: Row[Tombstone]) -> Row[Tombstone]:
            if row.value is None or row.value.id not in done:
                return row
            return self.document.revise(row, row.value.model_copy(update={"swept": True}))

        transaction.update(self.document, lambda snapshot: [swept(row) for row in snapshot.rows])

    def lift(self, transaction: Transaction, key: str) -> bool:
        """Take a tombstone away, since its person insists on the text; True when there was one."""
        if not self.stands(key):
            return False
        gone = self._hash(key, self._key())
        return transaction.update(
            self.document, lambda there: [row for row in there.rows if row.value is None or row.value.id != gone]
        ).changed

    def unswept(self) -> bool:
        """Whether an erasure was interrupted before every place was swept; how many is not told by their tombstones.

        One erasure puts up several: for each spelling of its words, and for each id.
        """
        return any(not stone.swept for stone in self.document.read().values)

    @staticmethod
    def _hash(key: str, secret: bytes) -> str:
        # A row of somebody else's may hold half a surrogate, which JSON can write and UTF-8 cannot.
        return hmac.digest(secret, key.encode("utf-8", "surrogatepass"), "sha256").hex()

    def _key(self, *, create: bool = False) -> bytes:
        root = self._profile.root
        with storage_errors(root / KEY), files.open_directory(root, [], create=create) as directory:
            try:
                secret, _ = directory.read(KEY, KEY_BYTES)
            except (FileNotFoundError, files.OversizeError):
                secret = b""
            if len(secret) == KEY_BYTES:
                return secret
            if not create or secret or self.document.read().values:
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
