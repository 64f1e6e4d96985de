"""Starting stages of the battery from a test suite."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import cast

PROJECT = Path(__file__).resolve().parents[3]


def run_stage(stage: str) -> dict[str, object]:
    """Run a stage in a lean process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash", stage], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return cast("dict[str, object]", json.loads(done.stdout))
