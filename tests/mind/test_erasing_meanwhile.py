"""Whatever else is done while an erasure runs, nothing acknowledged is lost, and nothing that was erased is back."""

from __future__ import annotations

import errno
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import PersonaError, RefusedError
from persona_store.document import Document
from persona_store.layout import documents_below
from persona_store.locks import Locks
from persona_store.rows import RawCodec
from tests.mind.test_safekeeping import done, holding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.mind.conftest import Open

PRIVATE = "The summer house key is under the blue pot"
LONGER = f"{PRIVATE}, says the neighbour"
OTHER = "The staging database listens on port 5433."

Verb = tuple[str, dict[str, Any]]
MEANWHILE: dict[str, Verb] = {
    "the same": ("memory.remember", {"text": PRIVATE, "scope": "shared"}),
    "the same, insisting": ("memory.remember", {"text": PRIVATE, "insist": True}),
    "something longer": ("memory.remember", {"text": LONGER}),
    "its source": ("memory.remember", {"text": OTHER, "source": PRIVATE}),
    "its tag": ("memory.remember", {"text": OTHER, "tags": [PRIVATE]}),
    "promoting": ("memory.promote", {"id": "", "scope": "project"}),
    "the same item": ("backlog.add", {"text": PRIVATE, "again": True}),
    "the same item, insisting": ("backlog.add", {"text": PRIVATE, "insist": True, "again": True}),
    "a longer item": ("backlog.add", {"text": LONGER}),
    "a note on an item": ("backlog.done", {"id": "", "note": PRIVATE}),
    "restoring": ("profile.restore", {"path": "", "yes": True, "newer": True}),
    "importing": ("archive.import", {"path": ""}),
}


def texts(profile: Path) -> list[str]:
    """Return all that stands in a profile as a text of its own."""
    rows = [row.value for name in documents_below(profile) for row in Document(profile, name, RawCodec()).read().rows]
    return [str(row[word]) for row in rows if row for word in ("text", "note", "source") if word in row]


class World:
    """One profile, two programs on it, and the text to erase in several places of it."""

    def __init__(self, opened: Open, place: Path, profile: Path, name: str) -> None:
        self.mind, self.other, self.profile = opened(), opened(), profile
        self.id = self.mind.remember(PRIVATE, scope="stm").id
        self.item = done(self.mind, "backlog.add", text="Water the flowers.").id
        self._name, self._brought = name, str(place / "brought.zip")
        if name == "restoring":
            done(self.mind, "profile.backup", path=self._brought)
        if name == "importing":
            self.mind.remember(PRIVATE, scope="shared")
            done(self.mind, "archive.export", path=self._brought)
            done(self.mind, "memory.forget", id=self.id, scope="shared")

    def call(self) -> bool:
        """Perform the verb in the other program; return whether it was acknowledged."""
        verb, arguments = MEANWHILE[self._name]
        if "id" in arguments:
            arguments = arguments | {"id": self.item if verb == "backlog.done" else self.id}
        if "path" in arguments:
            arguments = arguments | {"path": self._brought}
        answer = self.other.call(verb, arguments)
        assert answer.error is None or isinstance(answer.error, PersonaError)
        return answer.error is None

    def judge(self, *, said: bool, erased: bool) -> None:
        """Hold what stands there against what was acknowledged."""
        stands = self.mind._plugin.services.facts.erased.stands(PRIVATE)
        there = texts(self.profile)
        arguments = MEANWHILE[self._name][1]
        if said and LONGER in arguments.values():
            assert LONGER in there
        if erased and stands:
            assert PRIVATE not in there
            assert LONGER in there or holding(self.profile, PRIVATE) == []
        elif said and erased:
            assert "insist" in arguments
            assert PRIVATE in there
        assert not self.mind._plugin.services.erasing.finish().changed

    def erase(self) -> bool:
        """Erase the text; return whether that was done, or refused since something else contains it."""
        answer = self.mind.call("memory.erase", {"id": self.id})
        assert answer.error is None or answer.error.reason == "contained"
        return answer.error is None


