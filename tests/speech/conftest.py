"""The language ``xx`` is English in brackets."""

from __future__ import annotations

from functools import lru_cache

import pytest

from persona_hooks import speech
from tests.speech.bracketing import LANGUAGE, Brackets


@pytest.fixture(autouse=True)
def brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    known = speech.catalogue

    # Cached as the real one is: a plugin that is loaded now clears what was found before.
    @lru_cache
    def found(language: str) -> speech.Catalogue | None:
        return Brackets() if language == LANGUAGE else known(language)

    monkeypatch.setattr(speech, "catalogue", found)
