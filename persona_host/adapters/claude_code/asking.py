"""A hook's side of the socket: ask the server that is running, or find that there is none.

The server is sent nothing that it would act on before it has said that it is there. Until then a hook may go its own
way without anything being done twice; afterwards only the server knows what it did.
"""

from __future__ import annotations

import os
import stat
import time

from persona_host.adapters.claude_code import rendezvous

TYPE_CHECKING = False  # what typing calls so; to import that takes as long as all of this
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Final

ANSWER_SECONDS: Final = {"SessionEnd": 1.0}
"""Seconds that a server which took the request has to answer; Claude Code ends a session within 1.5."""
DEFAULT_SECONDS: Final = 8.0
_TRIED: Final = 4
"""How many servers of other Claude Codes that listen are tried at most."""


class Interrupted(Exception):  # noqa: N818 - what happened, for whoever decides what to do now
    """The server took the request and gave no answer of ours: it may or may not have done it."""


def ask(event: str, payload: bytes, environ: Mapping[str, str]) -> tuple[bytes, bytes] | None:
    """Return what the running server says is to be printed on standard output and error, or None where there is none.

    Raises:
        Interrupted: It took the request and did not answer.
    """
    if os.name != "posix":
        return None
    root = rendezvous.agent_dir(environ)
    where = rendezvous.folder(root)
    if not rendezvous.is_ours(where, stat.S_IFDIR):
        return None
    who = rendezvous.identity(root, environ)
    deadline = time.monotonic() + rendezvous.READY_SECONDS
    tried = 0
    for name in _candidates(where, who):
        link = _connected(f"{where}/{name}", deadline)
        if link is None:
            continue  # left behind by a server that was killed
        if _ready(link, who, deadline):
            return _answer(link, event, payload, environ)
        link.close()
        tried += 1
        if tried == _TRIED:
            break
    return None


def _candidates(where: str, who: bytes) -> list[str]:
    """Return the sockets to try: that of our own Claude Code, else those of others that would answer the same."""
    mine = rendezvous.name(who, os.getppid())
    if os.path.lexists(f"{where}/{mine}"):
        return [mine]
    begin = mine.partition("-")[0]
    try:
        return [name for name in os.listdir(where) if name.startswith(begin)]  # noqa: PTH208 - see rendezvous
    except OSError:
        return []  # the last server has just ended, and its directory with it


def _connected(path: str, deadline: float) -> socket.socket | None:
    """Return a connection to whoever listens there, or None."""
    import socket  # noqa: PLC0415 - only where there is somebody to connect to

    if not rendezvous.is_ours(path, stat.S_IFSOCK):
        return None
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        link.connect(path)
    except OSError:
        link.close()
        return None
    return link


def _ready(link: socket.socket, who: bytes, deadline: float) -> bool:
    """Return whether the server is there, this user's, and of the same mind."""
    try:
        if not rendezvous.same_user(link):
            return False
        rendezvous.send(link, who)
        return rendezvous.receive(link, deadline) == rendezvous.READY
    except OSError:
        return False  # it is gone, hung or no server of ours; the hook does without it


def _answer(link: socket.socket, event: str, payload: bytes, environ: Mapping[str, str]) -> tuple[bytes, bytes]:
    project = environ.get("CLAUDE_PROJECT_DIR", "")
    head = "\0".join([event, str(os.getppid()), project]).encode("utf-8", "surrogateescape")
    seconds = ANSWER_SECONDS.get(event, DEFAULT_SECONDS)
    deadline = time.monotonic() + seconds
    with link:
        try:
            link.settimeout(seconds)
            rendezvous.send(link, head, payload)
            out, err = rendezvous.receive(link, deadline), rendezvous.receive(link, deadline)
        except OSError:
            raise Interrupted from None
    if out and not _is_answer(out):
        raise Interrupted
    return out, err


def _is_answer(out: bytes) -> bool:
    """Return whether this has the form of our answers: one JSON object on one line, in ASCII.

    To parse it would take a module that takes longer to load than all of this; what is none of ours shows here.
    """
    return out.startswith(b'{"') and out.endswith(b"}\n") and out.isascii() and out.count(b"\n") == 1
