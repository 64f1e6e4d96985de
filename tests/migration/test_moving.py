"""The original's earlier files come in as they are, once, by what their rows say; the files stay as they were."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from persona_mind.kernel.identity import content_id, key, semantic
from persona_mind.kernel.scope import segment
from persona_mind.migration import moving
from persona_mind.migration.layouts import old_slug
from persona_mind.migration.moving import Moved, Mover
from persona_store.erase import Target, erase
from tests.migration.conftest import AT, LATER, entries, fact, item, plant, working

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.migration.conftest import Open

GOOD = "The staging port is 5433."


def everything(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def again(mind: Mind) -> Moved:
    """Move once more, and return what came of it."""
    plugin, session = mind._plugin.services, mind._session
    owner = plugin.access.owner(session)
    scope = plugin.access.scope(session, owner)
    mover = Mover(plugin.facts, plugin.backlog)
    return mover.move(lambda: plugin.moving.sources(session, scope), lambda: None)


def texts(path: Path) -> list[str]:
    return [row["text"] for row in entries(path)]


def test_all_three_kinds_of_files_come_in_and_stay_as_they_were(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    plant(old / "memory/stm/rocket.json", working("It is Tuesday."))
    plant(old / "backlog/rocket.json", item("Call the printers"))
    before = everything(old)

    mind = opened()

    assert texts(new / "memory/ltm/_default.json") == [GOOD]
    assert texts(new / "memory/stm/rocket.json") == ["It is Tuesday."]
    assert texts(new / "backlog/rocket.json") == ["Call the printers"]
    assert everything(old) == before
    assert mind.notices[0].startswith("Moved in 3 entries")
    second = again(mind)
    assert (second.scanned, second.skipped, second.added) == (0, 3, 0)


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(opened: Open, old: Path) -> None:
    source = plant(old / "memory/ltm/_default.json", fact(GOOD))
    mind = opened()
    assert again(mind).skipped == 1

    plant(source, fact(GOOD), fact("One more."))
    report = again(mind)

    assert (report.scanned, report.added, report.known) == (1, 1, 1)


def test_what_was_forgotten_since_stays_forgotten(opened: Open, old: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    mind = opened()
    mind.forget(content_id(key("note", GOOD, ())))
    assert opened().recall(scope="persona").total == 0


def test_a_file_comes_in_again_once_its_destination_is_gone(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    opened()
    for path in (new / "memory/ltm").iterdir():
        path.unlink()
    opened()
    assert texts(new / "memory/ltm/_default.json") == [GOOD]


def test_the_manifest_is_the_originals_and_tells_by_a_hash_what_came_in(opened: Open, old: Path, new: Path) -> None:
    source = plant(old / "memory/ltm/_default.json", fact(GOOD))
    opened()
    document = json.loads((new / ".legacy-import-v1.json").read_text("utf-8"))
    assert (document["version"], document["sequence"]) == (1, 1)
    [row] = document["entries"]
    status = source.stat()
    assert row | {"id": ""} == {
        "id": "",
        "source": str(source),
        "destination": str(new / "memory/ltm/_default.json"),
        "kind": "ltm",
        "size": str(status.st_size),
        "mtimeNs": str(status.st_mtime_ns),
        "ctimeNs": str(status.st_ctime_ns),
        "dev": str(status.st_dev),
        "ino": str(status.st_ino),
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
    }


def test_a_broken_file_is_told_by_name_and_stops_no_other_one(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    broken = old / "memory/ltm/broken.json"
    broken.write_text('{"version": 1, "entries": [', "utf-8")
    (old / "stray.json").write_text("{}", "utf-8")

    mind = opened()

    assert texts(new / "memory/ltm/_default.json") == [GOOD]
    assert [str(broken) in line for line in mind.notices] == [False, True]
    report = again(mind)
    assert (report.scanned, report.skipped, len(report.warnings)) == (1, 1, 1)


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
def test_a_file_that_the_disk_does_not_tell_about_is_named_and_brings_nothing_back(
    opened: Open, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    silent = plant(old / "memory/ltm/_default.json", fact(GOOD))
    mind = opened()
    mind.forget(content_id(key("note", GOOD, ())))
    plant(old / "memory/ltm/_shared.json", fact("It comes in all the same."))
    real = os.stat

    def stat(path: Any, **keywords: Any) -> os.stat_result:  # noqa: ANN401 - as in os
        if path == silent:
            raise OSError(code, os.strerror(code))
        return real(path, **keywords)

    with monkeypatch.context() as broken:
        broken.setattr(os, "stat", stat)
        report = again(mind)

    assert [str(silent) in line for line in report.warnings] == [True]
    assert (texts(new / "memory/ltm/_default.json"), texts(new / "memory/ltm/_shared.json")) == (
        [],
        ["It comes in all the same."],
    )
    assert again(mind).warnings == []


def test_a_torn_file_gives_its_previous_version_once_there_is_a_good_one(opened: Open, old: Path, new: Path) -> None:
    source = plant(old / "memory/ltm/_default.json", fact(GOOD))
    good = source.read_bytes()
    source.write_bytes(good[:40])
    plant(old / "memory/ltm/_default.json.bak")

    mind = opened()
    assert entries(new / "memory/ltm/_default.json") == []
    assert str(source) in mind.notices[0]

    (old / "memory/ltm/_default.json.bak").write_bytes(good)
    report = again(mind)
    assert (report.added, len(report.warnings)) == (1, 1)


def test_entries_that_cannot_be_read_stay_where_they_are_and_are_counted(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD), {"id": "odd"}, fact("It expires.", expiresAt=LATER))
    mind = opened()
    assert texts(new / "memory/ltm/_default.json") == [GOOD]
    assert "2 entries" in mind.notices[1]


def test_a_later_copy_here_is_kept_and_the_rest_comes_in(opened: Open, old: Path, new: Path) -> None:
    plant(new / "memory/ltm/_default.json", fact("Ann likes TEA.", lastSeenAt=LATER), fact("Only here."))
    plant(old / "memory/ltm/_default.json", fact("ann likes  tea."), fact("Only there."))

    mind = opened()

    assert texts(new / "memory/ltm/_default.json") == ["Ann likes TEA.", "Only here.", "Only there."]
    assert again(mind).added == 0


def test_a_later_copy_there_renews_what_is_here_under_its_id(opened: Open, old: Path, new: Path) -> None:
    first = "2026-01-01T00:00:00.000Z"
    plant(new / "memory/ltm/_default.json", fact("Ann likes tea.", id="kept", recordedAt=first, lastSeenAt=first))
    plant(old / "memory/ltm/_default.json", fact("Ann likes TEA.", lastSeenAt=LATER, source="there"))
    opened()
    [row] = entries(new / "memory/ltm/_default.json")
    assert (row["id"], row["text"], row["recordedAt"], row["source"]) == ("kept", "Ann likes TEA.", first, "there")


def test_facts_that_shared_an_old_id_both_come_in_under_ids_of_their_own(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact("A", tags=["a,b"]), fact("A", tags=["a", "b"]))
    opened()
    rows = entries(new / "memory/ltm/_default.json")
    assert len(rows) == len({row["id"] for row in rows}) == 2


def test_twins_under_two_forms_of_an_id_are_one_fact(opened: Open, old: Path, new: Path) -> None:
    plant(new / "memory/ltm/_default.json", fact("A", id="one", tags=["a,b"]))
    plant(old / "memory/ltm/_default.json", fact("A", id="two", tags=["a,b"]))
    opened()
    assert [row["id"] for row in entries(new / "memory/ltm/_default.json")] == ["one"]


def test_a_no_op_leaves_the_sequence(opened: Open, old: Path, new: Path) -> None:
    path = plant(new / "memory/ltm/_default.json", fact(GOOD))
    before = path.read_bytes()
    plant(old / "memory/ltm/_default.json", fact(GOOD))
    opened()
    assert path.read_bytes() == before


def test_the_state_that_got_further_counts_and_the_expiry_stays(opened: Open, old: Path, new: Path) -> None:
    plant(new / "backlog/rocket.json", item("Print", dueAtEpochMs=1_772_500_000_000, expiresAt=LATER))
    plant(old / "backlog/rocket.json", item("Print", state="done", note="it was"))
    opened()
    [row] = entries(new / "backlog/rocket.json")
    assert (row["state"], row["note"], row["expiresAt"]) == ("done", "it was", LATER)
    assert "dueAtEpochMs" not in row


def test_finished_work_is_never_reopened(opened: Open, old: Path, new: Path) -> None:
    path = plant(new / "backlog/rocket.json", item("Print", state="done"))
    before = path.read_bytes()
    plant(old / "backlog/rocket.json", item("Print"))
    opened()
    assert path.read_bytes() == before


def test_a_full_or_newer_destination_costs_only_its_own_source(opened: Open, old: Path, new: Path) -> None:
    plant(new / "memory/ltm/full.json", *(fact(f"Number {n}.", id=f"f{n}") for n in range(10_000)))
    plant(new / "memory/ltm/later.json", version=2)
    for name in ("_default", "full", "later"):
        plant(old / f"memory/ltm/{name}.json", fact(GOOD))

    mind = opened()

    assert texts(new / "memory/ltm/_default.json") == [GOOD]
    warned = [line for line in mind.notices if "Moving in" in line]
    assert [str(old / f"memory/ltm/{name}.json") in line for name, line in zip(("full", "later"), warned, strict=True)]
    assert "10000" in warned[0]
    assert again(mind).scanned == 2


def test_without_old_files_nothing_is_made(opened: Open, old: Path, new: Path) -> None:
    opened().recall()
    assert not old.exists()
    assert not new.exists()


def test_only_so_many_files_come_in_at_one_go(
    opened: Open, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "MAX_FILES", 2)
    for number in range(5):
        plant(old / f"memory/ltm/p{number}.json", fact(GOOD))
    mind = opened()
    come = [len(list((new / "memory/ltm").glob("p*.json")))]
    for _ in range(2):
        mind.inject("go on")
        job = mind._plugin.services.moving._job
        assert job is not None
        assert job.ended.wait(30)
        come.append(len(list((new / "memory/ltm").glob("p*.json"))))
    assert come == [2, 4, 5]


def test_what_was_erased_here_does_not_come_back(opened: Open, old: Path, new: Path) -> None:
    plugin = opened()._plugin.services
    erase(plugin.facts.files.profile, Target((GOOD,), (semantic(key("note", GOOD, ())),)))
    plant(old / "memory/ltm/_default.json", fact(GOOD, kind="gotcha"), fact("Another."))
    opened()
    assert texts(new / "memory/ltm/_default.json") == ["Another."]


@pytest.mark.parametrize("place", ["memory/ltm/_default.json", "backlog/any.json"])
def test_what_is_erased_while_it_moves_in_stays_out(
    opened: Open, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    row = item if place.startswith("backlog") else fact
    plant(old / place, row(GOOD), row("Another."))
    real = moving.Mover._merge

    def erased_meanwhile(mover: moving.Mover, *arguments: Any) -> int:  # noqa: ANN401 - passed through
        erase(mover._profile, Target((GOOD,), (semantic(key("note", GOOD, ())),)))
        return real(mover, *arguments)

    monkeypatch.setattr(moving.Mover, "_merge", erased_meanwhile)
    opened()

    assert texts(new / place) == ["Another."]


def test_unknown_fields_come_along_and_the_origin_is_an_import(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact(GOOD, weight={"of": 1}, origin="user"))
    opened()
    [row] = entries(new / "memory/ltm/_default.json")
    assert (row["weight"], row["origin"]) == ({"of": 1}, "import")


# --- older names


def aliased(home: Path, project: Path) -> Path:
    """Return another way to the project, whose older name is made of the way."""
    link = home / "way"
    link.symlink_to(project)
    return link


def test_a_projects_older_name_is_found_without_being_asked_for(
    opened: Open, old: Path, new: Path, home: Path, project: Path
) -> None:
    link = aliased(home, project)
    name = old_slug(link, home)
    plant(old / f"memory/stm/{name}.json", working("It is Tuesday."))
    plant(new / f"backlog/{name}.json", item("Call the printers"))
    before = everything(old)

    mind = opened(cwd=link)

    assert mind.recall(scope="stm").total == 1
    assert mind.call("backlog.list").details["count"] == 1
    assert everything(old) == before
    assert again(mind).added == 0


PERSONAS = [("Björn Q", "Bj-rn-Q"), ("Ann, the first", "Ann-the-first")]


@pytest.mark.parametrize(("persona", "name"), PERSONAS)
def test_a_personas_older_name_counts_only_where_a_person_says_so(
    persona: str, name: str, opened: Open, old: Path, new: Path
) -> None:
    plant(new / f"memory/ltm/{name}.json", fact(GOOD))
    plant(old / "memory/ltm/_default.json", fact("Nobody's."))
    mind = opened(persona)
    assert mind.recall(scope="persona").total == 0

    answer = mind.call("mind.migrate_persona")

    assert (answer.details["added"], answer.changed, answer.card.level) == (1, "yes", "warning")
    assert texts(new / f"memory/ltm/{segment(persona)}.json") == [GOOD]
    assert texts(new / "memory/ltm/_default.json") == ["Nobody's."]
    repeated = mind.call("mind.migrate_persona")
    assert (repeated.details["added"], repeated.changed, repeated.card.level) == (0, "no", "info")


def test_a_name_that_never_changed_has_no_older_one(opened: Open, old: Path, new: Path) -> None:
    plant(old / "memory/ltm/_default.json", fact("Nobody's."))
    for persona in ("日本", "ann", None):
        answer = opened(persona).call("mind.migrate_persona")
        assert answer.details["added"] == 0
    assert texts(new / "memory/ltm/_default.json") == ["Nobody's."]


def backlog_of(mind: Mind) -> str:
    project: Any = mind._plugin.services.access.project(mind._session)
    return f"backlog/{project.slug}.json"


def test_items_under_a_personas_older_name_become_its_own_and_nobody_elses_do(
    opened: Open, new: Path, old: Path
) -> None:
    relative = backlog_of(opened())
    plant(new / relative, item("Mine", persona="dave-q"), item("Another's", persona="erin", id="x"))
    mind = opened("dave q")
    assert [row["persona"] for row in entries(new / relative)] == [segment("dave q"), "erin"]
    assert mind.call("backlog.list").details["count"] == 1
    before = (new / relative).read_bytes()
    opened("dave q")
    assert (new / relative).read_bytes() == before
    assert not old.exists()


def test_items_of_a_persona_that_really_has_the_older_name_stay_its_own(opened: Open, new: Path, old: Path) -> None:
    opened("dave-q").remember("I am Dave.")
    relative = backlog_of(opened("dave-q"))
    plant(new / relative, item("Mine", persona="dave-q"))
    opened("dave q")
    assert [row["persona"] for row in entries(new / relative)] == ["dave-q"]
    assert AT
    assert not old.exists()
