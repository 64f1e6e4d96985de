"""The session log of hosts that keep their own: in memory, or as JSON lines in a file.

A log is a tree that only grows. Each entry names the one before it; the active branch runs from the root to the leaf,
and the leaf of a log that is read from a file is its last line. A fork or a clone is a new log that begins with a copy
of one path, under the same ids. Nothing is written before the first message, so that a session in which nobody spoke
leaves no file; what was appended until then is held and written with it.
"""

from __future__ import annotations

import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from persona_hooks import logfile
from persona_hooks.errors import ConflictError, PersonaError, UncertainError, UnsupportedVersionError
from persona_hooks.logcursor import LogCursor
from persona_hooks.logformat import (
    VERSION,
    Damage,
    Header,
    encode_entry,
    encode_header,
    parse_header,
    plain,
)
from persona_hooks.logtree import LogTree
from persona_hooks.ports import Appended, Entry
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from persona_hooks.ports import Guard

Listener = Callable[[Entry], None]
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the wall clock's time in UTC."""
    return datetime.now(UTC)


class SessionLog(ABC):
    """What both journals share; it may be used from any thread. See ``ports.Journal`` for a plugin's view of it.

    Attributes:
        generation: The generation that a guard must name. The host raises it when it replaces the session's runtime.
    """

    def __init__(self, header: Header, now: Clock) -> None:
        self.generation = 0
        self._header = header
        self._now = now
        self._tree = LogTree()
        self._listeners: list[Listener] = []
        self._lock = threading.RLock()

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._header.session_id

    @property
    def cwd(self) -> str:
        """Where the person worked when the session began."""
        return self._header.cwd

    @property
    def parent(self) -> str | None:
        """The log that this one was forked from, as a path or, for a log in memory, an id."""
        return self._header.parent

    @property
    def leaf(self) -> str | None:
        """The active branch's last entry, or None in an empty log."""
        return self._tree.leaf

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """The file that holds the log, or will; None for a log in memory."""

    def branch(self, custom_type: str | None = None) -> list[Entry]:
        """Return the active branch from the root, or its custom entries of one type."""
        with self._lock:
            self._refresh()
            path = self._tree.path_to(self._tree.leaf)
        return path if custom_type is None else [entry for entry in path if entry.custom_type == custom_type]

    def entries(self) -> list[Entry]:
        """Return every entry of every branch, in the order of writing."""
        with self._lock:
            self._refresh()
            return list(self._tree.entries)

    def count(self) -> int:
        """Return how many entries there are, those that another process wrote included."""
        with self._lock:
            self._refresh()
            return len(self._tree.entries)

    def append(self, guard: Guard, custom_type: str, data: Mapping[str, Any]) -> Appended:
        """Append a custom entry, or refuse.

        Raises:
            ConflictError: Session, generation or (when asked for) leaf are no longer the guard's.
            InvalidError: ``data`` is not made of JSON values.
            CapacityError: The entry or the log would be too long.
            BusyError: Another process held the log's lock for too long.
            UnsupportedVersionError: A newer release wrote the log.
            StorageError: It could not be written.
            UncertainError: It may have been written.
        """
        return self._add("custom", custom_type, data, guard)

    def message(self, role: str, content: Any, **more: Any) -> Appended:  # noqa: ANN401 - JSON
        """Append a message of the conversation; the first one creates the file. Errors are those of ``append``.

        Args:
            role: ``user``, ``assistant`` or ``tool``.
            content: JSON values: a text, or the host's own parts.
            more: Further fields of the entry's data.
        """
        return self._add("message", None, {"role": role, "content": content, **more})

    def record(self, kind: str, data: Mapping[str, Any]) -> Appended:
        """Append an entry of a type of the host's own, ``model_change`` for instance. Errors as for ``append``."""
        return self._add(kind, None, data)

    def branch_to(self, entry_id: str | None) -> None:
        """Make ``entry_id`` the leaf; None makes the next entry a root. Nothing is written until the next append.

        Raises:
            NotFoundError: There is no such entry.
        """
        with self._lock:
            self._refresh()
            self._tree.move(entry_id)

    def on_append(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every entry that is appended here, afterwards and in its thread; it must not raise.

        Returns:
            What takes the registration back.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def path_to(self, entry_id: str | None) -> list[Entry]:
        """Return the entries from the root to ``entry_id``; none for None.

        Raises:
            NotFoundError: There is no such entry.
        """
        with self._lock:
            self._refresh()
            return self._tree.path_to(entry_id)

    def _add(self, kind: str, custom_type: str | None, data: Mapping[str, Any], guard: Guard | None = None) -> Appended:
        values = plain(data)

        def make() -> Entry:
            # Called under the log's lock, with nothing between it and the append.
            if guard is not None:
                self._check(guard)
            return Entry(self._tree.fresh_id(), self._tree.leaf, _stamp(self._now()), kind, custom_type, values)

        with self._lock:
            entry, durable = self._commit(make, is_message=kind == "message")
        for listener in tuple(self._listeners):
            listener(entry)
        return Appended(entry.id, entry.parent_id, durable)

    def _check(self, guard: Guard) -> None:
        if guard.session_id != self.session_id:
            raise ConflictError(
                phrase("This belongs to another session; nothing was written."), reason="foreign_session"
            )
        if guard.generation != self.generation:
            raise ConflictError(
                phrase("The session was replaced meanwhile; nothing was written."), reason="stale_session"
            )
        if guard.leaf is not None and guard.leaf != (self._tree.leaf or ""):
            raise ConflictError(
                phrase("The conversation went on meanwhile; nothing was written."), reason="branch_moved"
            )

    @abstractmethod
    def _refresh(self) -> None:
        """Take in what other processes appended."""

    @abstractmethod
    def _commit(self, make: Callable[[], Entry], *, is_message: bool) -> tuple[Entry, bool]:
        """Make the entry and append it; say whether a file holds it."""


class MemoryJournal(SessionLog):
    """A log that ends with its process: for hosts without a session file, and for tests.

    Args:
        session_id: The session that guards must name.
        cwd: Where the person works.
        parent: The session that this one is forked from.
        now: The wall clock for timestamps.
    """

    def __init__(
        self, session_id: str, cwd: Path | str = "", *, parent: str | None = None, now: Clock = utc_now
    ) -> None:
        super().__init__(Header(session_id, _stamp(now()), str(cwd), parent), now)

    @property
    def path(self) -> None:
        """None: no file holds it."""
        return

    def fork(self, entry_id: str | None, *, session_id: str | None = None) -> MemoryJournal:
        """Return a new log that holds the path to ``entry_id``, under the same ids; None gives an empty one."""
        forked = MemoryJournal(session_id or _fresh_session(), self.cwd, parent=self.session_id, now=self._now)
        for entry in self.path_to(entry_id):
            forked._tree.add(entry)
        return forked

    def _refresh(self) -> None:
        """Nobody else appends."""

    def _commit(self, make: Callable[[], Entry], *, is_message: bool) -> tuple[Entry, bool]:  # noqa: ARG002
        entry = make()
        encode_entry(entry)  # the same bounds as in a file
        self._tree.add(entry)
        return entry, False


class JsonlJournal(SessionLog):
    """A log in a file of JSON lines; see ``logformat``.

    Several processes may append to one file: each continues the branch that it is on, and one that stands at the end of
    the file stays there while the others append.

    Args:
        path: The log. A file that is there is loaded; otherwise the first message creates it.
        session_id: The session's id. A file that is there must name the same.
        cwd: Where the person works.
        parent: The log that this one is forked from.
        lasting: Any entry creates the file, not only a message: for a session that is one command after another.
        now: The wall clock for timestamps.

    Raises:
        ConflictError: The file holds another session.
        CorruptError: The file has no valid header, or is no regular file.
        CapacityError: The file is too large to be read.
        StorageError: The file cannot be read.
    """

    def __init__(
        self,
        path: Path,
        session_id: str,
        cwd: Path | str,
        *,
        parent: str | None = None,
        lasting: bool = False,
        now: Clock = utc_now,
    ) -> None:
        super().__init__(Header(session_id, _stamp(now()), str(cwd), parent), now)
        self._path = path
        self._lasting = lasting
        self._pending: list[Entry] = []
        self._cursor: LogCursor | None = None
        logfile.sweep(path.parent)
        if logfile.status(path) is not None:
            self._load()

    @classmethod
    def open(cls, path: Path, *, now: Clock = utc_now) -> Self:
        """Return the log in ``path``, as the session that it names.

        Raises:
            NotFoundError: There is no such file.
            CorruptError: It has no valid header; for this and more see the class.
        """
        header = parse_header(logfile.read(path)[0].partition(b"\n")[0], str(path))
        return cls(path, header.session_id, header.cwd, now=now)

    @property
    def path(self) -> Path:
        """The file that holds the log, or will."""
        return self._path

    @property
    def stored(self) -> bool:
        """Whether the file exists: then, and only then, what is appended is durable."""
        return self._cursor is not None

    @property
    def damage(self) -> list[Damage]:
        """The lines of the file that could not be read and were isolated, for ``doctor``."""
        return [] if self._cursor is None else self._cursor.damage()

    def fork(self, entry_id: str | None, path: Path, *, session_id: str | None = None) -> JsonlJournal:
        """Return a new log at ``path`` with the path to ``entry_id``, under the same ids; None gives an empty one.

        Its file exists at once if a message is among the entries.

        Raises:
            NotFoundError: There is no such entry.
            ConflictError: Something stands at ``path`` already.
        """
        entries = self.path_to(entry_id)
        if logfile.status(path) is not None:
            raise _occupied(path)
        forked = JsonlJournal(path, session_id or _fresh_session(), self.cwd, parent=str(self._path), now=self._now)
        forked._adopt(entries)
        return forked

    def clone(self, path: Path, *, session_id: str | None = None) -> JsonlJournal:
        """Return a new log at ``path`` that holds the whole active branch; see ``fork``."""
        return self.fork(self.leaf, path, session_id=session_id)

    def _adopt(self, entries: list[Entry]) -> None:
        for entry in entries:
            self._tree.add(entry)
        self._pending = entries
        if any(entry.type == "message" for entry in entries):
            try:
                self._create([])
            except FileExistsError as error:
                raise _occupied(self._path) from error

    def _load(self) -> None:
        """Read the whole file, in the place of what is known of it."""
        cursor = LogCursor(self._path)
        if cursor.header.session_id != self.session_id:
            raise ConflictError(
                phrase("{path} holds another session.", path=self._path), reason="foreign_session", path=str(self._path)
            )
        tree, leaf = LogTree(), self._tree.leaf
        cursor.read(tree)
        if leaf is not None and leaf in tree:
            tree.leaf = leaf
        self._header, self._tree, self._cursor = cursor.header, tree, cursor

    def _refresh(self) -> None:
        if self._cursor is None:
            return
        match self._cursor.change():
            case "grown":
                self._cursor.read(self._tree)
            case "replaced":
                self._load()
            case "none":
                return

    def _commit(self, make: Callable[[], Entry], *, is_message: bool) -> tuple[Entry, bool]:
        if (self._cursor is None or self._pending) and logfile.status(self._path) is not None:
            self._join()
        if self._cursor is not None:
            return self._append(lambda: [make()])[0], True
        entry = make()
        encode_entry(entry)  # refused now, and not when the first message comes
        if not (is_message or self._lasting):
            self._pending.append(entry)
            self._tree.add(entry)
            return entry, False
        try:
            self._create([entry])
        except FileExistsError:
            # Another process was faster; the guard, if there is one, is compared with what that one wrote.
            self._join()
            return self._append(lambda: [make()])[0], True
        self._tree.add(entry)
        return entry, True

    def _create(self, entries: list[Entry]) -> None:
        lines = b"".join(map(encode_entry, [*self._pending, *entries]))
        logfile.create(self._path, encode_header(self._header) + lines)
        self._pending = []
        try:
            self._cursor = LogCursor(self._path)
        except PersonaError as error:
            # It stands on the disk, and the next entry finds it there.
            raise UncertainError(
                phrase("{path} was created, but could not be read back.", path=self._path), path=str(self._path)
            ) from error
        self._cursor.skip(lines)

    def _join(self) -> None:
        """Go on in a file that another process created for this session, behind what it holds."""
        if self._cursor is None:
            self._tree = LogTree()
            self._load()
        if self._pending:
            self._append(self._rebased)
        self._pending = []

    def _rebased(self) -> list[Entry]:
        """Return what is pending, attached to the leaf of the file; an uncertain creation may have written it."""
        parent, rebased = self._tree.leaf, []
        for entry in self._pending:
            if entry.id not in self._tree:
                rebased.append(replace(entry, parent_id=parent))
                parent = entry.id
        return rebased

    def _append(self, make: Callable[[], list[Entry]]) -> list[Entry]:
        """Append under the lock of the file, having read what others appended."""
        with logfile.locked(self._path) as file:
            self._refresh()
            if self._cursor is None or self._header.version > VERSION:
                raise UnsupportedVersionError(
                    phrase("{path} was written by a newer release; it is left untouched.", path=self._path),
                    path=str(self._path),
                )
            entries = make()
            if entries:
                self._cursor.append(file, b"".join(map(encode_entry, entries)))
        for entry in entries:
            self._tree.add(entry)
        return entries


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fresh_session() -> str:
    return secrets.token_hex(16)


def _occupied(path: Path) -> ConflictError:
    return ConflictError(
        phrase("{path} exists already; it was left alone.", path=path), reason="exists", path=str(path)
    )
