"""From files to memories: what each file is, what stands in it, and what becomes of every entry."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import ConflictError, InvalidError, PersonaError, RefusedError
from persona_hooks.speech import phrase
from persona_mind.archive.container import MANIFEST, Archive, is_manifest, opened
from persona_mind.archive.entries import TELLING, Entry, Read
from persona_mind.archive.jsonforms import read_json
from persona_mind.archive.markdown import read_markdown
from persona_mind.archive.tree import READABLE
from persona_mind.facts.archived import Coming, take_in
from persona_mind.facts.model import MAX_SOURCE, LongFact
from persona_mind.kernel import clock, identity
from persona_mind.kernel.intake import Tally
from persona_mind.kernel.rowfields import MAX_TAG, MAX_TAGS, MAX_TEXT, units
from persona_mind.kernel.scope import SHARED_SEGMENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from persona_mind.archive.params import Format, Into
    from persona_mind.archive.tree import Tree
    from persona_mind.facts.files import FactFiles
    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.parts import Part

OURS: Final = "persona"
_PROGRAMS: Final = "chatgpt, claude, hermes, mem0, basic-memory, persona"


@dataclass(slots=True)
class Source:
    """One file, and what became of its entries."""

    name: str
    format: str
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for.

    Attributes:
        format: What the files are said to be.
        into: Where memories of other programs go.
        adopt: Another persona's archive becomes this persona's.
    """

    format: Format | None
    into: Into
    adopt: bool


class Importer:
    """Takes in one tree of files.

    Args:
        files: Where facts go.
        parts: The faculties that have a part in archives.
        intake: What they need; each source gets a tally of its own.
        now: When.
    """

    def __init__(self, files: FactFiles, parts: Sequence[Part], intake: Intake, now: datetime) -> None:
        self._files = files
        self._parts = {part.name: part for part in parts}
        self._intake = intake
        self._now = now

    def plan(self, tree: Tree, wish: Wish) -> Plan:
        """Read everything and take nothing in.

        Raises:
            CorruptError, UnsupportedVersionError: It is an archive of ours that cannot be opened.
            ConflictError: It is another persona's, and was not to be adopted.
            InvalidError: There is nothing in it that anybody could take in.
        """
        if wish.format in {None, OURS} and (top := _manifest_of(tree)) is not None:
            return Plan(archive=self._admitted(opened(_below(tree, top)), wish))
        if wish.format == OURS:
            raise InvalidError(phrase("{path}: this is no archive of ours.", path=tree.told), field="path")
        plan = Plan()
        for name, data in tree.files.items():
            read = _read(name, data, wish.format, meant=tree.single)
            if read is None:
                plan.ignored += 1
            else:
                plan.reads.append((name, read))
        plan.unread = {name: why for name, why in tree.unread.items() if tree.single or TELLING.search(name)}
        plan.ignored += len(tree.unread) - len(plan.unread)
        if not plan.reads and not plan.unread:
            raise InvalidError(
                phrase(
                    "{path}: no memories that this release knows were found there. Say what it comes from: "
                    "`persona import FILE --from PROGRAM`, with one of {programs}.",
                    path=tree.told,
                    programs=_PROGRAMS,
                ),
                field="path",
                reason="unknown_format",
            )
        return plan

    def take(self, plan: Plan, wish: Wish) -> list[Source]:
        """Take everything in, source by source; one that fails stops no other one."""
        if plan.archive is not None:
            return [self._leaf(plan.archive, name) for name in sorted(plan.archive.manifest.files)]
        sources = [self._foreign(name, read, wish.into) for name, read in plan.reads]
        for name, why in plan.unread.items():
            source = Source(name, "")
            source.tally.fail(phrase("the file"), why)
            sources.append(source)
        return sources

    def _admitted(self, archive: Archive, wish: Wish) -> Archive:
        manifest, scope = archive.manifest, self._intake.scope
        if not manifest.everything and manifest.segment != scope.segment and not wish.adopt:
            raise ConflictError(
                phrase(
                    "This archive is another persona's. Import it with that persona in use, or adopt it as this one's."
                ),
                reason="other_persona",
            )
        if manifest.everything and wish.adopt:
            raise RefusedError(phrase("An archive of all personas cannot be adopted by one."), reason="everything")
        return archive

    def _leaf(self, archive: Archive, name: str) -> Source:
        source = Source(name, OURS)
        manifest = archive.manifest
        part = self._parts.get(name.partition("/")[0])
        if part is None or manifest.parts.get(part.name, 0) > part.version:
            source.tally.fail(phrase("the file"), phrase("a newer release wrote it"), manifest.files[name].entries)
            return source
        former = "" if manifest.everything else manifest.segment or ""
        mine = (f"facts/ltm/{segment}.json" for segment in (self._intake.scope.segment, SHARED_SEGMENT))
        own = not manifest.everything or name in {*mine, "notes/session.json"}
        intake = replace(self._intake, tally=source.tally, own=own, former=former)
        try:
            part.take(archive.leaf(name), intake)
        except PersonaError as error:
            source.tally.fail(
                phrase("the file"), error.message, max(manifest.files[name].entries - source.tally.found, 1)
            )
        return source

    def _foreign(self, name: str, read: Read, into: Into) -> Source:
        source = Source(name, read.format)
        tally = source.tally
        tally.skipped += read.skipped
        for where, why in read.bad:
            tally.found += 1
            tally.fail(where, why)
        intake = replace(self._intake, tally=tally)
        document = self._files.document(into, intake.scope)
        coming: list[Coming] = []
        for entry in read.entries:
            try:
                coming.append(Coming(entry.where, self._fact(name, read.format, entry, into)))
            except ValueError as error:
                tally.found += 1
                tally.fail(entry.where, error.message if isinstance(error, PersonaError) else phrase("it is no fact"))
        try:
            take_in(self._files, into, document, coming, intake, later_counts=False)
        except PersonaError as error:
            tally.fail(phrase("the rest"), error.message, len(coming) - tally.found + len(read.bad))
        return source

    def _fact(self, name: str, form: str, entry: Entry, into: Into) -> LongFact:
        text = entry.text.strip()
        if not identity.normal_text(text):
            raise InvalidError(phrase("there is nothing in it"))
        if units(text) > MAX_TEXT:
            raise InvalidError(phrase("it is longer than {limit} characters", limit=MAX_TEXT))
        tags = tuple(tag.strip()[:MAX_TAG] for tag in entry.tags if tag.strip())[:MAX_TAGS]
        recorded = min(entry.at or self._now, self._now)
        seen = max(recorded, min(entry.seen or recorded, self._now))
        return LongFact(
            id=identity.content_id(identity.key(entry.kind, text, tags)),
            kind=entry.kind,
            text=text,
            tags=tags,
            recorded_at=clock.format(recorded),
            last_seen_at=clock.format(seen),
            persona=self._intake.scope.segment if into == "project" else None,
            source=f"{form}: {name}"[:MAX_SOURCE],
        )


