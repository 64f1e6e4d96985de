"""Where no person waits at a prompt, a busy machine has more time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.dispatch import Dispatcher
from persona_hooks.policies import POLICIES
from persona_hooks.specs import hookimpl
from persona_host.oneshot import PATIENCE, opened

if TYPE_CHECKING:
    from persona_hooks.turn import Turn
    from persona_host.place import Place


class Watch:
    """Notes how much time it is given."""

    def __init__(self) -> None:
        self.given: list[float | None] = []

    @hookimpl
    def input(self, turn: Turn) -> None:
        self.given.append(turn.remaining)


def test_a_patient_host_gives_a_multiple_of_the_budget() -> None:
    watch = Watch()
    dispatcher = Dispatcher(clock=lambda: 100.0, patience=3.0)
    dispatcher.load([("watch", lambda: watch)])
    dispatcher.call("input", session=None, text="hello", source="interactive")
    dispatcher.close()
    [given] = watch.given
    assert given is not None
    assert abs(given - 3 * POLICIES["input"].budget) < 1e-9


def test_one_shot_commands_are_patient(place: Place) -> None:
    with opened(place) as (runtime, _):
        assert runtime.setup.patience == PATIENCE > 1
