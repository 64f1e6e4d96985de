"""A host with both plugins and a session in a project: what a model's tool call meets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_hooks.policies import POLICIES
from tests.support.sweeping import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from persona_host.runtime import Runtime


@pytest.fixture
def runtime(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """The shipped plugins, given all the time they need."""
    for hook, policy in POLICIES.items():
        monkeypatch.setitem(POLICIES, hook, policy._replace(budget=30.0))
    runtime = opened(home)
    yield runtime
    runtime.close()
