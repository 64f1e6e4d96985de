"""A process that appends to a session log, telling each durable receipt on standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from persona_hooks.journal import JsonlJournal


def main(path: str, name: str, count: int) -> None:
    """Append ``count`` messages; one line ``name number id`` is printed once each is durable."""
    journal = JsonlJournal(Path(path), "session-1", "/work")
    sys.stdin.readline()
    for number in range(count):
        receipt = journal.message("user", f"{name} {number} " + "x" * (number * 37 % 3000))
        if not receipt.durable:
            raise SystemExit("an append was not durable")
        sys.stdout.write(f"{name} {number} {receipt.id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
