"""What a profile's tombstones keep out of all that a backup brings, and how those of the backup join them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import CorruptError, PersonaError
from persona_hooks.speech import phrase
from persona_store import files, recovery
from persona_store.layout import KEY, TOMBSTONES
from persona_store.oserrors import storage_errors
from persona_store.tombstones import KEY_BYTES, Tombstones, as_swept, stone_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from persona_store.backup import Contents
    from persona_store.jsontext import JsonValue
    from persona_store.rows import Row, Snapshot
    from persona_store.tombstones import Tombstone
    from persona_store.transaction import Profile

    Fields = dict[str, JsonValue]

UNTOLD: Final = "tombstones"
"""The reason of what stays out since the profile's own tombstones cannot be read: a person has to choose."""


class Sieve:
    """Sifts what one backup brings to one profile. It remembers its verdicts for as long as the tombstones stay."""

    def __init__(self, profile: Profile, contents: Contents, key_of: Callable[[Fields], str | None]) -> None:
        self._root = profile.root
        self._tombstones = Tombstones(profile)
        self._contents = contents
        self._key_of = key_of
        self._judged_by: Sequence[Row[Tombstone]] = ()
        self._verdicts: dict[bytes, bool] = {}

    def sifted(self, there: Snapshot[Fields], coming: Sequence[Row[Fields]]) -> Sequence[Row[Fields]]:
        """Return the rows that may come. One that stands there already does not come in, so it is not judged.

        Raises:
            CorruptError: The tombstones, or the key to read them, cannot be used.
        """
        standing = {row.raw for row in there.rows}
        if all(row.raw in standing for row in coming):
            return coming
        stones = self._stones().rows
        if stones != self._judged_by:
            self._judged_by, self._verdicts = stones, {}
        return tuple(row for row in coming if not stones or row.raw in standing or not self._is_erased(row))

    def _is_erased(self, row: Row[Fields]) -> bool:
        verdict = self._verdicts.get(row.raw)
        if verdict is None:
            key = self._key_of(row.value) if row.value is not None else None
            verdict = self._verdicts[row.raw] = key is not None and self._tombstones.stands(key)
        return verdict

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
        if len(self._contents.key or b"") != KEY_BYTES:
            return False
        own = self._own_key()
        return own != self._contents.key if own is not None else not self.key_comes()

    def key_comes(self) -> bool:
        """Whether the profile has no key of its own that could be used, and the backup's is the one it had.

        A tombstone of this profile that stands in the backup as well tells that. With another's key nothing would seem
        erased.
        """
        if len(self._contents.key or b"") != KEY_BYTES or self._own_key() is not None:
            return False
        try:
            stones = self._stones()
        except PersonaError:
            return False
        held = self._contents.documents.get(TOMBSTONES)
        known = {stone_id(row) for row in held.version.rows} if held is not None and held.version is not None else set()
        return not stones.rows or any(stone.id in known for stone in stones.values)

    def _own_key(self) -> bytes | None:
        try:
            with files.open_directory(self._root, []) as directory:
                key, _ = directory.read(KEY, KEY_BYTES)
        except (OSError, files.OversizeError):
            return None
        return key if len(key) == KEY_BYTES else None
