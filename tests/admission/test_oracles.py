"""Other people's secret scanners, where they are installed, asked about what our table finds and leaves alone.

They are oracles for the tests only: each is wrong in its own way, so each is held to where it is known to be right.
"""

from __future__ import annotations

import importlib.util
import random

import pytest

from benchmarks.admission_secrets import FRAMES, SHAPES, credential
from persona_store.admission import Refused, admit

HAS_DETECT_SECRETS = importlib.util.find_spec("detect_secrets") is not None
HAS_BETTERLEAKS = importlib.util.find_spec("betterleaks") is not None

# Its entropy detectors call every word with hexadecimal letters a secret.
_NOISY = {"Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector"}


def sentences() -> list[str]:
    source = random.Random("oracle")
    return [frame.format(credential(shape, source)) for shape in SHAPES for frame in FRAMES]


def missed(found: list[str]) -> list[str]:
    return [line for line in found if not isinstance(admit(line, "user"), Refused)]


@pytest.mark.skipif(not HAS_DETECT_SECRETS, reason="detect-secrets is not installed; it is an oracle only")
def test_what_detect_secrets_finds_we_find() -> None:
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")
    with settings.default_settings() as active:
        active.disable_plugins(*_NOISY)
        found = [line for line in sentences() if list(scan.scan_line(line))]
    assert len(found) >= 50
    assert missed(found) == []


@pytest.mark.skipif(not HAS_BETTERLEAKS, reason="betterleaks is not installed; it is an oracle only")
def test_what_betterleaks_finds_we_find() -> None:
    betterleaks = importlib.import_module("betterleaks")
    found = [line for line in sentences() if betterleaks.scan_string(line)]
    assert len(found) >= 50
    assert missed(found) == []
