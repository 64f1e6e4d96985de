"""What was forgotten after its old file came in stays forgotten, whatever happens around that file or its document."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import persona_mind
from persona_mind.kernel.identity import content_id, key
from tests.migration.conftest import fact, item, plant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.support.clock import ManualClock

FORGOTTEN = "The spare key is with the neighbour."
KEPT = "Short answers, please."
MANIFEST = "persona-mind/.legacy-import-v1.json"


class Machine:
    """One agent directory, into which an old file came, and from which one of its facts was forgotten since."""

    def __init__(self, agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> None:
        self.agent_dir, self._home, self._project, self._clock = agent_dir, home, project, clock
        self.source = plant(self._old, fact(FORGOTTEN), fact(KEPT))
        assert self.known() == {FORGOTTEN, KEPT}
        with self._opened() as mind:
            mind.forget(content_id(key("note", FORGOTTEN, ())))
            mind.remember("Something newer.")
        assert self.known() == {KEPT, "Something newer."}

    @property
    def _old(self) -> Path:
        return self.agent_dir / "pi-persona-mind/memory/ltm/_default.json"

    @property
    def live(self) -> Path:
        """The document that it went into."""
        return self.agent_dir / "persona-mind/memory/ltm/_default.json"

    @property
    def noted(self) -> list[dict[str, Any]]:
        """What the manifest says."""
        return list(json.loads((self.agent_dir / MANIFEST).read_text("utf-8"))["entries"])

    def _opened(self) -> Mind:
        mind = persona_mind.open(self.agent_dir, cwd=self._project, persona=None, now=self._clock.now, home=self._home)
        job = mind._plugin.services.moving._job
        assert job is None or job.ended.wait(30)
        return mind

    def known(self) -> set[str]:
        """Start once more, and return what is remembered then."""
        with self._opened() as mind:
            return {line.fact.text for line in mind.recall(scope="persona").lines}

    def as_an_earlier_release_noted(self) -> None:
        """Take out of the manifest what earlier releases and the original do not write."""
        path = self.agent_dir / MANIFEST
        document = json.loads(path.read_text("utf-8"))
        for row in document["entries"]:
            del row["sha256"]
        path.write_text(json.dumps(document), "utf-8")


def document_gone(machine: Machine) -> None:
    machine.live.unlink()


def another_name(machine: Machine) -> None:
    os.link(machine.source, machine.agent_dir.parent / "snapshot.json")


def other_rights(machine: Machine) -> None:
    machine.source.chmod(0o640)


def moved(machine: Machine) -> None:
    machine.agent_dir = machine.agent_dir.rename(machine.agent_dir.with_name("elsewhere"))


def copied(machine: Machine) -> None:
    place = machine.agent_dir.with_name("copy")
    machine.agent_dir = shutil.copytree(machine.agent_dir, place)


def reached_through_a_link(machine: Machine) -> None:
    link = machine.agent_dir.with_name("link")
    link.symlink_to(machine.agent_dir)
    machine.agent_dir = link


def restored_at_another_time(machine: Machine) -> None:
    data = machine.source.read_bytes()
    machine.source.unlink()
    machine.source.write_bytes(data)
    os.utime(machine.source, (1, 1))


AROUND = [document_gone, another_name, other_rights, moved, copied, reached_through_a_link, restored_at_another_time]


@pytest.fixture
def machine(agent_dir: Path, home: Path, project: Path, clock: ManualClock) -> Machine:
    """A file that came in, and a fact of it that was forgotten."""
    return Machine(agent_dir, home, project, clock)


@pytest.mark.parametrize("happen", AROUND)
def test_an_old_file_whose_words_did_not_change_does_not_come_in_again(
    machine: Machine, happen: Callable[[Machine], None]
) -> None:
    happen(machine)

    assert FORGOTTEN not in machine.known()
    assert KEPT in machine.known()


@pytest.mark.parametrize("happen", [happen for happen in AROUND if happen is not restored_at_another_time])
def test_what_an_earlier_release_noted_counts_as_long_as_size_and_time_agree(
    machine: Machine, happen: Callable[[Machine], None]
) -> None:
    machine.as_an_earlier_release_noted()

    happen(machine)

    assert FORGOTTEN not in machine.known()


@pytest.mark.parametrize("old_note", [False, True])
@pytest.mark.parametrize("happen", [another_name, moved, copied])
def test_a_file_that_did_change_comes_in_wherever_it_lies_by_now(
    machine: Machine,
    happen: Callable[[Machine], None],
    old_note: bool,  # noqa: FBT001 - a parameter
) -> None:
    if old_note:
        machine.as_an_earlier_release_noted()
    happen(machine)
    plant(machine._old, fact(KEPT), fact("One more."))

    assert "One more." in machine.known()
    assert FORGOTTEN not in machine.known()
    (noted,) = machine.noted
    assert noted["source"] == str(machine._old)


def test_a_change_that_keeps_size_and_time_is_told_by_the_hash(machine: Machine) -> None:
    status = machine.source.stat()
    machine.source.write_bytes(machine.source.read_bytes().replace(KEPT.encode(), KEPT[::-1].encode()))
    os.utime(machine.source, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert KEPT[::-1] in machine.known()


def test_rows_of_the_manifest_that_name_no_file_stay_and_hide_none(machine: Machine) -> None:
    path = machine.agent_dir / MANIFEST
    document = json.loads(path.read_text("utf-8"))
    strange = [
        {"id": "1"},
        {"id": "2", "kind": "ltm", "source": 3},
        {"kind": "shelf", "source": "/a", "destination": "/b"},
    ]
    path.write_text(json.dumps({**document, "entries": [*strange, *document["entries"]]}), "utf-8")
    assert FORGOTTEN not in machine.known()

    plant(machine.agent_dir / "pi-persona-mind/backlog/app-0123456789abcdef01234567.json", item("Water the flowers."))
    machine.known()

    assert len(machine.noted) == len(strange) + 2
    assert all(row in machine.noted for row in strange)
