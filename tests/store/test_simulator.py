"""Seeds of the simulator: the quick stage lives through a few, ``make crash`` through ten thousand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.crash.sim import lives_of
from tests.support.crash.stages import PROJECT


@pytest.mark.timeout(180)
def test_seeds_break_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sim", "--seed", "0", "--count", "40"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_always_tells_the_same_story() -> None:
    assert lives_of(42) == lives_of(42)
    assert lives_of(42) != lives_of(43)
