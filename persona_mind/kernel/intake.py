"""Taking in what another program or another profile holds: every row is judged by itself, many are written at once.

Whatever it says about its origin, what comes in this way is an import: a file can claim anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from persona_hooks.errors import PersonaError, UncertainError
from persona_hooks.speech import phrase
from persona_mind.kernel import labels
from persona_mind.kernel.admitting import QUARANTINED
from persona_store.jsontext import decode_row
from persona_store.tombstones import LONG_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from persona_hooks.verbs import Answer
    from persona_mind.kernel.access import Permit
    from persona_mind.kernel.erased import Erased
    from persona_mind.kernel.scope import Scope

T = TypeVar("T")

ORIGIN: Final = "import"
CHUNK: Final = 500
"""Rows that are written in one step: few enough to say how it goes on, many enough to be quick."""
MAX_PROBLEMS: Final = 20

Perform = Callable[[str, Mapping[str, Any]], "Answer"]
"""Performs a verb for the owner, as an import."""
Told = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one entry did not come in: where it stands, and what is wrong, without its text."""

    where: str
    what: str


@dataclass(slots=True)
class Tally:
    """What became of the entries of one source.

    Attributes:
        found: How many it holds.
        added: Written, or (in a rehearsal) to be written.
        renewed: Known, and what came in was later.
        known: Known, and left as it stands.
        refused: They break a rule, or were erased here.
        quarantined: A person has to approve them.
        failed: They could not be read or written.
        skipped: They are no memories, or were turned off where they come from.
        problems: The first of those that did not come in.
    """

    found: int = 0
    added: int = 0
    renewed: int = 0
    known: int = 0
    refused: int = 0
    quarantined: int = 0
    failed: int = 0
    skipped: int = 0
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, where: str, what: str) -> None:
        """Count an entry that may not come in."""
        self.refused += 1
        self._note(where, what)

    def fail(self, where: str, what: str, count: int = 1) -> None:
        """Count entries that cannot come in."""
        self.failed += count
        self._note(where, what)

    def _note(self, where: str, what: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(where, what))


@dataclass(frozen=True, slots=True)
class Ruling:
    """What admission says of all texts of one entry together; ``rule`` and ``field`` name the first that is broken."""

    word: Literal["admitted", "refused", "quarantined"]
    field: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Intake:
    """What a faculty needs to take something in.

    Attributes:
        scope: Whose, and where.
        permit: Asked before each lock and each rename.
        erased: What may not come back.
        perform: Performs a verb; what it refuses for want of a person's consent is held for that person.
        tally: What became of the entries.
        told: Called once for each entry.
        rehearse: Write nothing.
        own: What comes in belongs to the present owner, so that a person can approve it in the owner's name.
        former: The segment of the persona that the entries were written by, where they change hands.
    """

    scope: Scope
    permit: Permit
    erased: Erased
    perform: Perform
    tally: Tally
    told: Told
    rehearse: bool = False
    own: bool = True
    former: str = ""

    def persona(self, segment: str | None) -> str | None:
        """Return whose an entry is here."""
        return self.scope.segment if segment and segment == self.former else segment

    def passes(
        self, where: str, texts: Iterable[tuple[str, str]], tags: Iterable[str] = (), label: str | None = None
    ) -> Ruling | None:
        """Count an entry that does not come in by itself; return the ruling of one that may, or that may be held.

        Args:
            where: Where it stands.
            texts: Its texts with the names of their fields, the main one first.
            tags: Its tags, which are among the texts, too.
            label: The segment of the persona that it says it is of.
        """
        every = list(texts)
        beside = [text for name, text in every[1:] if name in {"source", "note"} or len(text) >= LONG_ENOUGH]
        if self.erased.stands(every[0][1], tags, beside):
            self.erased_here(where)
            return None
        if label and (rule := labels.broken(label)):
            self.tally.refuse(where, phrase("persona: {rule}", rule=rule))
            return None
        found = ruling(every)
        if found.word == "refused":
            self.tally.refuse(where, f"{found.field}: {found.rule}")
            return None
        return found

    def admits(self, where: str, raw: bytes) -> bool:
        """Return whether a row that this release cannot read may come in as it is; count it where it may not."""
        if self.erased.stands_in(raw):
            self.erased_here(where)
            return False
        found = ruling(("row", text) for text in strings(decode_row(raw)))
        if found.word != "admitted":
            self.tally.refuse(where, f"{found.field}: {found.rule}")
        return found.word == "admitted"

    def erased_here(self, where: str) -> None:
        """Count an entry that stays out since it was erased."""
        self.tally.refuse(where, phrase("it was erased here"))

    def hold(self, where: str, found: Ruling, verb: str, arguments: Mapping[str, Any]) -> None:
        """Let an entry wait for a person: the call that would write it is made, and refused."""
        if not self.own:
            self.tally.refuse(
                where,
                phrase(
                    "{field}: {rule}; import it as its own persona to approve it", field=found.field, rule=found.rule
                ),
            )
            return
        if self.rehearse:
            self.tally.quarantined += 1
            return
        answer = self.perform(verb, {name: value for name, value in arguments.items() if value})
        if answer.ok:
            # It had been approved before.
            self.tally.added += 1
        elif answer.details.get("reason") == QUARANTINED:
            self.tally.quarantined += 1
        else:
            self.tally.fail(where, answer.why)

    def write(self, rows: Sequence[T], put: Callable[[Sequence[T]], tuple[int, int, int]]) -> None:
        """Write rows a chunk at a time; ``put`` returns how many were added, were renewed, had been erased by then.

        Once something stands in the way, the rest is counted as failed; what went in before stays.

        Raises:
            UncertainError: The disk did not confirm what was written.
        """
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            try:
                added, renewed, erased = put(part)
            except UncertainError:
                raise
            except PersonaError as error:
                self.tally.fail(phrase("the rest"), error.message, len(rows) - start)
                return
            self.tally.added += added
            self.tally.renewed += renewed
            self.tally.refused += erased
            self.tally.known += len(part) - added - renewed - erased


def ruling(texts: Iterable[tuple[str, str]]) -> Ruling:
    """Return what admission says of the texts of one imported entry."""
    # The scanner takes a while to load, and most commands take nothing in.
    from persona_store.admission import Quarantined, Refused, admit  # noqa: PLC0415

    held: Ruling | None = None
    for name, text in texts:
        verdict = admit(text, ORIGIN)
        if isinstance(verdict, Refused):
            return Ruling("refused", name, verdict.rule)
        if isinstance(verdict, Quarantined) and held is None:
            held = Ruling("quarantined", name, verdict.rule)
    return held or Ruling("admitted")


def strings(value: JsonValue) -> Iterator[str]:
    """Yield every text in a JSON value, the names in it included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from strings(item)
