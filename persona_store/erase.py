"""Erasing: a text goes from every place that may hold it, does not come back, and the rest is named.

The order makes an interruption harmless: first the tombstones, then the live documents, then everything that keeps
older versions. Erasing again finishes what was interrupted.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from persona_hooks.errors import InvalidError, PersonaError, RefusedError
from persona_hooks.speech import phrase
from persona_store import copies, files, jsontext, syncfiles
from persona_store.document import Document, check_relative, is_unusable
from persona_store.layout import (
    BACKUPS,
    PREVIOUS,
    documents_below,
    files_below,
    links_below,
    quarantine_below,
    shown,
    stray_previous_below,
    unfinished,
)
from persona_store.locks import DEFAULT_TIMEOUT, LOCKS, Rank
from persona_store.oserrors import partly, storage_errors
from persona_store.previous import scrub, sweep_both
from persona_store.rows import RawCodec, Row
from persona_store.same_words import SameWords, any_in_bytes
from persona_store.tombstones import Tombstones
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from persona_store.jsontext import JsonValue
    from persona_store.rows import Snapshot
    from persona_store.transaction import Profile


@dataclass(frozen=True)
class Target:
    """What is erased.

    Attributes:
        texts: The texts as they were stored.
        keys: Their semantic keys, for the tombstones.
        stone_of: Returns the key that a row's tombstone would have. With it, a live row that holds the words stays if
            its own key is none of these: no tombstone refused it, so it was said after this began, and acknowledged.
    """

    texts: tuple[str, ...] = field(repr=False)
    keys: tuple[str, ...] = field(repr=False)
    stone_of: Callable[[dict[str, JsonValue]], str | None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.texts or not all(text.strip() for text in self.texts):
            raise InvalidError(phrase("there is no text to erase"), field="texts")

    def in_value(self, value: JsonValue, field: str = "text") -> bool:
        """Whether plain data holds one of the texts, whatever its capitals, white space and spelling of accents.

        Args:
            value: The data.
            field: The name of the field that it is the value of.
        """
        if isinstance(value, str):
            return any(one.in_value(value, field) for one in self._sought)
        if isinstance(value, dict):
            return any(self.in_value(name, "") or self.in_value(item, name) for name, item in value.items())
        return isinstance(value, list) and any(self.in_value(item, "") for item in value)

    def takes(self, row: Row[dict[str, JsonValue]]) -> bool:
        """Whether a row of a live document goes."""
        if not _row_holds(row, self):
            return False
        stone = self.stone_of(row.value) if self.stone_of is not None and row.value is not None else None
        return stone is None or stone in self.keys

    def in_bytes(self, data: bytes) -> bool:
        """Whether raw bytes hold one of the texts, as `in_value` does; a short one as a field's value."""
        return any_in_bytes(self._sought, data)

    @cached_property
    def _sought(self) -> tuple[SameWords, ...]:
        return tuple(map(SameWords.of, self.texts))


class Place(Protocol):
    """Something beside documents that may hold text: receipts, plans, vectors, a database, an index."""

    def erase(self, target: Target) -> Sequence[str]:
        """Remove every trace durably, and return the files that changed, below the profile's root."""
        ...


@dataclass(frozen=True)
class Residue:
    """What still holds an erased text or could not be searched; ``outside`` says that it is not part of the profile."""

    path: str
    outside: bool


@dataclass(frozen=True)
class Erased:
    """What an erasure came to: the files it changed, how many rows went, and what still holds the text.

    ``complete`` is false where a live document that holds the text could not be swept, since nothing here can read it:
    its tombstones then count as not swept.
    """

    rows: int
    changed: tuple[str, ...]
    residue: tuple[Residue, ...]
    complete: bool = True


