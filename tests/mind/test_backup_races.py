"""Whatever another program does while a backup is made or brought back: what it was told is done can be found again."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import BusyError, PersonaError
from persona_store.layout import documents_below
from persona_store.locks import LOCKS, Locks
from persona_store.transaction import Profile
from tests.mind.test_erasing_meanwhile import texts
from tests.mind.test_safekeeping import OTHER, done, holding

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mind.conftest import Open

EFFECTS = ("open", "rename", "link", "unlink", "mkdir")
"""Between any two of these nothing happens that another program could see."""
SAID = "The gate opens at nine."
QUEUED = "Paint the mast."
FIRST = "Water the flowers."


class Moments:
    """The file effects of one thread: before one of them, another thread does something else and is waited for."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.count, self._at, self._act = 0, at, act
        self._mine = threading.get_ident()

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Look out for them; the other thread waits for no lock, since nobody would ever let it go."""
        for name in EFFECTS:
            self._watch(monkeypatch, name, getattr(os, name))
        take = Locks._acquire

        def acquire(locks: Locks, lock: Any, timeout: float, check: Any) -> Any:  # noqa: ANN401 - as in locks
            return take(locks, lock, timeout if threading.get_ident() == self._mine else 0.0, check)

        monkeypatch.setattr(Locks, "_acquire", acquire)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str, real: Callable[..., Any]) -> None:
        def effect(path: Any, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as in os
            # While a lock's own file is opened, a gate is held that keeps other threads of this process out.
            if threading.get_ident() == self._mine and LOCKS not in Path(path).parts:
                self._pass()
            return real(path, *arguments, **keywords)

        monkeypatch.setattr(os, name, effect)

    def _pass(self) -> None:
        self.count += 1
        if self.count - 1 == self._at:
            thread = threading.Thread(target=self._act)
            thread.start()
            thread.join()


class World:
    """A profile that one program backs up and restores while another one remembers and queues."""

    def __init__(self, opened: Open, profile: Path, tmp_path: Path) -> None:
        self.mind, self.other, self.profile = opened(), opened(), profile
        self.saved, self._kept_aside = tmp_path / "saved", tmp_path / "aside"
        self._forgotten = self.mind.remember(OTHER).id
        self._item = done(self.mind, "backlog.add", text=FIRST).id
        (self.backlog,) = (name for name in documents_below(profile) if name.startswith("backlog/"))
        self.acknowledged: list[str] = []

    def change(self) -> None:
        """Let memory and backlog differ from the backup."""
        self.mind.forget(self._forgotten)
        done(self.mind, "backlog.drop", id=self._item)

    def keep(self) -> None:
        """Remember how the profile stands, to begin from it again."""
        shutil.copytree(self.profile, self._kept_aside)

    def again(self) -> None:
        """Begin again."""
        shutil.rmtree(self.profile)
        shutil.copytree(self._kept_aside, self.profile)
        self.acknowledged = []

    def act(self) -> None:
        """Remember and queue; take note of what was acknowledged. Whoever is kept out was told nothing."""
        for verb, text in (("memory.remember", SAID), ("backlog.add", QUEUED)):
            answer = self.other.call(verb, {"text": text})
            assert answer.error is None or isinstance(answer.error, BusyError)
            if answer.error is None:
                self.acknowledged.append(text)

    def restore(self, **arguments: bool) -> Any:  # noqa: ANN401 - the verb's outcome
        return done(self.mind, "profile.restore", path=str(self.saved), yes=True, **arguments)

    def replaced(self) -> list[Path]:
        return list((self.profile / "backups").glob("before-restore-*"))


@pytest.fixture
def world(opened: Open, profile: Path, tmp_path: Path) -> World:
    return World(opened, profile, tmp_path)


def at_every_moment(
    world: World, monkeypatch: pytest.MonkeyPatch, begun: Callable[[], None], judge: Callable[[], None]
) -> set[str]:
    """Do something as often as it has moments, with something else at one of them; return what was acknowledged."""
    at, more, said = 0, True, set[str]()
    while more:
        world.again()
        passing = Moments(at, world.act)
        with monkeypatch.context() as watched:
            passing.watch(watched)
            begun()
        judge()
        said.update(world.acknowledged)
        at, more = at + 1, passing.count > at
    assert at > 20
    return said


def test_what_is_acknowledged_while_a_backup_comes_back_is_in_the_profile_or_in_what_was_replaced(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(world.mind, "profile.backup", path=str(world.saved))
    world.change()
    world.keep()
    brought: list[Any] = []

    def begun() -> None:
        brought.append(world.restore(newer=True))

    def judge() -> None:
        for text in world.acknowledged:
            kept = [place for place in world.replaced() if holding(place, text)]
            assert text in texts(world.profile) or kept
        back = brought[-1]
        left = {one.document for one in back.left}
        assert back.kept or left
        assert OTHER in texts(world.profile)
        assert world.backlog in left | set(back.documents)

    assert at_every_moment(world, monkeypatch, begun, judge) == {SAID, QUEUED}
    assert any(back.left for back in brought)


def test_what_is_acknowledged_while_a_backup_is_made_is_in_it_or_told_of_before_it_is_taken_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.keep()

    def begun() -> None:
        shutil.rmtree(world.saved, ignore_errors=True)
        done(world.mind, "profile.backup", path=str(world.saved))

    def judge() -> None:
        answer = world.mind.call("profile.restore", {"path": str(world.saved), "yes": True})
        assert answer.error is None or answer.error.reason == "newer"
        for text in world.acknowledged:
            assert text in texts(world.profile)
            assert answer.error is not None or holding(world.saved, text)
        if answer.error is not None:
            assert world.restore(newer=True).left == ()
        for text in world.acknowledged:
            assert text in texts(world.profile) or any(holding(place, text) for place in world.replaced())

    assert at_every_moment(world, monkeypatch, begun, judge) == {SAID, QUEUED}


def test_a_document_that_changes_while_a_backup_comes_back_stays_and_is_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(world.mind, "profile.backup", path=str(world.saved))
    world.change()
    real = Locks._acquire

    def acquire(locks: Locks, lock: Any, *arguments: Any) -> Any:  # noqa: ANN401 - as in locks
        if lock.path.name.startswith("backlog") and not world.acknowledged:
            world.acknowledged.append(QUEUED)
            done(world.other, "backlog.add", text=QUEUED)
        return real(locks, lock, *arguments)

    with monkeypatch.context() as watched:
        watched.setattr(Locks, "_acquire", acquire)
        answer = world.mind.call("profile.restore", {"path": str(world.saved), "yes": True, "newer": True})

    assert [one["reason"] for one in answer.details["left"]] == ["fingerprint"]
    assert ".json: changed meanwhile" in answer.text
    assert OTHER in texts(world.profile)
    assert QUEUED in texts(world.profile)
    again = world.restore(newer=True)
    assert (again.documents, again.left) == ((world.backlog,), ())
    assert holding(world.profile / "backups" / again.kept, QUEUED)


def test_what_changes_after_the_question_is_not_taken_back_unasked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that is acknowledged once it was judged that nothing is newer is seen under the lock."""
    mind = world.mind
    done(mind, "profile.backup", path=str(world.saved))
    real = Locks._acquire

    def acquire(locks: Locks, lock: Any, *arguments: Any) -> Any:  # noqa: ANN401 - as in locks
        if not world.acknowledged:
            world.acknowledged.append(SAID)
            world.other.remember(SAID)
        return real(locks, lock, *arguments)

    with monkeypatch.context() as watched:
        watched.setattr(Locks, "_acquire", acquire)
        refused = mind.call("profile.restore", {"path": str(world.saved), "yes": True})

    assert (refused.details["reason"], refused.changed) == ("newer", "no")
    assert SAID in texts(world.profile)
    assert world.replaced() == []


def test_a_restoration_stops_where_its_person_stops_owning_the_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The permit is asked before each change; what was replaced by then is told as not known."""
    done(world.mind, "profile.backup", path=str(world.saved))
    world.change()
    real = Profile.update

    def update(profile: Profile, *arguments: Any, check: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as there
        def gone() -> None:
            raise PersonaError("the owner changed", reason="owner")

        check.check = gone
        return real(profile, *arguments, check=check, **keywords)

    with monkeypatch.context() as watched:
        watched.setattr(Profile, "update", update)
        answer = world.mind.call("profile.restore", {"path": str(world.saved), "yes": True, "newer": True})

    assert (answer.details["reason"], answer.changed) == ("owner", "unknown")
    assert OTHER in texts(world.profile)
