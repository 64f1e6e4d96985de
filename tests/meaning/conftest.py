"""A tiny real model, the library with it set, and what lies in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import persona_mind
from persona_mind.meaning.segments import Record, decode
from tests.recall import tiny_model

if TYPE_CHECKING:
    from pathlib import Path

    from persona_mind.library import Mind
    from tests.support.clock import ManualClock

pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

Open = Callable[..., "Mind"]
"""Opens the library: ``model`` and ``persona`` by keyword; without a model words alone count."""
Cached = Callable[[], list[Record]]
"""Returns every vector in the cache on disk."""


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
