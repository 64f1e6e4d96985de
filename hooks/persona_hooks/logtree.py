"""The tree of a session log, in memory: entries, branches, the leaf."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from persona_hooks.errors import NotFoundError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from persona_hooks.ports import Entry


class LogTree:
    """Entries in the order of writing, and the branch that is active.

    Attributes:
        entries: Every entry of every branch. Only ``add`` changes it.
        leaf: The active branch's last entry; None in an empty log, or where a new root is about to be written.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.leaf: str | None = None
        self._by_id: dict[str, Entry] = {}

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._by_id

    @property
    def last(self) -> str | None:
        """The entry that was written last, on whichever branch."""
        return self.entries[-1].id if self.entries else None

    def add(self, entry: Entry) -> None:
        """Append an entry of our own: it becomes the leaf."""
        self._insert(entry)
        self.leaf = entry.id

    def follow(self, entry: Entry) -> str | None:
        """Append an entry that was read from a file; a leaf that stood at the end stays at the end.

        Returns:
            What is wrong with it, as a reason of ``logformat.Damage``.
        """
        if entry.id in self:
            return "doubled_id"
        problem = None
        if entry.parent_id is not None and entry.parent_id not in self:
            # The line that held its parent is lost. The entry before it is the likeliest one, and without one the
            # whole conversation up to here would drop out of the branch.
            entry, problem = replace(entry, parent_id=self.last), "unknown_parent"
        at_end = self.leaf == self.last
        self._insert(entry)
        if at_end:
            self.leaf = entry.id
        return problem

    def move(self, entry_id: str | None) -> None:
        """Make an entry the leaf; None makes the next one a root.

        Raises:
            NotFoundError: There is no such entry.
        """
        if entry_id is not None and entry_id not in self:
            raise NotFoundError(phrase("There is no entry of that id in this session."), field="entry_id")
        self.leaf = entry_id

    def path_to(self, entry_id: str | None) -> list[Entry]:
        """Return the entries from the root to ``entry_id``; none for None.

        Raises:
            NotFoundError: There is no such entry.
        """
        if entry_id is not None and entry_id not in self:
            raise NotFoundError(phrase("There is no entry of that id in this session."), field="entry_id")
        path: list[Entry] = []
        while entry_id is not None:
            entry = self._by_id[entry_id]
            path.append(entry)
            entry_id = entry.parent_id
        return path[::-1]

    def fresh_id(self) -> str:
        """Return an id that no entry has."""
        while (fresh := secrets.token_hex(4)) in self:
            continue
        return fresh

    def _insert(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._by_id[entry.id] = entry
