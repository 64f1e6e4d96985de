"""The note of what is still being erased, where this release does not understand it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import CorruptError, RefusedError, UnsupportedVersionError
from persona_mind.kernel.unfinished import FILE, UnfinishedErasures
from tests.mind.test_safekeeping import OTHER, PRIVATE, done

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_mind.library import Mind

Fields = dict[str, Any]

NEWER: dict[str, Callable[[list[Fields]], Any]] = {
    "one more field": lambda begun: [{**one, "since": "2027-01-01"} for one in begun],
    "a field less": lambda begun: [{name: one[name] for name in one if name != "keys"} for one in begun],
    "another kind of field": lambda begun: [{**one, "texts": {"plain": one["texts"]}} for one in begun],
    "an envelope": lambda begun: {"version": 2, "begun": begun},
}


@pytest.fixture
def note(mind: Mind, profile: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The note of an erasure that was interrupted."""
    handle = mind.remember(PRIVATE).id
    with monkeypatch.context() as broken:
        broken.setattr("persona_store.copies.sweep_backups", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            done(mind, "memory.erase", id=handle)
    return profile / FILE


@pytest.mark.parametrize("kind", NEWER)
def test_a_note_of_a_newer_release_is_left_and_nobody_is_told_to_remove_it(mind: Mind, note: Path, kind: str) -> None:
    other = mind.remember(OTHER).id
    written = base64.b85encode(json.dumps(NEWER[kind](json.loads(base64.b85decode(note.read_bytes())))).encode())
    note.write_bytes(written)

    for verb, arguments in (("memory.erase", {"id": other}), ("memory.remember", {"text": PRIVATE, "insist": True})):
        answer = mind.call(verb, arguments)
        assert isinstance(answer.error, UnsupportedVersionError)
        assert (answer.error.details["path"], answer.error.changed) == (str(note), "no")
        assert "newer release" in answer.text
        assert "Upgrade" in answer.text
        assert "emove" not in answer.text
        assert PRIVATE not in answer.text
    mind.settle()

    assert note.read_bytes() == written
    assert mind.recall("staging database").count == 1
    with pytest.raises(RefusedError):
        mind.remember(PRIVATE)


@pytest.mark.parametrize("left", [0, 7, -5])
def test_a_note_that_is_torn_may_be_removed_and_erasing_goes_on_then(mind: Mind, note: Path, left: int) -> None:
    other = mind.remember(OTHER).id
    note.write_bytes(note.read_bytes()[:left])
    with pytest.raises(CorruptError) as refused:
        mind.erase(other)
    assert "Remove it and erase again" in refused.value.message

    note.unlink()
    mind.erase(other)

    assert UnfinishedErasures(mind._plugin.services.profile).begun() == []
    assert mind.recall().total == 0
