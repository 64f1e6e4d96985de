"""One view of the facts, shared by threads as a host shares it."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from persona_mind.facts.files import FactFiles
from persona_mind.facts.model import Fact
from persona_mind.facts.search import Views
from persona_mind.kernel.scope import Scope, find_project, segment
from persona_mind.recall import Index
from persona_store.document import Document
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from persona_mind.library import Mind
    from tests.support.clock import ManualClock

THREADS = 4


def test_threads_that_share_a_view_search_its_index_one_at_a_time(
    mind: Mind, profile: Path, project: Path, home: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for port in range(5430, 5440):
        mind.remember(f"the staging database listens on port {port}")
    views = Views(FactFiles(Profile(profile, clock.now)))
    scope = Scope("Ann", segment("Ann"), find_project(project, home))
    # First readers at once may each make a view of their own; what is shared is the one that stays.
    views.view(scope, ("persona",), clock.now())
    inside, overlaps, another = [0], [0], threading.Event()

    def alone(whole: Callable[..., Any]) -> Callable[..., Any]:
        def searched(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - passed through
            inside[0] += 1
            overlaps[0] += inside[0] > 1
            if inside[0] > 1:
                another.set()
            another.wait(0.05)  # time enough for another thread to come in, if it may
            try:
                return whole(*arguments, **named)
            finally:
                inside[0] -= 1

        return searched

    monkeypatch.setattr(Index, "search", alone(Index.search))
    monkeypatch.setattr(Index, "sync", alone(Index.sync))
    start = threading.Barrier(THREADS)

    def search(number: int) -> int:
        start.wait()
        if number % 2:
            return len(views.view(scope, ("persona",), clock.now()).best("database port", 5))
        return len(views.search(scope, ("persona",), "database port", 5, clock.now()).facts)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(search, range(THREADS)))
    assert overlaps == [0]
    assert min(found) == max(found) > 0


def words_kept(mind: Mind, text: str) -> list[object]:
    """Return what of a text is still kept in memory: facts, and bytes that hold it."""
    gc.collect()
    facts = [one for one in gc.get_objects() if isinstance(one, Fact) and one.text == text]
    documents = mind._plugin.services.profile._documents.values()
    held = [one._cached for one in documents if isinstance(one, Document) and one._cached]
    return [*facts, *(one for one in held if any(text.encode() in row.raw for row in one.snapshot.rows))]


def test_an_erased_text_is_not_kept_in_memory_either(mind: Mind) -> None:
    text = "zebra quartz marmalade lighthouse"
    handle = mind.remember(text).id
    mind.remember("the staging database listens on port 5433")
    assert mind.recall("zebra quartz").count == 1
    assert mind.inject("zebra quartz")
    assert words_kept(mind, text)

    assert mind.call("memory.erase", {"id": handle}).ok

    assert words_kept(mind, text) == []


def test_what_was_read_before_an_erasure_is_not_kept_after_it(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "zebra quartz marmalade lighthouse"
    handle = mind.remember(text).id
    mind._plugin.services.profile.forget()
    with monkeypatch.context() as patched:
        real = Document.parse

        def parse(document: Document[Any], *arguments: Any) -> Any:  # noqa: ANN401 - passed through
            snapshot = real(document, *arguments)
            patched.undo()
            assert mind.call("memory.erase", {"id": handle}).ok
            return snapshot

        patched.setattr(Document, "parse", parse)
        mind.recall("zebra quartz")

    assert words_kept(mind, text) == []
    assert mind.recall("zebra quartz").count == 0
