"""What a simulated mind has promised so far: what must be there, what must not, and where each file's count stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.support.crash.shelves import about
from tests.support.crash.world import fact_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tests.support.crash.script import Step

Row = tuple[str, str, str]
"""A file, an id, and the persona where the file holds several."""
BRINGING = frozenset({"restore", "merge"})
"""Actions that bring rows of an earlier day."""
TWO_DAYS = timedelta(hours=48)


@dataclass
class Promises:
    """They are taken from answers, given up where an answer leaves it open, and judged by what is read.

    Attributes:
        held: What must be there, until when.
        gone: What was forgotten and has not come back since.
        notes: What the session's log must hold.
        sequences: Where each file's count stood.
        erased: Which texts were erased for good.
        doubtful: Which texts an erasure was tried on that may not be finished, or was taken back by insisting.
        broken: What was found broken.
    """

    held: dict[Row, datetime | None] = field(default_factory=dict)
    gone: set[Row] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    sequences: dict[str, int] = field(default_factory=dict)
    erased: set[int] = field(default_factory=set)
    doubtful: set[int] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    _about: dict[str, int] = field(default_factory=dict)

    def take(self, step: Step, line: Mapping[str, Any], *, single: bool) -> None:
        """Take what a step's answer promises."""
        if not single or (not line["ok"] and line["changed"] != "no"):
            self.interrupted(step, line)
        elif line["ok"]:
            self._acknowledged(step, line)
        self.broken += [f"text {number} was erased and is back" for number in self.erased if number in line["seen"]]
        self._expire(datetime.fromisoformat(line["now"]))

    def _expire(self, now: datetime) -> None:
        self.held = {row: ends for row, ends in self.held.items() if ends is None or ends > now}

    def _acknowledged(self, step: Step, line: Mapping[str, Any]) -> None:
        identity, now = line["id"], datetime.fromisoformat(line["now"])
        self._expire(now)
        ends = now + TWO_DAYS
        self._about[identity] = about(step.text)
        if step.action == "insist":
            self._insisted(about(step.text))
        if step.action in BRINGING:
            self._brought(step, line, sure=True)
        match step.action:
            case "remember" | "insist":
                self._hold(place(step.tier, identity, step.persona), ends if step.tier == "stm" else None)
            case "promote":
                self._hold(place("project", identity, step.persona), None)
                self._drop(place("stm", identity, step.persona))
            case "forget":
                self._forgotten(identity, step.persona)
            case "add":
                self._hold(("backlog", identity, step.persona), ends)
            case "note":
                self.notes.add(step.text)
            case "erase":
                self._erased(about(step.text), line)

    def _forgotten(self, identity: str, persona: str) -> None:
        working = place("stm", identity, persona)
        # One that is over is nobody's to forget, and lies there until it is swept.
        for tier in ("persona", "shared", "project", *(["stm"] if working in self.held else [])):
            self._drop(place(tier, identity, persona))

    def _hold(self, row: Row, ends: datetime | None) -> None:
        self.gone.discard(row)
        self.held[row] = ends

    def _drop(self, row: Row) -> None:
        self.held.pop(row, None)
        self.gone.add(row)

    def _insisted(self, number: int) -> None:
        if number in self.erased:
            self.doubtful.add(number)
        self.erased.discard(number)

    def _erased(self, number: int, line: Mapping[str, Any]) -> None:
        """Expect nothing of a text, and where it went and nothing was left, that it never comes back."""
        self._forsake(number)
        if line["what"] != "nothing" and not line["left"]:
            self.erased.add(number)
        else:
            self.doubtful.add(number)

    def _forsake(self, number: int) -> None:
        self.held = {row: ends for row, ends in self.held.items() if self._about.get(row[1]) != number}
        self.gone = {row for row in self.gone if self._about.get(row[1]) != number}

    def _brought(self, step: Step, line: Mapping[str, Any], *, sure: bool) -> None:
        """An older version was taken in beside the present one, or in its place."""
        coming: dict[Row, datetime | None] = {}
        for where, identity, persona, number, ends in line.get("rows", ()):
            self._about[identity] = number
            coming[where, identity, persona] = None if ends is None else datetime.fromisoformat(ends)
        self.gone -= coming.keys()
        if step.action == "restore" and "places" in line:
            self._restored(line["places"], coming, sure=sure)

    def _restored(self, places: Collection[str], coming: Mapping[Row, datetime | None], *, sure: bool) -> None:
        """Expect of the places that a backup knows what stands in it; where that is not sure, what stands in both."""
        kept = {row: coming.get(row, ends) for row, ends in self.held.items() if row[0] not in places or row in coming}
        self.held = {**kept, **coming} if sure else kept
        self.held = {row: ends for row, ends in self.held.items() if self._certain(row)}

    def _certain(self, row: Row) -> bool:
        """Whether no erasure may keep a row from coming back."""
        return self._about.get(row[1], -1) not in self.erased | self.doubtful

    def interrupted(self, step: Step, line: Mapping[str, Any]) -> None:
        """Expect no more than what holds whether a step was done or not."""
        if step.action in BRINGING:
            self._brought(step, line, sure=False)
            return
        self.release(step.text)
        if step.action == "erase":
            self.doubtful.add(about(step.text))
            self._forsake(about(step.text))
        elif step.action == "insist":
            self._insisted(about(step.text))

    def release(self, text: str) -> None:
        """Expect nothing of a text any more until the next answer about it."""
        identity = fact_id(text)
        # Items of the backlog have ids of their own; a text's item cannot be told by it.
        self.held = {row: ends for row, ends in self.held.items() if row[1] != identity and row[0] != "backlog"}
        self.gone = {row for row in self.gone if row[1] != identity}

    def judge(self, rows: Collection[Row], sequences: Mapping[str, int], log: str, now: datetime) -> None:
        """Compare what is there with what was promised."""
        self._expire(now)
        self.broken += [f"{row} was acknowledged and is lost" for row in self.held if row not in rows]
        self.broken += [f"{row} was forgotten and is back" for row in self.gone if row in rows]
        self.broken += [f"the note {text!r} is lost" for text in self.notes if text not in log]
        back = [name for name, number in self.sequences.items() if sequences.get(name, -1) < number]
        self.broken += [f"the sequence of {name} went back" for name in back]
        self.sequences = dict(sequences)


def place(tier: str, identity: str, persona: str) -> Row:
    """Where a fact of a tier stands."""
    match tier:
        case "persona":
            return (f"memory/ltm/{persona}.json", identity, "")
        case "shared":
            return ("memory/ltm/_shared.json", identity, "")
        case "project":
            return ("memory/project", identity, "")
        case _:
            return ("memory/stm", identity, persona)
