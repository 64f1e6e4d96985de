"""An erasure takes the vector of every fact that goes, wherever in it the words stood."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import PersonaError
from persona_mind.meaning.segments import said_of

if TYPE_CHECKING:
    from persona_mind.library import Mind
    from persona_mind.meaning.service import Meaning
    from tests.meaning.conftest import Cached, Open

SECONDS = 60.0
WORDS = "the flight to lisbon leaves at nine"
DINNER = "we meet on monday for dinner"
BREAD = "the recipe wants bread"
PLACES: dict[str, dict[str, Any]] = {
    "text": {"text": f"She said that {WORDS}, and left."},
    "tag": {"text": DINNER, "tags": [WORDS]},
    "source": {"text": DINNER, "source": WORDS},
    "shared": {"text": DINNER, "source": WORDS, "scope": "shared"},
}


def comparing(mind: Mind) -> Meaning:
    found = mind._plugin.services.meaning()
    assert found is not None
    return found


def filled(opened: Open, place: str) -> tuple[Mind, str]:
    """Remember the words, something beside, and a fact that holds them in some place; have all of it read."""
    mind = opened()
    handle = mind.remember(WORDS).id
    mind.remember(BREAD)
    more = dict(PLACES[place])
    mind.remember(more.pop("text"), **more)
    for tier in ("persona", "shared"):
        mind.recall("luggage", scope=tier)
    assert comparing(mind).finish(SECONDS)
    return mind, handle


@pytest.mark.parametrize("place", PLACES)
def test_no_vector_of_a_fact_that_went_stays_on_disk_or_in_memory(opened: Open, cached: Cached, place: str) -> None:
    mind, handle = filled(opened, place)
    assert {one.said for one in cached()} == {said_of(text) for text in (WORDS, BREAD, PLACES[place]["text"])}
    assert mind.call("memory.erase", {"id": handle, "everywhere": True}).ok
    assert {one.said for one in cached()} == {said_of(BREAD)}
    assert {one.said for one in comparing(mind)._pools["facts"]._known.values()} == {said_of(BREAD)}


@pytest.mark.parametrize("place", PLACES)
def test_no_vector_of_a_fact_that_went_stays_after_an_interruption(
    opened: Open, cached: Cached, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind, handle = filled(opened, place)
    rename = os.rename

    def refuse(source: str, target: str, **more: int) -> None:
        if target.endswith(".vec"):
            raise OSError(errno.EIO, "the disk is tired")
        rename(source, target, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        with pytest.raises(PersonaError):
            mind.erase(handle, everywhere=True)
    assert len(cached()) == 3
    later = opened(None)
    later.settle()
    assert {one.said for one in cached()} == {said_of(BREAD)}
