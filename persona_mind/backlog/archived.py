"""The part of backlogs in an archive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_mind.backlog.merge import Merge, Places, further
from persona_mind.kernel.intake import ORIGIN, strings
from persona_mind.kernel.parts import Leaf
from persona_store import jsontext
from persona_store.document import Row
from persona_store.layout import documents_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.parts import Extent
    from persona_store.document import Document, Snapshot

_OWN: Final = "backlog/project.json"
_NAMED: Final = re.compile(r"backlog/at/([A-Za-z0-9_][A-Za-z0-9._-]{0,127})\.json", re.ASCII)


class BacklogPart:
    """The backlogs of an archive; see ``kernel.parts.Part``."""

    name = "backlog"
    version = 1

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog

    def leaves(self, extent: Extent) -> Iterator[Leaf]:
        """Return the project's backlog, all personas' items included, or every project's."""
        files = self._backlog.files
        if not extent.everything:
            if not extent.scope.project.home:
                yield from _leaf(_OWN, files.document(extent.scope.project).read())
            return
        for relative in documents_below(files.profile.root):
            folder, _, name = relative.rpartition("/")
            # A service that synchronises folders leaves copies under names that no project has; merging is theirs.
            if folder == "backlog" and _NAMED.fullmatch(leaf := f"backlog/at/{name}"):
                yield from _leaf(leaf, files.named(relative).read())

    def take(self, leaf: Leaf, intake: Intake) -> None:
        """Take in the backlog of one project."""
        document = self._place(leaf.name, intake)
        known = document.read().rows
        places = Places(known)
        rows: list[Row[Item]] = []
        for number, raw in enumerate(leaf.rows, 1):
            intake.tally.found += 1
            where = phrase("entry {number}", number=number)
            item = document.codec.decode(raw)
            if item is None:
                rows += [Row(raw, None)] if intake.admits(where, raw) else []
            else:
                at = places.of(item)
                old = None if at is None else known[at].value
                if old is not None and not further(old, item):
                    intake.tally.known += 1
                else:
                    rows += _judged(document, Row(raw, item), where, intake)
            intake.told()
        if intake.rehearse:
            intake.tally.added += len(rows)
        else:
            intake.write(rows, lambda part: self._put(document, part, intake))

    def _put(self, document: Document[Item], rows: Sequence[Row[Item]], intake: Intake) -> tuple[int, int, int]:
        change = Merge(document, rows, self._backlog.now(), intake.erased.without)
        self._backlog.files.profile.update(document, change, check=intake.permit)
        return change.added, change.renewed, change.erased

    def _place(self, name: str, intake: Intake) -> Document[Item]:
        if name == _OWN:
            if intake.scope.project.home:
                raise InvalidError(phrase("home is no project; import it where the project is"), reason="no_project")
            return self._backlog.files.document(intake.scope.project)
        match = _NAMED.fullmatch(name)
        if match is None:
            raise InvalidError(phrase("the backlog has no file of that name"), field="name")
        return self._backlog.files.named(f"backlog/{match[1]}.json")


def _judged(document: Document[Item], row: Row[Item], where: str, intake: Intake) -> list[Row[Item]]:
    """Return an item's row if it may come in; otherwise count what becomes of it."""
    item = row.value
    found = None if item is None else intake.passes(where, _texts(document, item, row.raw), item.tags, item.persona)
    if found is None or item is None:
        return []
    if found.word == "quarantined":
        intake.hold(where, found, "backlog.add", {"text": item.text, "tags": list(item.tags)})
        return []
    update = {"origin": ORIGIN, "approvals": None, "note_origin": ORIGIN if item.note else None}
    brought = item.model_copy(update={**update, "persona": intake.persona(item.persona)})
    return [document.revise(row, brought)]


def _texts(document: Document[Item], item: Item, raw: bytes) -> Iterator[tuple[str, str]]:
    yield "text", item.text
    yield from (("tags", tag) for tag in item.tags)
    if item.note:
        yield "note", item.note
    value, known = jsontext.decode_row(raw), document.codec.known()
    unknown = {name: held for name, held in value.items() if name not in known} if isinstance(value, dict) else {}
    yield from (("further fields", text) for text in strings(unknown))


def _leaf(name: str, snapshot: Snapshot[Item]) -> Iterator[Leaf]:
    if snapshot.rows:
        yield Leaf(name, tuple(row.raw for row in snapshot.rows), snapshot.updated_at, snapshot.sequence)