class Moments:
    """The moments at which something is about to take a lock: something else is done at one of them."""

    def __init__(self, at: int, act: Callable[[], bool]) -> None:
        self.count, self._at, self._act, self._busy = 0, at, act, False
        self.done = False

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Look out for them. What is done between two locks is seen from both sides, so one of them is enough."""
        real = Locks._acquire

        def acquire(locks: Locks, *arguments: Any) -> Any:  # noqa: ANN401 - as in locks
            self._pass()
            return real(locks, *arguments)

        monkeypatch.setattr(Locks, "_acquire", acquire)

    def _pass(self) -> None:
        if self._busy:
            return
        self._busy, now = True, self.count == self._at
        if now:
            self.done = self._act()
        self._busy, self.count = False, self.count + 1


@pytest.mark.parametrize("first", ["the erasure", "the other"])
@pytest.mark.parametrize("name", MEANWHILE)
def test_whatever_another_program_does_at_any_moment(
    opened: Open, tmp_path: Path, profile: Path, monkeypatch: pytest.MonkeyPatch, name: str, first: str
) -> None:
    """One is begun, the other is done whole while no lock is held, and the first goes on: at every such moment."""
    at, more = 0, True
    while more:
        place = tmp_path / str(at)
        place.mkdir()
        world = World(opened, place, profile, name)
        ours = first == "the erasure"
        begun, inside = (world.erase, world.call) if ours else (world.call, world.erase)
        passing = Moments(at, inside)
        with monkeypatch.context() as watched:
            passing.watch(watched)
            ended = begun()
        said, erased = (passing.done, ended) if ours else (ended, passing.done)
        world.judge(said=said, erased=erased)
        at, more = at + 1, passing.count > at
        shutil.rmtree(profile)
    assert at > 1


@pytest.mark.parametrize("point", ["erase._erase_document", "copies.sweep_backups", "erase._scrub_previous"])
@pytest.mark.parametrize("verb", ["memory.remember", "backlog.add"])
def test_what_contains_the_words_and_is_said_after_an_interruption_stays(
    mind: Mind, profile: Path, monkeypatch: pytest.MonkeyPatch, verb: str, point: str
) -> None:
    handle = mind.remember(PRIVATE).id
    with monkeypatch.context() as broken:
        full = OSError(errno.ENOSPC, "full")
        broken.setattr(f"persona_store.{point}", lambda *_: (_ for _ in ()).throw(full))
        with pytest.raises(PersonaError):
            done(mind, "memory.erase", id=handle)
    done(mind, verb, text=LONGER)

    assert mind._plugin.services.erasing.finish().number == 1

    assert texts(profile) == [LONGER]
    assert holding(profile, PRIVATE) == holding(profile, LONGER)


SOURCED: dict[str, Verb] = {
    "source": ("memory.remember", {"text": OTHER, "source": PRIVATE}),
    "tag": ("memory.remember", {"text": OTHER, "tags": ["house", PRIVATE.upper()]}),
    "item's tag": ("backlog.add", {"text": OTHER, "tags": [PRIVATE]}),
    "note": ("backlog.done", {"note": PRIVATE}),
    "note's source": ("notes.save", {"text": OTHER, "source": PRIVATE}),
}


@pytest.mark.parametrize("origin", ["user", "model", "tool"])
@pytest.mark.parametrize("field", SOURCED)
def test_an_erased_text_comes_back_in_no_other_field_either(mind: Mind, profile: Path, field: str, origin: Any) -> None:  # noqa: ANN401 - one of five
    item = done(mind, "backlog.add", text="Water the flowers.").id
    done(mind, "memory.erase", id=mind.remember(PRIVATE).id)
    verb, arguments = SOURCED[field]
    arguments = arguments | ({"id": item} if verb == "backlog.done" else {})

    answer = mind.call(verb, arguments, origin=origin)

    assert answer.details.get("reason") == "erased"
    assert holding(profile, PRIVATE) == []


def test_a_person_who_insists_gets_a_source_back_too_and_a_short_tag_is_nobodys(mind: Mind) -> None:
    for text in (PRIVATE, "gold"):
        done(mind, "memory.erase", id=mind.remember(text).id)

    mind.remember(OTHER, source=PRIVATE, insist=True)

    assert mind.remember(OTHER, source=PRIVATE, tags=["gold"]).id
    with pytest.raises(RefusedError):
        mind.remember(OTHER, source="gold")


@pytest.mark.parametrize("field", ["text", "somewhere"])
@pytest.mark.parametrize("verb", ["memory.remember", "backlog.add"])
def test_a_row_of_an_archive_that_nobody_here_can_read_does_not_bring_it_back(
    mind: Mind, profile: Path, tmp_path: Path, verb: str, field: str
) -> None:
    handle = done(mind, verb, text=PRIVATE).id
    (path,) = [profile / name for name in documents_below(profile)]
    document = json.loads(path.read_bytes())
    strange = document["entries"][0] | {"id": "ffffffffffff", "kind": "yet-unknown", "state": "yet-unknown"}
    strange |= {"text": OTHER, field: PRIVATE}
    document["entries"].append(strange)
    path.write_text(json.dumps(document, indent=2) + "\n")
    done(mind, "archive.export", path=str(tmp_path / "a.zip"))
    done(mind, "memory.erase", id=handle, everywhere=True)
    assert holding(profile, PRIVATE) == []

    came = done(mind, "archive.import", path=str(tmp_path / "a.zip"))

    assert (came.added, came.refused) == (0, 2)
    assert holding(profile, PRIVATE) == []


def test_an_erasure_is_not_done_while_a_document_of_a_newer_release_holds_the_words(
    opened: Open, mind: Mind, profile: Path
) -> None:
    opened("ben").remember(PRIVATE)
    path = profile / "memory/ltm/ben.json"
    ours = path.read_bytes()
    handle = mind.remember(PRIVATE).id
    newer = json.loads(ours) | {"version": 99}
    path.write_text(json.dumps(newer, indent=2) + "\n")

    (left,) = [one.path for one in done(mind, "memory.erase", id=handle).left if not one.path.endswith(".bak")]

    assert left == str(path)
    assert "erase_unfinished" in {finding.word for finding in mind.doctor().findings}
    again = done(mind, "memory.erase", id=handle)
    assert (again.what, again.finished, again.changed) == ("nothing", 0, "no")
    path.write_bytes(ours)
    assert mind._plugin.services.erasing.finish().number == 1
    assert holding(profile, PRIVATE) == []
    assert "erase_unfinished" not in {finding.word for finding in mind.doctor().findings}


@pytest.mark.parametrize("field", ["source", "tags"])
@pytest.mark.parametrize("way", ["restoring", "merging"])
def test_an_older_copy_does_not_bring_it_back_in_another_field(
    mind: Mind, profile: Path, tmp_path: Path, way: str, field: str
) -> None:
    other = done(mind, "memory.remember", text=OTHER, **{field: PRIVATE if field == "source" else [PRIVATE]}).id
    mind.remember("Water the flowers.")
    done(mind, "profile.backup", path=str(tmp_path / "backup"))
    older = (profile / "memory/ltm/Ann.json").read_bytes()
    mind.forget(other)
    done(mind, "memory.erase", id=mind.remember(PRIVATE).id)
    assert holding(profile, PRIVATE) == []

    if way == "restoring":
        assert done(mind, "profile.restore", path=str(tmp_path / "backup"), yes=True, newer=True).withheld == 1
    else:
        copy = profile / "memory/ltm/Ann (conflicted copy).json"
        copy.write_bytes(older)
        copy.chmod(0o600)
        assert [one.withheld for one in done(mind, "profile.merge").copies] == [1]

    assert holding(profile, PRIVATE) == []
    assert mind.recall("water flowers").count == 1


def test_a_note_whose_source_was_erased_is_shown_no_more(mind: Mind) -> None:
    done(mind, "notes.save", text=OTHER, source=PRIVATE)
    done(mind, "notes.save", text="Water the flowers.")

    done(mind, "memory.erase", id=mind.remember(PRIVATE).id)

    assert [line.shown.text for line in done(mind, "notes.list").lines] == ["Water the flowers."]
