"""Imported by every child process that a test starts with this folder on its path; see ``tests.support.cli``."""

from __future__ import annotations

import os
import sys


def forbid_sockets(report: str) -> None:
    """Refuse every use of a socket and write it down. An audit hook sees what any library does."""

    def forbid(event: str, _: tuple[object, ...]) -> None:
        # A lock's holder is recorded with this machine's name, which is asked for without a socket.
        if event.startswith("socket.") and event != "socket.gethostname":
            with open(report, "a", encoding="utf-8") as file:  # noqa: PTH123 - no import inside an audit hook
                file.write(f"{event}\n")
            raise PermissionError(f"sockets are forbidden: {event}")

    sys.addaudithook(forbid)


if "PERSONA_TEST_NO_SOCKETS" in os.environ:
    forbid_sockets(os.environ["PERSONA_TEST_NO_SOCKETS"])
for name in filter(None, os.environ.get("PERSONA_TEST_WITHOUT", "").split(",")):
    sys.modules[name] = None  # type: ignore[assignment] - how Python spells a module that is not there
