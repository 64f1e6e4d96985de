"""Erasures that have begun: written down before the first word goes, so that whatever interrupts one, it is finished.

After an interruption the id may name nothing any more while a backup still holds the words; then only this file knows
them. They stand in it encoded, or the sweep would take the file for one more copy. It goes with the last erasure.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from persona_hooks.errors import UNCHANGED, CorruptError, UnsupportedVersionError
from persona_hooks.speech import phrase
from persona_store import commit, files, syncfiles
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from persona_store.transaction import Profile, Transaction

FILE: Final = "erasing.plan"
_MAX_BYTES: Final = 16 * 1024 * 1024


class Begun(BaseModel):
    """One erasure: under which id, what goes, and what its tombstones are made of.

    Attributes:
        id: What was named.
        texts: The words that go, wherever they stand.
        keys: What the tombstones are made of.
        ids: What goes in the recorder.
        whole: The texts of all rows that go, since the words may stand in a tag or a source: hashes, in hexadecimal.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

    id: str
    texts: tuple[str, ...]
    keys: tuple[str, ...]
    ids: tuple[str, ...]
    whole: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnfinishedErasures:
    """The erasures of one profile that have begun. Making this and asking it create nothing on disk."""

    profile: Profile

    def begun(self) -> list[Begun]:
        """Return them, the oldest first.

        Raises:
            UnsupportedVersionError: A newer release wrote the file.
            CorruptError: It cannot be read.
        """
        with storage_errors(self.profile.root / FILE):
            try:
                with files.open_directory(self.profile.root, []) as directory:
                    data = directory.read_head(FILE, _MAX_BYTES)
            except FileNotFoundError:
                return []
        # The words that are just going are not to stay in a cache of the parser's.
        plans = TypeAdapter(list[Begun], config=ConfigDict(cache_strings="keys"))
        try:
            return plans.validate_json(base64.b85decode(data))
        except ValueError as error:
            raise self._unreadable(newer=isinstance(error, ValidationError) and _is_json(error)) from None

    def _unreadable(self, *, newer: bool) -> CorruptError | UnsupportedVersionError:
        path = self.profile.root / FILE
        if newer:
            return UnsupportedVersionError(
                phrase(
                    "{path} was written by a newer release, which has not finished an erasure; {unchanged}. Upgrade to "
                    "erase, and leave that file: it alone knows what is still to go.",
                    path=path,
                    unchanged=UNCHANGED,
                ),
                path=os.fspath(path),
            )
        return CorruptError(
            phrase(
                "{root} cannot be read, so an interrupted erasure cannot be finished. Remove it and erase again.",
                root=path,
            ),
            reason="erasing_plan",
            path=os.fspath(path),
        )

    def add(self, transaction: Transaction, new: Begun) -> None:
        """Write down that an erasure begins; durable when this returns."""
        del transaction  # Holding it is what keeps others out.
        self._write([*(old for old in self.begun() if old.id != new.id), new])

    def drop(self, done: Begun) -> None:
        """Take note that an erasure is complete; durable when this returns."""
        with self.profile.transaction():
            begun = self.begun()
            kept = [old for old in begun if old != done]
            if kept != begun:
                self._write(kept)

    def _write(self, begun: list[Begun]) -> None:
        root = self.profile.root
        with storage_errors(root / FILE), files.open_directory(root, [], create=True) as directory:
            if begun:
                plain = json.dumps([one.model_dump(mode="json") for one in begun]).encode()
                syncfiles.put(directory, FILE, base64.b85encode(plain))
                return
            commit.sweep(directory, FILE)
            directory.unlink(FILE)
            directory.sync()


def _is_json(error: ValidationError) -> bool:
    """Return whether what did not fit was whole: the file is replaced in one step, so nothing else is half of it."""
    return all(one["type"] != "json_invalid" for one in error.errors(include_input=False, include_url=False))
