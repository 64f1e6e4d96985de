"""An embedded host over the spy plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from persona_hooks.policies import POLICIES
from persona_host.embedded.host import EmbeddedHost
from persona_host.place import Place
from tests.support.cli import Persona
from tests.support.embedded import RecordingScreen, Spy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_hooks.specs import Room
    from tests.support.clock import ManualClock


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give hooks all the time they need: a busy machine must not turn a question into a dropped one."""
    for hook, policy in POLICIES.items():
        monkeypatch.setitem(POLICIES, hook, policy._replace(budget=30.0))


@pytest.fixture
def spy() -> Spy:
    return Spy()


@pytest.fixture
def screen() -> RecordingScreen:
    return RecordingScreen()


@pytest.fixture
def place(agent_dir: Path, home: Path, environ: dict[str, str], tmp_path: Path) -> Place:
    cwd = tmp_path / "project"
    cwd.mkdir()
    return Place(agent_dir, cwd, home, environ)


class Opener(Protocol):
    """Starts a host; every one is closed after the test."""

    def __call__(
        self, *, model: str | None = None, room: Room | None = None, at: Place | None = None
    ) -> EmbeddedHost: ...


@pytest.fixture
def open_host(place: Place, spy: Spy, screen: RecordingScreen, clock: ManualClock) -> Iterator[Opener]:
    hosts: list[EmbeddedHost] = []

    def opener(*, model: str | None = None, room: Room | None = None, at: Place | None = None) -> EmbeddedHost:
        host = EmbeddedHost.start(
            at or place, screen=screen, ui=screen, model=model, room=room, scheduler=clock, plugins=spy.plugins
        )
        hosts.append(host)
        return host

    yield opener
    for host in hosts:
        host.close()


@pytest.fixture
def persona(environ: dict[str, str], place: Place) -> Persona:
    return Persona(environ, place.cwd)
