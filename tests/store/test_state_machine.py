"""Any sequence of changes, restarts and accidents leaves what a plain list would hold."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from persona_store.transaction import Profile
from tests.support.crash.documents import Item

if TYPE_CHECKING:
    from persona_store.document import Document

NAMES = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.text(max_size=20)
FOREIGN = (b'{"id": 1}', b"null", b'"text"', b'{"id":"z","text":"t","future":[1.0,{"k":"\\u00e9"}]}')


class DocumentMachine(RuleBasedStateMachine):
    """Two profiles on one directory stand for two processes; the model is a list of (id, text) and opaque rows."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.now = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
        self.rows: list[tuple[str, str] | bytes] = []
        self.previous: list[tuple[str, str] | bytes] | None = None
        self.sequence = 0

    @initialize()
    def open_both(self) -> None:
        self.here, self.there = self._open(), self._open()

    def _open(self) -> tuple[Profile, Document[Item]]:
        profile = Profile(self.directory / "persona-mind", lambda: self.now)
        return profile, profile.document("memory/ltm/elite.json", Item)

    def _update(self, elsewhere: bool, rows: list[tuple[str, str] | bytes]) -> None:  # noqa: FBT001 - drawn
        profile, document = self.there if elsewhere else self.here
        with profile.transaction() as transaction:
            done = transaction.update(
                document,
                lambda snapshot: [self._row(document, list(snapshot.rows), wanted) for wanted in rows],
            )
        if done.changed:
            self.previous, self.rows = self.rows, rows
            # A torn file may have lost its number: then the clock has to do, which may have gone back.
            least = int(self.now.timestamp() * 1000) if done.repaired else self.sequence + 1
            assert done.snapshot.sequence >= least
            self.sequence = done.snapshot.sequence

    @staticmethod
    def _row(document, rows, wanted):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN205 - rows of a document
        if isinstance(wanted, bytes):
            return next(row for row in rows if row.raw == wanted)
        identity, text = wanted
        held = next((row for row in rows if row.value is not None and row.value.id == identity), None)
        value = Item(id=identity, text=text)
        return document.row(value) if held is None else document.revise(held, value)

    @rule(elsewhere=st.booleans(), identity=NAMES, text=TEXTS)
    def put(self, elsewhere: bool, identity: str, text: str) -> None:  # noqa: FBT001 - drawn
        kept = [row for row in self.rows if row[0] != identity]
        self._update(elsewhere, [*kept, (identity, text)])

    @rule(elsewhere=st.booleans(), identity=NAMES)
    def drop(self, elsewhere: bool, identity: str) -> None:  # noqa: FBT001 - drawn
        self._update(elsewhere, [row for row in self.rows if row[0] != identity])

    @rule()
    def start_again(self) -> None:
        self.here = self._open()

    @rule(days=st.integers(-1000, 1000))
    def move_the_clock(self, days: int) -> None:
        self.now += timedelta(days=days)

    @rule(row=st.sampled_from(FOREIGN))
    def let_another_program_write(self, row: bytes) -> None:
        path = self.here[1].path
        if path.exists() and row not in self.rows:
            data = path.read_bytes()
            entries = b'"entries": [\n    ' if self.rows else b'"entries": ['
            if entries not in data:
                return
            extra = entries + row + (b",\n    " if self.rows else b"")
            path.write_bytes(data.replace(entries, extra, 1))
            self.rows = [row, *self.rows]

    @rule(keep=st.integers(0, 60))
    def tear(self, keep: int) -> None:
        path = self.here[1].path
        if path.exists() and self.previous is not None and path.with_name("elite.json.bak").exists():
            path.write_bytes(path.read_bytes()[:keep])
            self.rows = self.previous

    @invariant()
    def reading_shows_the_model(self) -> None:
        for _, document in (self.here, self.there):
            found = document.read().rows
            assert len(found) == len(self.rows)
            for row, wanted in zip(found, self.rows, strict=True):
                if isinstance(wanted, bytes):
                    assert row.raw == wanted
                else:
                    assert row.value is not None
                    assert (row.value.id, row.value.text) == wanted

    def teardown(self) -> None:
        shutil.rmtree(self.directory)


TestDocumentMachine = DocumentMachine.TestCase
TestDocumentMachine.settings = settings(max_examples=20, stateful_step_count=15)
pytestmark = pytest.mark.timeout(300)
