"""Two versions of one row, as two machines wrote them: what makes them one row, and what both come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from persona_mind.backlog import merge as items
from persona_mind.backlog.files import BacklogFiles
from persona_mind.facts import merge as facts
from persona_mind.facts.files import FactFiles
from persona_mind.kernel.identity import key, semantic
from persona_mind.quarantine import files as quarantine
from persona_mind.quarantine import merge as calls
from persona_store.rows import RawCodec, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_store.document import Document
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile

    Fields = dict[str, JsonValue]

T = TypeVar("T")


def identity(row: Mapping[str, Any]) -> str | None:
    """Return what makes a row this row and no other in its file; None where only its bytes do."""
    if isinstance(row.get("verb"), str) and isinstance(row.get("waits"), list) and isinstance(row.get("id"), str):
        return f"held call {row['id']}"
    text, tags = row.get("text"), row.get("tags", [])
    if not isinstance(text, str) or not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return None
    if "kind" in row:
        # Several personas may each have recorded the same for now.
        owner = row.get("persona") if "expiresAt" in row else None
        return f"{semantic(key(str(row['kind']), text, tags))}{owner}"
    return f"{semantic(key('backlog', text, tags))}{row.get('persona')}{row.get('createdAt')}"


class Versions:
    """Settles the rows of one profile's documents. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._facts = FactFiles(profile)
        self._backlogs = BacklogFiles(profile)
        self._held = quarantine.document(profile)

    def settled(self, relative: str, old: Row[Fields], new: Row[Fields]) -> Row[Fields] | None:
        """Return the row that the one that stands and the one that comes in come to; None where no rule tells.

        None tells of rows that this release cannot read, nor where the new one brings what only a later release knows.
        """
        if relative == quarantine.FILE:
            return _one(self._held, calls.reconciled, old, new)
        match relative.split("/"):
            case ["memory", _, _]:
                return _one(self._facts.named(relative), facts.reconciled, old, new)
            case ["backlog", _]:
                return _one(self._backlogs.named(relative), items.reconciled, old, new)
            case _:
                return None


def _one(
    document: Document[T], rule: Callable[[T, T], T | None], old: Row[Fields], new: Row[Fields]
) -> Row[Fields] | None:
    decode = document.codec.decode
    there, coming = decode(old.raw), decode(new.raw)
    if there is None or coming is None or _beyond(document, new) != _beyond(document, old):
        return None
    one = rule(there, coming)
    if one is None:
        return None
    raw = document.revise(Row(old.raw, there), one).raw
    return Row(raw, RawCodec().decode(raw))


def _beyond(document: Document[T], row: Row[Fields]) -> dict[str, JsonValue]:
    known = document.codec.known()
    return {name: value for name, value in (row.value or {}).items() if name not in known}
