"""What is done once nobody waits: each step by itself, and none while memory is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import StorageError

if TYPE_CHECKING:
    from persona_mind.library import Mind

STEPS = ("recorder.settle", "facts.sweep", "backlog.sweep", "quiet.settled")


def settled(mind: Mind, monkeypatch: pytest.MonkeyPatch, broken: str | None = None) -> list[str]:
    """End a turn, and return which steps were taken; one of them may fail."""
    done: list[str] = []
    for step in STEPS:

        def act(*_: object, step: str = step) -> None:
            if step == broken:
                raise StorageError("the disk is full", path="x")
            done.append(step)

        service, _, name = step.partition(".")
        monkeypatch.setattr(getattr(mind._plugin.services, service), name, act)
    mind.blocks("hello")
    mind.settle()
    return done


@pytest.mark.parametrize("broken", [None, *STEPS])
def test_a_step_that_fails_costs_no_other(mind: Mind, monkeypatch: pytest.MonkeyPatch, broken: str | None) -> None:
    assert settled(mind, monkeypatch, broken) == [step for step in STEPS if step != broken]


def test_nothing_is_done_while_memory_is_off(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mind.call("mind.off").ok
    assert settled(mind, monkeypatch) == []
