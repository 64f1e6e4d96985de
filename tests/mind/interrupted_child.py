"""A process that is killed between two updates of one change: ``interrupted_child.py AGENT_DIR CWD ID``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import persona_mind
from persona_store.transaction import Transaction


def main() -> None:
    agent_dir, cwd, fact = sys.argv[1:]
    update, done = Transaction.update, 0

    def killed_before_the_second(self: Transaction, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        nonlocal done
        if done:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        return update(self, *arguments, **named)

    Transaction.update = killed_before_the_second  # type: ignore[method-assign]
    persona_mind.open(agent_dir, cwd=cwd, persona="Ann").promote(fact)


if __name__ == "__main__":
    main()
