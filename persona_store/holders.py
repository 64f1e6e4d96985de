"""The holder record: a note in a lock file that says who holds it, for people and for refusing foreign machines.

The kernel's lock is the truth. Whoever reads this record has just been given that lock, so no process of this
machine holds it; the record can only tell that the kernel's word may not count here (another machine shares the
directory, or the lock file was swapped), or that the last holder died before it could clean up.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

RECORD_BYTES: Final = 256
MAX_READ: Final = 1024
HELD: Final = b"held"
FREE: Final = b"free"

Verdict = Literal["clean", "recovered", "malformed", "foreign", "alive"]

_TOKEN: Final = r"[A-Za-z0-9._-]{1,80}"  # noqa: S105 - a pattern, not a password
_RECORD: Final = re.compile(
    rf"(?P<state>held|free) host=(?P<host>{_TOKEN}) machine=(?P<machine>{_TOKEN}) boot=(?P<boot>{_TOKEN}) "
    rf"pid=(?P<pid>[1-9]\d{{0,9}}) start=(?P<start>{_TOKEN}) since=(?P<since>\d{{1,12}}) *\n",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Holder:
    """A process on a machine, in words that tell it from every other one.

    ``boot`` and ``start`` are "-" where the platform does not say.
    """

    host: str
    machine: str
    boot: str
    pid: int
    start: str
    since: int

    def __str__(self) -> str:
        """Name it for a person."""
        return f"process {self.pid} on {self.host}"

    def record(self, state: bytes = HELD) -> bytes:
        """Return the record's bytes, always of one length, so that a rewrite needs no space on a full disk."""
        text = (
            f" host={self.host} machine={self.machine} boot={self.boot} pid={self.pid} "
            f"start={self.start} since={self.since}"
        )
        return (state + text.encode()).ljust(RECORD_BYTES - 1) + b"\n"


def this_process() -> Holder:
    """Describe the process that asks, now."""
    pid = os.getpid()
    return Holder(_host(), _machine(), _boot(), pid, _own_start(pid), int(time.time()))


@functools.lru_cache(maxsize=1)
def _own_start(pid: int) -> str:
    return start_token(pid) or "-"


def parse(data: bytes) -> tuple[bytes, Holder] | None:
    """Read a record; None when it is malformed."""
    match = _RECORD.fullmatch(data.decode("latin-1"))
    if match is None:
        return None
    holder = Holder(
        match["host"], match["machine"], match["boot"], int(match["pid"]), match["start"], int(match["since"])
    )
    return match["state"].encode(), holder


def judge(data: bytes, me: Holder, *, held_here: bool) -> tuple[Verdict, Holder | None]:
    """Decide what a record means for the process that was just given the kernel's lock.

    Args:
        data: The record as found.
        me: The asking process.
        held_here: Whether another thread of this process holds a lock of the same path.

    Returns:
        ``clean`` and ``recovered`` (its process is dead) and ``malformed`` (a power cut tore it) let the caller
        in; ``foreign`` (another machine) and ``alive`` (the kernel's lock cannot be what keeps it out) do not.
    """
    if not data.strip(b"\0"):
        return "clean", None
    parsed = parse(data)
    if parsed is None:
        return "malformed", None
    state, holder = parsed
    if state == FREE:
        return "clean", None
    if not _same_machine(holder, me):
        return "foreign", holder
    if holder.pid == me.pid and holder.start == me.start and holder.host == me.host:
        return ("alive" if held_here else "recovered"), holder
    return ("alive" if _lives(holder, me) else "recovered"), holder


def _same_machine(holder: Holder, me: Holder) -> bool:
    # Containers of one machine differ in host name, but share the kernel that grants the lock.
    if "-" not in {holder.boot, me.boot} and holder.boot == me.boot:
        return True
    return holder.machine == me.machine


def _lives(holder: Holder, me: Holder) -> bool:
    if holder.boot != me.boot or holder.host != me.host:
        return False
    return start_token(holder.pid) == holder.start


def start_token(pid: int) -> str | None:
    """Return what tells this process from a later one with its number; None when it has ended or cannot be asked."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = status.rpartition(b")")[2].split()
    if fields[:1] in ([b"Z"], [b"X"]):
        # It has ended and waits for its parent to notice; its locks are free.
        return None
    return fields[19].decode("ascii", "replace") if len(fields) > 19 else None


def _host() -> str:
    return _word(socket.gethostname())  # asked each time: a machine may be renamed


@functools.cache
def _machine() -> str:
    identity = _first_line("/etc/machine-id")
    if identity is None:
        return _host()
    return hashlib.sha256(b"persona-store:" + identity.encode()).hexdigest()[:16]


@functools.cache
def _boot() -> str:
    return _word(_first_line("/proc/sys/kernel/random/boot_id") or "-")


def _first_line(path: str) -> str | None:
    try:
        return Path(path).read_text("ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


@functools.lru_cache(maxsize=8)
def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:60] or "-"
