"""``python -P -m persona_host.adapters.stdio``: what a host's bundle starts, without the command line's own imports."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from persona_host.adapters.stdio.serve import serve_stdio
from persona_host.headless import agent_dir_of


def main() -> int:
    """Serve with the directories that the environment names; return the exit code."""
    # As in ``cli``: a plugin of pydantic's would see every memory that is validated here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    environ, home = dict(os.environ), Path.home()
    return serve_stdio(agent_dir=agent_dir_of(environ, home), home=home, environ=environ)


if __name__ == "__main__":
    sys.exit(main())
