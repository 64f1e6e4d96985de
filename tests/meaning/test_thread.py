"""The thread that reads: what breaks on it is told, no session waits for its end, and memory that is off is heeded."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from persona_hooks.errors import CorruptError
from persona_mind.meaning import service
from persona_mind.meaning.service import Meaning
from persona_mind.recall import Doc, Index, embed
from persona_mind.recall.pool import Patience
from tests.meaning.conftest import busy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from persona_mind.library import Mind
    from persona_mind.recall.embed import Embedder
    from tests.meaning.conftest import Cached, Open

SECONDS = 60.0
TRIP = "we booked a flight to lisbon"
OTHERS = ("the recipe wants bread", "pytest runs the parser", "dinner and coffee")
CUE = "my luggage is old"


class Panic(BaseException):
    """What a package in Rust raises."""


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def comparing(mind: Mind) -> Meaning:
    found = mind._plugin.services.meaning()
    assert found is not None
    return found


def read(mind: Mind) -> None:
    assert comparing(mind).finish(SECONDS)
    mind.settle()
    assert comparing(mind).finish(SECONDS)


def thread(meaning: Meaning) -> threading.Thread:
    found = meaning._worker._thread
    assert found is not None
    return found


@pytest.fixture
def meaning(model: Path) -> Iterator[Meaning]:
    made = Meaning(str(model))
    assert made.finish(SECONDS)
    yield made
    made.close()


@pytest.fixture
def index(meaning: Meaning) -> Index:
    made = Index(meaning=lambda: meaning)
    made.sync([Doc(str(at), text) for at, text in enumerate((TRIP, *OTHERS))])
    made.prepare()
    assert meaning.finish(SECONDS)
    return made


BREAKS = [ValueError("x"), KeyError("x"), SystemExit(1), Panic("x"), MemoryError()]


@pytest.mark.parametrize(
    ("place", "error"),
    [
        *((place, error) for place in ("embed", "take") for error in (*BREAKS, CorruptError("x", reason="x"))),
        *(("job", error) for error in BREAKS),
    ],
)
def test_whatever_breaks_on_the_thread_is_told_and_words_go_on(
    meaning: Meaning, index: Index, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException
) -> None:
    told: list[str] = []
    meaning._tell = told.append
    if place == "job":
        meaning.meanwhile(raising(error))
    else:
        broken = meaning._model if place == "embed" else meaning._pools["facts"]
        monkeypatch.setattr(broken, place, raising(error))
        index.sync([Doc("new", "bread again"), Doc("0", TRIP)])
    meaning.finish(SECONDS)
    meaning._worker.ask(lambda: None, SECONDS)
    assert [hit.key for hit in index.search("flight", 1)] == ["0"]
    assert index.compared is not None
    assert index.compared.state == "failed"
    assert meaning.examine(0).trouble
    assert len(told) == 1
    assert thread(meaning).is_alive()


@pytest.mark.parametrize("error", [Panic("x"), OSError(5, "x"), RuntimeError("x")])
def test_a_model_that_breaks_while_it_is_loaded_keeps_nobody_waiting(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(embed, "load", raising(error))
    meaning = Meaning(str(model))
    assert meaning.examine(SECONDS).state == "failed"
    assert meaning.pool("facts", Patience.ASKED) is None
    meaning.close()


@pytest.mark.parametrize("error", [FileNotFoundError(2, "x"), PermissionError(13, "x"), CorruptError("x", reason="x")])
def test_what_cannot_be_looked_at_now_is_looked_at_the_next_time(
    meaning: Meaning, index: Index, error: Exception
) -> None:
    meaning.meanwhile(raising(error))
    assert meaning.finish(SECONDS)
    looked = threading.Event()
    meaning.meanwhile(looked.set)
    assert looked.wait(SECONDS)
    assert index.search(CUE, 1)[0].key == "0"


def test_a_notice_that_cannot_be_shown_stops_nothing(tmp_path: Path) -> None:
    meaning = Meaning(str(tmp_path / "nowhere"), tell=raising(BrokenPipeError()))
    assert meaning.examine(SECONDS).state == "failed"
    assert thread(meaning).is_alive()
    meaning.close()


def test_a_notice_of_reading_that_cannot_be_shown_stops_nothing(
    meaning: Meaning, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LONG", 1)
    meaning._tell = raising(BrokenPipeError())
    index.sync([Doc("new", "a trip")])
    index.prepare()
    assert meaning.finish(SECONDS)
    assert meaning._told
    assert meaning.examine(0).held == (5, 0)


def test_a_text_that_makes_no_vector_spoils_no_other(opened: Open, cached: Cached) -> None:
    mind = opened()
    meaning = comparing(mind)
    assert meaning.finish(SECONDS)
    model = meaning._model
    assert model is not None
    real = model.embed

    def spoiled(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array(real(texts))
        rows[[at for at, text in enumerate(texts) if "poison" in text]] = np.nan
        return rows

    model.embed = spoiled  # type: ignore[method-assign]
    wanted = mind.remember(TRIP).id
    for text in (*OTHERS, "poison"):
        mind.remember(text)
    read(mind)
    assert mind.recall(CUE).ids[0] == wanted
    asked = mind.recall("a flight of poison")
    assert wanted in asked.ids
    assert asked.meaning is not None
    assert asked.meaning.state != "used"
    assert mind.recall(CUE).ids[0] == wanted
    assert all(np.isfinite(np.frombuffer(one.vector, "<f2")).all() for one in cached())
    mind.close()
    again = opened()
    read(again)
    assert again.recall(CUE).ids[0] == wanted


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A model that is loaded only once this is set; set in the end in any case."""
    ready = threading.Event()
    load = embed.load

    def slow(source: str) -> Embedder:
        assert ready.wait(SECONDS)
        return load(source)

    monkeypatch.setattr(embed, "load", slow)
    yield ready
    ready.set()


