"""A host in which reminders come due, and the file that they stand in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from persona_hooks.journal import MemoryJournal
from persona_mind.backlog.reminders import WAKE

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.cards import Card, Level
    from persona_hooks.ports import Session
    from persona_hooks.verbs import Answer
    from persona_host.runtime import Runtime
    from persona_mind.services import Services
    from tests.support.clock import ManualClock

CREATED = "2026-03-02T09:30:00.000Z"
T0 = 1_772_443_800_000


@dataclass
class Counting:
    """What a person was shown."""

    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    statuses: dict[str, str | None] = field(default_factory=dict)

    def notify(self, text: str, level: Level = "info") -> None:
        (self.warnings if level == "warning" else self.lines).append(text)

    def status(self, key: str, text: str | None) -> None:
        self.statuses[key] = text


@dataclass
class Keeper:
    """A host with a session in it."""

    runtime: Runtime
    mind: Services
    shown: Counting
    clock: ManualClock

    def open(self, cwd: Path, session_id: str = "s1", journal: MemoryJournal | None = None) -> Session:
        log = journal or MemoryJournal(session_id, cwd, now=self.clock.now)
        return self.runtime.open(log, session_id=session_id, cwd=cwd)

    def say(self, line: str) -> Answer:
        return self.runtime.command(line)

    def add(self, text: str, **more: Any) -> str:  # noqa: ANN401 - JSON values
        answer = self.runtime.tool("backlog", {"action": "add", "text": text, **more}, origin="user")
        assert answer.ok, answer.text
        return str(answer.details["id"])

    def cards(self) -> list[Card]:
        """The reminders in the session's log, as they are shown now."""
        entries = self.runtime.session.journal.branch(WAKE)
        found = [self.runtime.render(entry) for entry in entries]
        return [card for card in found if card is not None]

    def logged(self) -> str:
        return json.dumps([dict(entry.data) for entry in self.runtime.session.journal.entries()])


def item(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values
    """A row as the original writes it."""
    plain = {"id": "abc123abc123", "text": text, "state": "open", "tags": [], "createdAt": CREATED}
    return {**plain, "persona": "_default", "expiresAt": "2026-03-04T09:30:00.000Z", **more}


def plant(path: Path, *rows: dict[str, Any]) -> None:
    """Write a store as the original does."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    envelope = {"version": 1, "updatedAt": CREATED, "sequence": 7, "entries": list(rows)}
    path.write_text(json.dumps(envelope, indent=2) + "\n", encoding="utf-8")
    path.chmod(0o600)
    for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
        folder.chmod(0o700)


def entries(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["entries"])
