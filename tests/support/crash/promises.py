"""What a simulated mind has promised so far: what must be there, what must not, and where each file's count stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.support.crash.world import fact_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tests.support.crash.script import Step

Row = tuple[str, str, str]
"""A file, an id, and the persona where the file holds several."""
TWO_DAYS = timedelta(hours=48)


@dataclass
class Promises:
    """They are taken from answers, given up where an answer leaves it open, and judged by what is read."""

    held: dict[Row, datetime | None] = field(default_factory=dict)
    gone: set[Row] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)
    sequences: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def take(self, step: Step, line: Mapping[str, Any], *, single: bool) -> None:
        """Take what a step's answer promises."""
        if not single or line["changed"] == "unknown":
            self.release(step.text)
        elif line["ok"]:
            self._acknowledged(step, line)
        now = datetime.fromisoformat(line["now"])
        self.held = {row: ends for row, ends in self.held.items() if ends is None or ends > now}

    def _acknowledged(self, step: Step, line: Mapping[str, Any]) -> None:
        identity, ends = line["id"], datetime.fromisoformat(line["now"]) + TWO_DAYS
        match step.action:
            case "remember":
                self._hold(place(step.tier, identity, step.persona), ends if step.tier == "stm" else None)
            case "promote":
                self._hold(place("project", identity, step.persona), None)
                self._drop(place("stm", identity, step.persona))
            case "forget":
                for tier in ("persona", "shared", "project", "stm"):
                    self._drop(place(tier, identity, step.persona))
            case "add":
                self._hold(("backlog", identity, step.persona), ends)
            case "note":
                self.notes.add(step.text)

    def _hold(self, row: Row, ends: datetime | None) -> None:
        self.gone.discard(row)
        self.held[row] = ends

    def _drop(self, row: Row) -> None:
        self.held.pop(row, None)
        self.gone.add(row)

    def release(self, text: str) -> None:
        """Expect nothing of a text any more until the next answer about it."""
        identity = fact_id(text)
        # Items of the backlog have ids of their own; a text's item cannot be told by it.
        self.held = {row: ends for row, ends in self.held.items() if row[1] != identity and row[0] != "backlog"}
        self.gone = {row for row in self.gone if row[1] != identity}

    def judge(self, rows: Collection[Row], sequences: Mapping[str, int], log: str, now: datetime) -> None:
        """Compare what is there with what was promised."""
        self.held = {row: ends for row, ends in self.held.items() if ends is None or ends > now}
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
