"""A tiny real model, the library with it set, and what lies in the cache."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import persona_mind
from persona_mind.meaning import service
from persona_mind.meaning.segments import Record, decode
from persona_mind.recall.pool import Patience
from tests.recall import tiny_model

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from persona_mind.meaning.service import Meaning
    from tests.support.clock import ManualClock

pytest.importorskip("numpy", reason="the extra embeddings is not installed")
pytest.importorskip("onnxruntime", reason="the extra embeddings is not installed")
pytest.importorskip("tokenizers", reason="the extra embeddings is not installed")

Open = Callable[..., "Mind"]
"""Opens the library: ``model`` and ``persona`` by keyword; without a model words alone count."""
Cached = Callable[[], list[Record]]
"""Returns every vector in the cache on disk."""


@contextmanager
def busy(meaning: Meaning) -> Iterator[None]:
    """Keep a model's thread busy, as a slow model does, for as long as the block takes."""
    over = threading.Event()
    meaning._worker.ask(over.wait, 0.0)
    try:
        yield
    finally:
        over.set()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait as long as a loaded machine needs; what is late on purpose is late in a test of its own."""
    monkeypatch.setattr(service, "LOADING", 60.0)
    for patience in Patience:
        monkeypatch.setitem(service.SECONDS, patience, 60.0)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model that knows travel, food and code."""
    return tiny_model.write(tmp_path / "model")


@pytest.fixture
def project(home: Path) -> Path:
    """A repository."""
    root = home / "work" / "rocket"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def opened(agent_dir: Path, home: Path, project: Path, clock: ManualClock, model: Path) -> Iterator[Open]:
    """Open the library on one profile, as often as a test likes."""
    minds: list[Mind] = []

    def start(named: Path | str | None = model, persona: str = "Ann") -> Mind:
        environ = {} if named is None else {"PI_PERSONA_MIND_VECTORS": str(named)}
        mind = persona_mind.open(agent_dir, cwd=project, persona=persona, now=clock.now, home=home, environ=environ)
        minds.append(mind)
        return mind

    yield start
    for mind in minds:
        mind.close()


@pytest.fixture
def cached(agent_dir: Path) -> Cached:
    """Read the cache as it lies on disk."""
    folder = agent_dir / "persona-mind" / "vectors"
    return lambda: [record for path in sorted(folder.rglob("*.vec")) for record in decode(path.read_bytes())]
