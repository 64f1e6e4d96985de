"""Print every figure that is cheap enough to take on a laptop: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import importlib
import sys

NAMES = ("startup", "hook_speed", "recall_speed", "injection_speed", "store_cost", "capture")


def main() -> None:
    """Run the named measurements, or all of them."""
    for name in sys.argv[1:] or NAMES:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
