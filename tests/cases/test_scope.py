"""A project's true path is worked out once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from persona_mind.kernel.scope import find_project

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_path_is_resolved_once_however_often_it_is_asked_for(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: list[str] = []
    realpath = os.path.realpath

    def counted(path: str) -> str:
        resolved.append(path)
        return realpath(path)

    place = tmp_path / "never seen before"
    place.mkdir()
    monkeypatch.setattr(os.path, "realpath", counted)
    assert find_project(place, home).slug == find_project(place, home).slug
    assert resolved.count(str(place)) == 1