def erase(
    profile: Profile,
    target: Target,
    *,
    places: Iterable[Place] = (),
    outside: Iterable[Path] = (),
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Erased:
    """Erase texts from a profile.

    Args:
        profile: Whose documents, previous versions, quarantine and backups are swept.
        target: What goes.
        places: What else of ours may hold it.
        outside: Directories and files that are not ours, searched for the report only.
        check: As for `Profile.transaction`.
        timeout: Seconds to wait for each lock.

    Returns:
        The files changed and the residue, by path.

    Raises:
        BusyError, StorageError, UncertainError, CorruptError: Nothing is lost; erase again to finish.
    """
    tombstones = Tombstones(profile)
    with profile.transaction(check, timeout) as transaction:
        tombstones.add(transaction, target.keys, instant(profile.now()))
    with partly(), storage_errors(profile.root):
        swept = _Swept()
        for relative in _documents(profile.root):
            swept.documents.append(relative)
            _erase_document(profile, relative, target, swept, (check, timeout))
        changed = list(swept.changed)
        with profile.transaction(check, timeout) as transaction:
            changed += _sweep_copies(profile.root, target)
            for place in places:
                changed += place.erase(target)
        changed += _scrub_previous(profile, target, swept, changed, (check, timeout))
        complete = not any(_unread_holds(profile.root / relative, target) for relative in swept.unread)
        if complete:
            with profile.transaction(check, timeout) as transaction:
                tombstones.mark_swept(transaction, target.keys)
        left = tuple(residue(profile.root, target, outside))
    return Erased(swept.rows, tuple(dict.fromkeys(map(shown, changed))), left, complete)


@dataclass
class _Swept:
    """What was done to live documents so far: all of them, and of these the ``unread`` that nothing here can read."""

    documents: list[str] = field(default_factory=list)
    rows: int = 0
    changed: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def take_in(self, relative: str, rows: Collection[bytes], *, unread: bool) -> None:
        """Count what was done to a document that no change could be made to."""
        self.rows += len(rows)
        self.unread = [one for one in self.unread if one != relative] + [relative] * unread

    @contextlib.contextmanager
    def or_unread(self, relative: str) -> Iterator[None]:
        """Let a document that cannot be read, or is none of ours, keep no other one from being swept."""
        try:
            yield
        except PersonaError as error:
            if not is_unusable(error):
                raise
            self.unread.append(relative)


def _documents(root: Path) -> Iterator[str]:
    """Yield every document once, and those that appear meanwhile.

    Among them is one that has no more than a lock yet: who holds that may have looked for tombstones before they stood,
    and to take the lock is to wait until the file is there. So is one whose first writer was killed and left no more
    than a temporary file.
    """
    known: set[str] = set()
    while new := [one for one in (*documents_below(root), *_locked(root), *_begun(root)) if one not in known]:
        known.update(new)
        yield from dict.fromkeys(new)


def _locked(root: Path) -> Iterator[str]:
    """Yield the documents that have a lock of their own, whether or not there is a file."""
    try:
        names = os.listdir(root / LOCKS)  # noqa: PTH208 - by attribute, for the fault shim
    except FileNotFoundError:
        return
    for name in sorted(names):
        words, _, rank = name.rpartition(".")
        relative = words.replace("!", "/")
        if rank == Rank.STORE.name.lower() and relative.endswith(".json") and _names_document(relative):
            yield relative


def _begun(root: Path) -> Iterator[str]:
    """Yield the documents of which temporary files are there."""
    for relative in files_below(root):
        folder, _, name = relative.rpartition("/")
        base = unfinished(name)
        if base is not None and base.endswith(".json") and not relative.startswith(f"{BACKUPS}/"):
            document = f"{folder}/{base}".removeprefix("/")
            if _names_document(document):
                yield document


def _names_document(relative: str) -> bool:
    try:
        check_relative(relative)
    except InvalidError:
        # Somebody else put a file there.
        return False
    return True


def _erase_document(
    profile: Profile,
    relative: str,
    target: Target,
    swept: _Swept,
    terms: tuple[Callable[[], None] | None, float],
) -> None:
    check, timeout = terms
    gone = 0

    def mutate(snapshot: Snapshot[dict[str, JsonValue]]) -> list[Row[dict[str, JsonValue]]]:
        nonlocal gone
        kept = [row for row in snapshot.rows if not target.takes(row)]
        gone = len(snapshot.rows) - len(kept)
        return kept

    with swept.or_unread(relative):
        document = Document(profile.root, relative, RawCodec())
        if document.family != "memory":
            profile.update(document, mutate, check=check, timeout=timeout)
        else:
            with profile.transaction(check, timeout) as transaction:
                transaction.update(document, mutate)
        swept.rows += gone
        swept.changed += [relative] * bool(gone)


def _row_holds(row: Row[dict[str, JsonValue]], target: Target) -> bool:
    if row.value is not None:
        # Whoever reads values by a model calls one that is nested so deep unreadable, too.
        with contextlib.suppress(RecursionError):
            return target.in_value(row.value)
    return target.in_bytes(row.raw)


def _scrub_previous(
    profile: Profile,
    target: Target,
    swept: _Swept,
    changed: Sequence[str],
    terms: tuple[Callable[[], None] | None, float],
) -> list[str]:
    """Let every previous version be the present one, so that it keeps nothing the present one does not.

    Returns:
        The previous versions that held a text and do not any more; those of documents that ``changed`` go with these.
    """
    check, timeout = terms
    held = []
    for relative in dict.fromkeys((*swept.documents, *documents_below(profile.root))):
        previous = f"{relative}{PREVIOUS}"
        holds = relative not in changed and _file_holds(profile.root / previous, target)
        with swept.or_unread(relative):
            document = Document(profile.root, relative, RawCodec())
            memory = document.family == "memory"
            with profile.transaction(check, timeout) if memory else contextlib.nullcontext():
                if not scrub(profile, document, check, timeout):
                    taking = _Taking(target)
                    both = sweep_both(profile, document, taking, check, timeout)
                    held += [name for name, gone in zip((previous, relative), both, strict=True) if gone]
                    swept.take_in(relative, taking.taken, unread=None in both)
        if holds and not _file_holds(profile.root / previous, target):
            held.append(previous)
    return held


def _sweep_copies(root: Path, target: Target) -> list[str]:
    """Take what holds a text out of copies that nothing reads, and its rows from backups."""
    changed = []
    holding = _Holding(target)
    for relative in [*quarantine_below(root), *(stray for stray, _ in stray_previous_below(root))]:
        *parts, name = relative.split("/")
        # What is not ours is named in the end.
        with (
            storage_errors(root / relative),
            contextlib.suppress(RefusedError),
            files.open_directory(root, parts) as directory,
        ):
            data = directory.read_head(name, copies.MAX_SEARCHED)
            kept = copies.kept_of(data, holding)
            if kept == data and not target.in_bytes(kept):
                continue
            # Without a row it is a copy of nothing.
            if kept is None or target.in_bytes(kept) or not jsontext.split(kept).rows:
                directory.unlink(name)
                directory.sync()
            else:
                syncfiles.put(directory, name, kept)
            changed.append(relative)
    return changed + copies.sweep_backups(root, holding)


@dataclass(frozen=True)
class _Holding:
    target: Target

    def in_bytes(self, data: bytes) -> bool:
        return self.target.in_bytes(data)

    def in_row(self, raw: bytes) -> bool:
        return _row_holds(Row(raw, RawCodec().decode(raw)), self.target)


@dataclass(frozen=True)
class _Taking(_Holding):
    """What goes from a document that people still read; ``taken`` are the rows that it was so far."""

    taken: set[bytes] = field(default_factory=set)

    def in_row(self, raw: bytes) -> bool:
        if not self.target.takes(Row(raw, RawCodec().decode(raw))):
            return False
        self.taken.add(raw)
        return True


def residue(root: Path, target: Target, outside: Iterable[Path] = ()) -> list[Residue]:
    """Name every file that still holds one of the texts, in the profile and in places that are not ours.

    The profile's links are named as well: what they lead to was neither swept nor searched.
    """
    found_inside = (*_holding(root, target), *links_below(root))
    inside = [Residue(shown(root / found), outside=False) for found in found_inside]
    beyond = [Residue(shown(place / found), outside=True) for place in outside for found in _holding(place, target)]
    return inside + beyond


def _holding(place: Path, target: Target) -> list[str]:
    names = [""] if place.is_file() else files_below(place)
    return [name for name in names if _file_holds(place / name if name else place, target)]


def _file_holds(path: Path, target: Target, *, absent: bool = False) -> bool:
    """Whether a file holds one of the texts; ``absent`` answers for one that is not there."""
    try:
        with files.open_directory(path.parent, []) as directory:
            return target.in_bytes(directory.read_head(path.name, copies.MAX_SEARCHED))
    except FileNotFoundError:
        return absent
    except OSError:
        # What cannot be read cannot be vouched for.
        return True


def _unread_holds(path: Path, target: Target) -> bool:
    """Whether a document that nothing here can read holds one of the texts, in its file or its previous version."""
    previous = path.with_name(f"{path.name}{PREVIOUS}")
    return _file_holds(path, target, absent=not os.path.lexists(previous)) or _file_holds(previous, target)
