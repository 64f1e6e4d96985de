"""Where a hook finds the server that the same Claude Code started, and how the two speak.

Both are children of one Claude Code, so the socket's name ends in their parent's process id. It also holds a checksum
of what decides whose memory it is; the hook sends that in full, and the server turns away whoever differs.

A hook imports this before every prompt: nothing is imported here that the interpreter has not loaded by itself.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from binascii import crc32

TYPE_CHECKING = False  # what typing calls so; to import that takes as long as all of this
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Final

SUFFIX: Final = ".sock"
READY: Final = b"ready"
"""What the server says before it is sent anything that it would act on."""
READY_SECONDS: Final = 0.05
"""Seconds that the server has to say so."""
MAX_FRAME: Final = 16 * 1024 * 1024
_LONGEST: Final = 100
"""Bytes of a socket's path; ``sun_path`` holds 104 on macOS and 108 on Linux, its final NUL included."""
_DECIDES: Final = ("PI_", "PERSONA_")


def agent_dir(environ: Mapping[str, str]) -> str:
    """Return the agent directory as ``headless.agent_dir_of`` does, without its imports."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib takes as long to import as all of this
    chosen = environ.get("PI_AGENT_DIR") or environ.get("PI_CODING_AGENT_DIR") or "~/.pi/agent"
    path = f"{home}/{chosen[2:]}" if chosen.startswith("~/") else chosen
    return os.path.abspath(path)  # noqa: PTH100 - as above


def identity(root: str, environ: Mapping[str, str]) -> bytes:
    """Return everything that decides whose memory a process with this environment works with, and how."""
    decides = sorted(
        f"{name}={value}"
        for name, value in environ.items()
        if (name.startswith(_DECIDES) and name not in {"PI_AGENT_DIR", "PI_CODING_AGENT_DIR"}) or name == "HOME"
    )
    return "\0".join([root, *decides]).encode("utf-8", "surrogateescape")


def folder(root: str) -> str:
    """Return where the sockets of an agent directory are: in it, or where its path is too long, in a place of ours."""
    inside = f"{root}/persona-host/run"
    if len(os.fsencode(inside)) + len("/ffffffff-4194304.sock") <= _LONGEST:
        return inside
    return f"/tmp/persona-mind-{os.getuid()}"  # noqa: S108 - used only where it is ours and closed to others


def name(who: bytes, parent: int) -> str:
    """Return a socket's name within its folder."""
    return f"{crc32(who):08x}-{parent}{SUFFIX}"


def is_ours(path: str, kind: int) -> bool:
    """Return whether ``path`` is of this kind, belongs to this user, and (a directory) is closed to everybody else."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    closed = kind != stat.S_IFDIR or not found.st_mode & 0o077
    return stat.S_IFMT(found.st_mode) == kind and found.st_uid == os.getuid() and closed


def same_user(link: socket.socket) -> bool:
    """Return whether the process at the other end is this user's, where the platform says whose it is."""
    import _socket  # noqa: PLC0415 - the constants; whoever calls this has it loaded

    if sys.platform == "linux":
        uid = int.from_bytes(link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
        return uid == os.getuid()
    if sys.platform == "darwin":
        # struct xucred: a version, then the user; SOL_LOCAL is 0 and LOCAL_PEERCRED 1.
        return int.from_bytes(link.getsockopt(0, 1, 76)[4:8], sys.byteorder) == os.getuid()
    return True


def send(link: socket.socket, *frames: bytes) -> None:
    """Send frames, each preceded by its length."""
    link.sendall(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames))


def receive(link: socket.socket, deadline: float) -> bytes:
    """Return the next frame.

    Args:
        link: Where from.
        deadline: On ``time.monotonic``; a frame that comes byte by byte has no more time than any other.

    Raises:
        OSError: The other side ended, was late, or sends more than ``MAX_FRAME`` bytes.
    """
    size = int.from_bytes(_exactly(link, 4, deadline), "big")
    if size > MAX_FRAME:
        raise OSError("the frame is too long")
    return _exactly(link, size, deadline)


def _exactly(link: socket.socket, size: int, deadline: float) -> bytes:
    parts, left = [], size
    while left:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        link.settimeout(seconds)
        part = link.recv(min(left, 1 << 16))
        if not part:
            raise OSError("the other side ended")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
