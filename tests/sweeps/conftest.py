"""Sweeps are about answers, not about time."""

from __future__ import annotations

import pytest

from persona_hooks.policies import POLICIES


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give hooks all the time they need: a busy machine must not turn a refusal into a missing one."""
    for hook, policy in POLICIES.items():
        monkeypatch.setitem(POLICIES, hook, policy._replace(budget=30.0))