@dataclass(slots=True)
class Plan:
    """What there is to take in.

    Attributes:
        archive: An archive of ours, or None.
        reads: What other files hold.
        unread: Files that could not be read.
        ignored: How many files hold no memories.
    """

    archive: Archive | None = None
    reads: list[tuple[str, Read]] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    ignored: int = 0

    @property
    def total(self) -> int:
        """How many entries there are."""
        if self.archive is not None:
            return sum(member.entries for member in self.archive.manifest.files.values())
        return sum(len(read.entries) for _, read in self.reads)


def _read(name: str, data: bytes, chosen: str | None, *, meant: bool) -> Read | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if chosen is None and not (meant and os.path.splitext(name)[1].lower() in READABLE):  # noqa: PTH122 - a name
            return None
        line = data.count(b"\n", 0, error.start) + 1
        return Read(chosen or "", bad=[(phrase("line {number}", number=line), phrase("it is not UTF-8"))])
    base = name.rpartition("/")[2]
    if base.lower().endswith((".json", ".jsonl")):
        # A whole export holds conversations, too; those are no memories.
        named = meant or chosen is not None or TELLING.search(base)
        return read_json(text, chosen) if named else None
    if meant and text.lstrip()[:1] in {"[", "{"} and (found := read_json(text, chosen)) is not None:
        return found
    return read_markdown(base, text, chosen, meant=meant)


def _manifest_of(tree: Tree) -> str | None:
    """Return what stands before the names of an archive's files; it may have been unpacked or packed again."""
    for name, data in tree.files.items():
        if name.rpartition("/")[2] == MANIFEST and is_manifest(data):
            return name.removesuffix(MANIFEST)
    return None


def _below(tree: Tree, top: str) -> Mapping[str, bytes]:
    return {name.removeprefix(top): data for name, data in tree.files.items() if name.startswith(top)}
