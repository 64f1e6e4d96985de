"""A brief may hold any value; it never closes the memory of another persona."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_companion import discovery
from persona_companion.discovery import discover
from tests.support.desk import write_brief

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "x\0y",
    "\ud800",
    "\udcff",
    "x" * 60_000,
    "x/" * 3_000 + "x",
    "x" * 256,
    "\x9b31m",
    "\u2028",
    "1e999",
    "9" * 5_000,
)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value[:8]))
@pytest.mark.parametrize("key", ["promptFile", "prompt", "name", "description", "objective", "role", "model", "x"])
def test_no_value_of_one_brief_takes_another_down(
    agent_dir: Path, home: Path, personas: Path, tmp_path: Path, key: str, value: str
) -> None:
    project = tmp_path / "work" / "site"
    (project / ".git").mkdir(parents=True)
    write_brief(personas, "kiri")
    for folder in (personas, project / ".pi" / "personas"):
        bad = folder / "bad" / "brief.yml"
        bad.parent.mkdir(parents=True)
        fields = {"name": f"bad-{folder.parent.name}", key: value}
        bad.write_text("".join(f"{name}: {json.dumps(text)}\n" for name, text in fields.items()))
    catalogue = discover(agent_dir, project, home, trusted=True)
    assert "kiri" in [brief.name for brief in catalogue.briefs]
    assert [fault for fault in catalogue.faults if fault.fatal and not fault.line] == []
    texts = "".join(fault.text for fault in catalogue.faults)
    assert len(texts.encode()) < 2_000


def test_what_a_parser_or_the_system_cannot_take_is_one_brief_s_fault(
    agent_dir: Path, home: Path, personas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_brief(personas, "kiri")
    write_brief(personas, "bad")
    read = discovery.read_folder

    def failing(path: Path, *more: Any) -> object:  # noqa: ANN401 - passed on
        if path.parent.name == "bad":
            raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
        return read(path, *more)

    monkeypatch.setattr(discovery, "read_folder", failing)
    catalogue = discover(agent_dir, home, home, trusted=False)
    assert [brief.name for brief in catalogue.briefs] == ["kiri"]
    assert [fault.text for fault in catalogue.faults] == [
        "persona/personas/bad: it cannot be read (UnicodeEncodeError)"
    ]
