"""What a profile's tombstones keep out of all that a backup brings, and how those of the backup join them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import CorruptError, PersonaError
from persona_hooks.speech import phrase
from persona_store import files, recovery
from persona_store.layout import KEY, TOMBSTONES
from persona_store.oserrors import storage_errors
from persona_store.tombstones import KEY_BYTES, Tombstones, as_swept, hashed, stone_id, told_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from persona_store.backup_contents import Contents
    from persona_store.jsontext import JsonValue
    from persona_store.rows import Row, Snapshot
    from persona_store.tombstones import Tombstone
    from persona_store.transaction import Profile

    Fields = dict[str, JsonValue]

UNTOLD: Final = "tombstones"
"""The reason of what stays out since the profile's own tombstones cannot be read: a person has to choose."""


class Sieve:
    """Sifts what one backup brings to one profile. It remembers its verdicts for as long as the tombstones stay.

    What the backup's own tombstones keep out stays out as well, whether or not they join those of the profile.
    """

    def __init__(self, profile: Profile, contents: Contents, keys_of: Callable[[Fields], Iterable[str]]) -> None:
        self._root = profile.root
        self._tombstones = Tombstones(profile)
        self._contents = contents
        self._keys_of = keys_of
        held = contents.documents.get(TOMBSTONES)
        self._brought = told_ids(held.version.rows) if held is not None and held.version is not None else frozenset()
        self._judged_by: frozenset[str] = frozenset()
        self._verdicts: dict[bytes, bool] = {}

    @property
    def foreign(self) -> bool:
        """Whether the backup has tombstones that cannot join, since they were made by another key than the profile's.

        They keep their texts out of what this backup brings, and out of nothing that comes later.
        """
        return bool(self._brought) and self._is_foreign()

    def sifted(self, there: Snapshot[Fields], coming: Sequence[Row[Fields]]) -> Sequence[Row[Fields]]:
        """Return the rows that may come. One that stands there already does not come in, so it is not judged.

        Raises:
            CorruptError: The tombstones, or the key to read them, cannot be used.
        """
        standing = {row.raw for row in there.rows}
        if all(row.raw in standing for row in coming):
            return coming
        here = frozenset[str]().union(*(page.made(told_ids) for page in self._stones().rows.pages))
        known, apart = here | self._brought, self._brought - here
        if known != self._judged_by:
            self._judged_by, self._verdicts = known, {}
        return tuple(row for row in coming if not known or row.raw in standing or not self._is_erased(row, apart))

    def _is_erased(self, row: Row[Fields], apart: frozenset[str]) -> bool:
        """Judge a row by the tombstones that stand here and by those that stand apart, in the backup alone."""
        verdict = self._verdicts.get(row.raw)
        if verdict is None:
            keys = tuple(self._keys_of(row.value)) if row.value is not None else ()
            verdict = self._tombstones.any_stands(keys) or (bool(apart) and self._any_apart(keys, apart))
            self._verdicts[row.raw] = verdict
        return verdict

    def _any_apart(self, keys: Iterable[str], apart: frozenset[str]) -> bool:
        secret = self._contents.key if self._has_key() else None
        if secret is None:
            secret = self._tombstones.key()
        return any(hashed(key, secret) in apart for key in keys)

    def _stones(self) -> Snapshot[Tombstone]:
        """Return the tombstones that stand; an older version of them would let in what was erased since."""
        document = self._tombstones.document
        with storage_errors(document.path):
            directory = document.open()
            with directory or contextlib.nullcontext():
                try:
                    stones = document.read_in(directory)
                except CorruptError:
                    raise self._untold() from None
                if directory is not None and recovery.is_older_than_previous(document, directory, stones):
                    raise self._untold()
        return stones

    def _untold(self) -> CorruptError:
        path = self._tombstones.document.path
        return CorruptError(
            phrase(
                "{path} cannot be trusted, so nobody can tell what was erased; to restore all the same, move it away "
                "by hand, and its previous version if that cannot be read",
                path=path,
            ),
            reason=UNTOLD,
            path=str(path),
        )

    def joined(self, there: Snapshot[Fields], coming: Sequence[Row[Fields]]) -> Sequence[Row[Fields]]:
        """Return tombstones with those that a backup adds, each once; those of another key would tell nothing here.

        One that stands here knows best whether every place has been swept. One that only the backup has waits for
        nothing here: what it keeps out is left out of all that comes, and an erasure that has begun here is written
        down elsewhere.

        Raises:
            CorruptError: Those that stand cannot be used; they are left, so that they go on keeping others out.
        """
        self._stones()
        if self._is_foreign():
            return there.rows
        standing = {stone_id(row) for row in there.rows}
        new = {stone_id(row): row for row in coming if stone_id(row) not in standing}
        return (*there.rows, *map(as_swept, new.values()))

    def _is_foreign(self) -> bool:
        """Whether the backup's tombstones were made by another key than the profile's."""
        if not self._has_key():
            return False
        own = self._own_key()
        return own != self._contents.key if own is not None else not self.key_comes()

    def key_comes(self) -> bool:
        """Whether the profile has no key of its own that could be used, and the backup's is the one it had.

        A tombstone of this profile that stands in the backup as well tells that. With another's key nothing would seem
        erased.
        """
        if not self._has_key() or self._own_key() is not None:
            return False
        try:
            stones = self._stones()
        except PersonaError:
            return False
        return not stones.rows or bool(self._brought & told_ids(stones.rows))

    def _has_key(self) -> bool:
        return len(self._contents.key or b"") == KEY_BYTES

    def _own_key(self) -> bytes | None:
        try:
            with files.open_directory(self._root, []) as directory:
                key, _ = directory.read(KEY, KEY_BYTES)
        except (OSError, files.OversizeError):
            return None
        return key if len(key) == KEY_BYTES else None
