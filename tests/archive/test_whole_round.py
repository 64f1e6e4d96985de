"""Out, in, erase, in again, out, in: over every faculty, nothing is lost and nothing that was erased comes back."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.archive.test_export import done, fill, put_out, stored, take_in

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.archive.conftest import Open

WHAT = {
    "a private fact": "Ann likes tea.",
    "a shared fact": "Everybody uses tabs.",
    "a project's fact": "The build takes 4 minutes.",
    "a working fact": "The port is 5433 today.",
    "a note": "We look at the parser now.",
    "a backlog item": "Call the printers",
}


def ids(mind: Mind, text: str) -> list[str]:
    """Return the ids under which a text is known here, in whatever faculty."""
    facts = [line.fact.id for line in mind.recall(max=50).lines if line.fact.text == text]
    if facts:
        return facts
    listed = [*done(mind, "notes.list")["ids"], *done(mind, "backlog.list")["ids"]]
    listed += done(mind, "backlog.list", state="done")["ids"]
    verbs = ("notes.read", "backlog.list")
    return [one for one in listed if any(text in mind.call(verb, {"id": one}).text for verb in verbs)]


def holds(mind: Mind, text: str) -> bool:
    """Whether a text stands in any file of the profile, or in the session's notes."""
    root = mind._plugin.services.root
    files = any(text.encode() in path.read_bytes() for path in root.rglob("*") if path.is_file())
    return files or bool(ids(mind, text))


@pytest.mark.parametrize("text", WHAT.values(), ids=WHAT.keys())
def test_what_is_erased_between_two_moves_stays_out_and_all_else_goes_round(
    opened: Open, tmp_path: Path, text: str
) -> None:
    first, second, third = opened(), opened(profile="second"), opened(profile="third")
    fill(first)
    put_out(first, tmp_path / "whole.zip")
    assert take_in(second, tmp_path / "whole.zip").failed == 0
    assert stored(second) == stored(first)
    assert all(holds(second, other) for other in WHAT.values())

    for handle in ids(second, text):
        second.call("memory.erase", {"id": handle, "everywhere": True})
    assert not holds(second, text)
    again = take_in(second, tmp_path / "whole.zip")
    assert (again.added, again.renewed, again.failed) == (0, 0, 0)
    assert not holds(second, text)

    put_out(second, tmp_path / "rest.zip")
    with zipfile.ZipFile(tmp_path / "rest.zip") as archive:
        assert not any(text.encode() in archive.read(name) for name in archive.namelist())
    take_in(third, tmp_path / "rest.zip")
    assert stored(third) == {name: rows for name, rows in stored(second).items() if rows}
    assert [other for other in WHAT.values() if not holds(third, other)] == [text]


def test_what_was_erased_comes_in_again_only_where_it_was_never_erased(opened: Open, tmp_path: Path) -> None:
    first, second = opened(), opened(profile="second")
    fill(first)
    put_out(first, tmp_path / "whole.zip")
    for text in WHAT.values():
        for handle in ids(first, text):
            first.call("memory.erase", {"id": handle, "everywhere": True})
    assert not any(holds(first, text) for text in WHAT.values())
    assert take_in(first, tmp_path / "whole.zip").added == 0
    assert take_in(second, tmp_path / "whole.zip").added == 7
