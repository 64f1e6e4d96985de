"""A process that remembers: ``remembering_child.py AGENT_DIR CWD PERSONA NUMBER``."""

from __future__ import annotations

import sys

import persona_mind


def main() -> None:
    agent_dir, cwd, persona, number = sys.argv[1:]
    with persona_mind.open(agent_dir, cwd=cwd, persona=persona) as mind:
        for item in range(int(number)):
            mind.remember(f"{persona} says {item}", scope="shared")


if __name__ == "__main__":
    main()
