"""What no live document holds any more and a file still keeps: previous versions, backups, copies put aside.

A fact that was forgotten or superseded, an item that was cleared away: its id must still lead whoever wants it erased
to its words. The rows come from older versions of the very documents that the owner can see, and of no others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from persona_hooks.errors import RefusedError, UnsupportedVersionError
from persona_store import cloud, copies, files
from persona_store.document import is_unusable
from persona_store.jsontext import DamageError
from persona_store.layout import BACKUPS, PREVIOUS, files_below, stray_previous_below
from persona_store.oserrors import storage_errors
from persona_store.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_store.document import Document

T = TypeVar("T")

_ROW: Final = re.compile(rb"\n    (\{.*?\n    \}|\{[^\n]*\})(?=,?\n|\Z)", re.DOTALL)
"""A row of a document in the layout that every release writes."""


def former(document: Document[T]) -> Iterator[tuple[Row[T], T]]:
    """Yield every readable row of every older version of a document in the profile. Reads only.

    Raises:
        StorageError: A folder or a file could not be looked into, so that rows might be missed.
    """
    seen: set[bytes] = set()
    for relative in _versions(document):
        for row in _rows(document, _read(document, relative)):
            if row.value is not None and row.raw not in seen:
                seen.add(row.raw)
                yield row, row.value


def _versions(document: Document[T]) -> Iterator[str]:
    wanted = document.relative
    # A backup has both where the file itself was of no use.
    both = (wanted, f"{wanted}{PREVIOUS}")
    aside = re.compile(rf"{re.escape(wanted)}\.corrupt-\d+")
    for relative in files_below(document.root):
        first, *rest = relative.split("/")
        kept = first == BACKUPS and rest[1:2] == ["documents"] and "/".join(rest[2:]) in both
        if kept or relative == both[1] or aside.fullmatch(relative) or cloud.kept_of(relative, wanted):
            yield relative
    yield from (stray for stray, relative in stray_previous_below(document.root) if relative == wanted)
    yield from (copy.relative for copy in cloud.conflict_copies(document.root) if copy.document == wanted)


def _read(document: Document[T], relative: str) -> bytes:
    *parts, name = relative.split("/")
    with storage_errors(document.root / relative):
        try:
            with files.open_directory(document.root, parts) as directory:
                return directory.read_head(name, copies.MAX_SEARCHED)
        except FileNotFoundError:  # taken away since it was listed, as a backup is after a week
            return b""
        except RefusedError as error:
            if not is_unusable(error):
                raise
            return b""  # none of ours: the erasure names it


def _rows(document: Document[T], data: bytes) -> Iterator[Row[T]]:
    try:
        yield from document.parse(data).rows
    except (DamageError, UnsupportedVersionError):
        # Whatever still stands whole in it; the sweep takes it by its bytes.
        for found in _ROW.finditer(data):
            yield Row(found[1], document.codec.decode(found[1]))
