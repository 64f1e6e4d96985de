"""The part of facts in an archive, and how facts of other programs come in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase
from persona_mind.facts.merge import Merge, identity
from persona_mind.facts.model import TIERS, Fact, LongFact, Tier, WorkingFact
from persona_mind.kernel.intake import ORIGIN, strings
from persona_mind.kernel.parts import Leaf
from persona_mind.kernel.scope import SHARED_SEGMENT
from persona_store import jsontext
from persona_store.document import Row
from persona_store.layout import documents_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from persona_mind.facts.files import FactFiles
    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.parts import Extent
    from persona_store.document import Document, Snapshot

_PLACES: Final = {"ltm": "memory/ltm", "project": "memory/project", "stm": "memory/stm"}
_NAMED: Final = re.compile(r"facts/(ltm|project|stm)/([A-Za-z0-9_][A-Za-z0-9._-]{0,127})\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coming:
    """A fact on its way in.

    Attributes:
        where: Where it stands in its source.
        fact: The fact; its origin does not count.
        raw: Its row in an archive, which may have fields that this release does not know.
    """

    where: str
    fact: Fact
    raw: bytes = b""


class FactsPart:
    """The facts of an archive; see ``kernel.parts.Part``."""

    name = "facts"
    version = 1

    def __init__(self, files: FactFiles) -> None:
        self._files = files

    def leaves(self, extent: Extent) -> Iterator[Leaf]:
        """Return the tiers that the owner sees, or every file."""
        if extent.everything:
            yield from self._every()
            return
        tiers: Sequence[Tier] = ("persona", "shared") if extent.scope.project.home else TIERS
        for tier, document in self._files.documents(extent.scope, tiers):
            yield from _leaf(f"facts/{tier}.json", document.read())

    def take(self, leaf: Leaf, intake: Intake) -> None:
        """Take in one tier, or one file of another persona or project."""
        tier, document = self._place(leaf.name, intake)
        coming: list[Coming] = []
        opaque: list[Row[Fact]] = []
        for number, raw in enumerate(leaf.rows, 1):
            fact = document.codec.decode(raw)
            if fact is not None:
                coming.append(Coming(phrase("entry {number}", number=number), fact, raw))
            elif intake.admits(phrase("entry {number}", number=number), raw):
                opaque.append(Row(raw, None))
        intake.tally.found += len(leaf.rows) - len(coming)
        take_in(self._files, tier, document, coming, intake)
        if opaque and not intake.rehearse:
            intake.write(opaque, lambda part: _put(self._files, document, part, intake))

    def _every(self) -> Iterator[Leaf]:
        root = self._files.profile.root
        for relative in documents_below(root):
            place, _, name = relative.rpartition("/")
            word = next((word for word, folder in _PLACES.items() if folder == place), None)
            # A service that synchronises folders leaves copies under names that no persona has; merging is theirs.
            if word is not None and _NAMED.fullmatch(leaf := f"facts/{word}/{name}"):
                yield from _leaf(leaf, self._files.named(relative).read())

    def _place(self, name: str, intake: Intake) -> tuple[Tier, Document[Fact]]:
        for tier in TIERS:
            if name == f"facts/{tier}.json":
                if tier in {"project", "stm"} and intake.scope.project.home:
                    raise InvalidError(
                        phrase("home is no project; import it where the project is"), reason="no_project"
                    )
                return tier, self._files.document(tier, intake.scope)
        match = _NAMED.fullmatch(name)
        if match is None:
            raise InvalidError(phrase("facts have no file of that name"), field="name")
        word, stem = match.groups()
        tiers: dict[str, Tier] = {"ltm": "persona", "project": "project", "stm": "stm"}
        tier = "shared" if (word, stem) == ("ltm", SHARED_SEGMENT) else tiers[word]
        return tier, self._files.named(f"{_PLACES[word]}/{stem}.json")


def take_in(
    files: FactFiles,
    tier: Tier,
    document: Document[Fact],
    coming: Iterable[Coming],
    intake: Intake,
    *,
    later_counts: bool = True,
) -> None:
    """Judge facts one by one, write those that may come in, and hold those that need a person.

    Args:
        files: The profile's.
        tier: Where they go.
        document: The file of that tier.
        coming: The facts.
        intake: What becomes of them is counted there.
        later_counts: Let a later copy renew a known fact; without it what is known stays as it is.
    """
    known = {identity(fact): fact for fact in document.read().values}
    rows: list[Row[Fact]] = []
    for one in coming:
        intake.tally.found += 1
        fact = _brought(one.fact, intake)
        old = known.get(identity(fact))
        if old is not None and not (later_counts and fact.seen > old.seen):
            intake.tally.known += 1
        elif (found := intake.passes(one.where, _texts(one, document), fact.tags, fact.persona)) is not None:
            if found.word == "quarantined":
                intake.hold(one.where, found, "memory.remember", _call(fact, tier))
            else:
                rows.append(document.revise(Row(one.raw, None), fact) if one.raw else document.row(fact))
                known[identity(fact)] = fact
        intake.told()
    if intake.rehearse:
        intake.tally.added += len(rows)
    else:
        intake.write(rows, lambda part: _put(files, document, part, intake))


def _put(files: FactFiles, document: Document[Fact], rows: Sequence[Row[Fact]], intake: Intake) -> tuple[int, int, int]:
    with files.profile.transaction(intake.permit) as transaction:
        # Once more under the lock: an erasure may have begun since they were judged.
        change = Merge(document, intake.erased.without(rows))
        transaction.update(document, change)
    return change.added, change.renewed, len(rows) - len(change.coming)


def _brought(fact: Fact, intake: Intake) -> Fact:
    """Return the fact as it is to be stored: an import, with no approval, of whoever it belongs to here."""
    update = {"origin": ORIGIN, "host": None, "approvals": None, "persona": intake.persona(fact.persona)}
    kind = WorkingFact if fact.expires_at is not None else LongFact
    return kind(**{**fact.model_dump(), **update})


def _texts(one: Coming, document: Document[Fact]) -> Iterator[tuple[str, str]]:
    fact = one.fact
    yield "text", fact.text
    yield from (("tags", tag) for tag in fact.tags)
    if fact.source:
        yield "source", fact.source
    if one.raw:
        value = jsontext.decode_row(one.raw)
        known = document.codec.known()
        unknown = {name: item for name, item in value.items() if name not in known} if isinstance(value, dict) else {}
        yield from (("further fields", text) for text in strings(unknown))


def _call(fact: Fact, tier: Tier) -> dict[str, object]:
    return {"text": fact.text, "kind": fact.kind, "scope": tier, "tags": list(fact.tags), "source": fact.source}


def _leaf(name: str, snapshot: Snapshot[Fact]) -> Iterator[Leaf]:
    if snapshot.rows:
        yield Leaf(name, tuple(row.raw for row in snapshot.rows), snapshot.updated_at, snapshot.sequence)
