"""A profile written by the TypeScript original is opened as it is, and stays one that the original can open."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, ConfigDict, Field

from persona_hooks.errors import RefusedError
from persona_store import doctor
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
LTM = """{
  "version": 1,
  "updatedAt": "2026-02-27T18:04:11.902Z",
  "sequence": 41,
  "entries": [
    {
      "id": "5f0c1a2b3d4e",
      "kind": "preference",
      "text": "Tea — no sugar, \\"hot\\" \\\\ strong",
      "tags": [
        "drinks",
        "häuslich"
      ],
      "recordedAt": "2026-01-09T08:00:00.000Z",
      "lastSeenAt": "2026-02-27T18:04:11.902Z",
      "source": "user",
      "derivedFrom": []
    },
    {
      "id": "bad id with spaces",
      "kind": "unheard of",
      "text": 12
    },
    {
      "id": "0123456789ab",
      "kind": "fact",
      "text": "The port is 5433 🙂",
      "tags": [],
      "recordedAt": "2026-01-10T08:00:00.000Z",
      "lastSeenAt": "2026-01-10T08:00:00.000Z",
      "fromTheFuture": {
        "weight": 0.50,
        "nested": [
          {
            "a": 1e3
          }
        ]
      }
    }
  ]
}
"""


class Fact(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")
    kind: str
    text: str
    tags: tuple[str, ...]
    recorded_at: str = Field(alias="recordedAt")
    last_seen_at: str = Field(alias="lastSeenAt")


@pytest.fixture
def profile(agent_dir: Path) -> Profile:
    directory = agent_dir / "persona-mind/memory/ltm"
    directory.mkdir(parents=True)
    for made in (directory, directory.parent, directory.parent.parent):
        made.chmod(0o700)
    for path, text in {"elite.json": LTM, "elite.json.bak": LTM.replace('"sequence": 41', '"sequence": 40')}.items():
        (directory / path).write_text(text)
        (directory / path).chmod(0o600)
    return Profile(agent_dir / "persona-mind", lambda: NOW)


def test_it_is_read_without_being_touched(profile: Profile) -> None:
    document = profile.document("memory/ltm/elite.json", Fact)

    snapshot = document.read()

    assert [fact.id for fact in snapshot.values] == ["5f0c1a2b3d4e", "0123456789ab"]
    assert (snapshot.sequence, snapshot.invalid) == (41, 1)
    assert document.path.read_text() == LTM
    assert doctor.examine(profile) == []


def test_a_change_touches_its_row_and_the_head_only(profile: Profile) -> None:
    document = profile.document("memory/ltm/elite.json", Fact)
    with profile.transaction() as transaction:
        transaction.update(
            document,
            lambda there: [
                document.revise(row, row.value.model_copy(update={"text": "The port is 5434"}))
                if row.value is not None and row.value.id == "0123456789ab"
                else row
                for row in there.rows
            ],
        )

    text = document.path.read_text()
    expected = LTM.replace("2026-02-27T18:04:11.902Z", "2026-03-02T09:30:00.000Z", 1)
    expected = expected.replace('"sequence": 41', '"sequence": 42').replace("5433 🙂", "5434")
    expected = expected.replace("0.50", "0.5").replace("1e3", "1000.0")
    assert text == expected


def test_everything_unchanged_is_byte_for_byte_the_same(profile: Profile) -> None:
    document = profile.document("memory/ltm/elite.json", Fact)
    new = Fact(id="new", kind="fact", text="ü", tags=(), recordedAt="x", lastSeenAt="y")  # type: ignore[call-arg]
    with profile.transaction() as transaction:
        transaction.update(document, lambda there: [*there.rows, document.row(new)])

    body = LTM[LTM.index("[") : LTM.rindex("\n  ]")]
    assert body in document.path.read_text()
    assert json.loads(document.path.read_text())["entries"][-1]["text"] == "ü"
    assert re.search(r'"id": "new",\n      "kind": "fact",\n      "text": "ü"', document.path.read_text())


@pytest.mark.parametrize("name", ["Elite.json", "ELITE.json", "ann\N{COMBINING ACUTE ACCENT}.json"])
def test_a_name_that_some_disks_take_for_another_is_refused(profile: Profile, name: str) -> None:
    (profile.root / "memory/ltm" / unicodedata.normalize("NFC", "ann\N{COMBINING ACUTE ACCENT}.json")).touch(mode=0o600)
    document = profile.document(f"memory/ltm/{name}", Fact)

    with profile.transaction() as transaction, pytest.raises(RefusedError) as caught:
        transaction.update(document, lambda _: [document.row(_fact())])
    assert caught.value.reason == "name_collision"


def _fact() -> Fact:
    return Fact(id="a", kind="fact", text="t", tags=(), recordedAt="x", lastSeenAt="y")  # type: ignore[call-arg]
