"""The library and a real host on a temporary profile, as in ``tests/mind``."""

from __future__ import annotations

from tests.mind.conftest import mind, opened, profile, project, start

__all__ = ["mind", "opened", "profile", "project", "start"]
