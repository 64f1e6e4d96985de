"""The language ``xx`` is English in brackets."""

from __future__ import annotations

import pytest

from persona_hooks import speech
from tests.speech.bracketing import LANGUAGE, Brackets


@pytest.fixture(autouse=True)
def brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    known = speech.catalogue
    monkeypatch.setattr(speech, "catalogue", lambda language: Brackets() if language == LANGUAGE else known(language))