def test_no_end_of_a_session_waits_for_a_model(opened: Open, loading: threading.Event) -> None:
    mind = opened()
    meaning = comparing(mind)
    meaning.warm()
    working = thread(meaning)
    working.join = raising(AssertionError("waited"))  # type: ignore[method-assign]
    services, session = mind._plugin.services, mind._session
    mind._plugin.session_shutdown(session)
    mind._plugin.session_start(session)
    assert comparing(mind) is meaning
    meaning.close()
    del working.join
    loading.set()
    working.join(SECONDS)
    assert not working.is_alive()
    assert services.meaning() is not meaning


def test_the_next_session_finds_the_model_loaded(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    mind = opened()
    wanted = mind.remember(TRIP).id
    for text in OTHERS:
        mind.remember(text)
    read(mind)
    monkeypatch.setattr(embed, "load", raising(AssertionError("loaded again")))
    for _ in range(3):
        mind._plugin.session_shutdown(mind._session)
        mind._plugin.session_start(mind._session)
        found = mind.recall(CUE)
        assert found.ids[0] == wanted
        assert found.meaning is not None
        assert found.meaning.state == "used"


def test_a_model_that_no_session_wants_ends_and_the_next_one_reads_what_was_kept(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LINGER", 0.0)
    mind = opened()
    wanted = mind.remember(TRIP).id
    read(mind)
    meaning = comparing(mind)
    mind._plugin.session_shutdown(mind._session)
    thread(meaning).join(SECONDS)
    assert not thread(meaning).is_alive()
    assert meaning._model is None
    assert meaning.examine(0).held == (0, 0)
    mind._plugin.session_start(mind._session)
    assert comparing(mind) is not meaning
    assert mind.recall(CUE).ids == (wanted,)


def read_but_unwritten(opened: Open, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Open a mind that has read its one fact and kept the vector in memory only."""
    mind = opened()
    mind.remember(TRIP)
    meaning = comparing(mind)
    with monkeypatch.context() as patch:
        patch.setattr(meaning, "_pour", lambda *_: None)
        assert meaning.pool("facts", Patience.ASKED) is not None
        mind.recall(CUE)
        assert meaning.finish(SECONDS)
    return mind


def test_what_was_read_goes_to_disk_when_a_session_ends(
    opened: Open, cached: Cached, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = read_but_unwritten(opened, monkeypatch)
    meaning = comparing(mind)
    assert not cached()
    mind._plugin.session_shutdown(mind._session)
    meaning._worker.ask(lambda: None, SECONDS)
    assert len(cached()) == 1


def test_a_session_that_ends_with_memory_off_writes_nothing(
    opened: Open, cached: Cached, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = read_but_unwritten(opened, monkeypatch)
    meaning = comparing(mind)
    meaning._allowed = lambda: False
    meaning.rest()
    # As one that has forgotten what was said in the session.
    meaning._allowed = lambda: True
    meaning.close(SECONDS)
    assert not thread(meaning).is_alive()
    assert not cached()


def test_nothing_is_read_while_memory_is_off_and_the_rest_is_once_it_is_on(opened: Open) -> None:
    mind = opened()
    for at in range(40):
        mind.remember(f"bread, number {at}")
    meaning = comparing(mind)
    assert meaning.finish(SECONDS)
    services, clock = mind._plugin.services, mind._plugin.services.host.scheduler.now
    with busy(meaning):
        # So that nothing is read before memory is off.
        scope = services.access.scope(mind._session, services.access.owner(mind._session))
        services.views.view(scope, ("persona",), clock()).prepare()
        mind.call("mind.off")
    assert meaning.finish(SECONDS)
    assert meaning.examine(0).held == (0, 0)
    assert meaning.examine(0).waiting == 40
    mind.call("mind.on")
    assert meaning.finish(SECONDS)
    assert meaning.examine(0).held == (40, 0)
