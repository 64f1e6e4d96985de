"""A layer over ``os`` that counts, records and injures the file effects below one directory.

The code under test is the code that ships: nothing of it is replaced, only the functions of ``os`` and ``fcntl``
that it calls by attribute, and that filelock calls as well.
"""

# ruff: noqa: ANN401 - the functions of os are passed through as they are
from __future__ import annotations

import errno
import fcntl
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Fault = Literal["kill_before", "kill_after", "interrupt", "short", "errno"]

CHANGING = (
    "open",
    "write",
    "writev",
    "pwrite",
    "ftruncate",
    "utime",
    "fsync",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "rmdir",
    "flock",
)
READING = ("read", "pread", "stat", "fstat", "scandir", "listdir", "close")
ERRNOS = {
    "open": (errno.EACCES, errno.EMFILE, errno.EIO, errno.ENOSPC, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG),
    "writev": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG),
    "pwrite": (errno.ENOSPC, errno.EIO),
    "ftruncate": (errno.EIO,),
    "utime": (errno.EPERM, errno.EIO),
    "fsync": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "rename": (errno.EIO, errno.ENOSPC, errno.EXDEV, errno.EACCES, errno.EROFS),
    "link": (errno.EIO, errno.ENOSPC, errno.EPERM, errno.EMLINK),
    "unlink": (errno.EIO, errno.EACCES),
    "mkdir": (errno.ENOSPC, errno.EACCES, errno.EROFS),
    "rmdir": (errno.EACCES,),
    "flock": (errno.ENOLCK, errno.EIO),
    "read": (errno.EIO,),
    "pread": (errno.EIO,),
    "stat": (errno.EIO, errno.EACCES),
    "fstat": (errno.EIO,),
    "scandir": (errno.EIO, errno.EMFILE),
    "listdir": (errno.EIO, errno.EMFILE),
    "close": (errno.EIO,),
}


@dataclass(frozen=True)
class Plan:
    """Which effect to injure, and how; ``at`` counts effects from 0. Code 0 is an error that the effect may meet."""

    at: int
    fault: Fault
    code: int = 0
    persistent: bool = False


@dataclass
class Effect:
    """One call that happened: its name and its arguments in words the power-loss model understands."""

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any = None


@dataclass
class Shim:
    """Installed for the rest of a child process's life; ``log`` holds every effect below ``root``."""

    root: str
    plan: Plan | None = None
    observe: Callable[[Effect], None] | None = None
    log: list[str] = field(default_factory=list)
    struck: str | None = None
    _descriptors: set[int] = field(default_factory=set)

    def install(self) -> None:
        for name in (*CHANGING, *READING):
            module = fcntl if name == "flock" else os
            setattr(module, name, self._wrap(name, getattr(module, name)))

    def _wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            if not self._ours(arguments, keywords):
                return real(*arguments, **keywords)
            at = len(self.log)
            self.log.append(name)
            return self._perform(at, name, real, arguments, keywords)

        return call

    def _ours(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        keys = ("dir_fd", "src_dir_fd")
        if any(keywords.get(key) in self._descriptors for key in keys if keywords.get(key) is not None):
            return True
        first = arguments[0] if arguments else None
        if isinstance(first, int):
            return first in self._descriptors
        return first is not None and os.fspath(first).startswith(self.root)

    def _perform(
        self, at: int, name: str, real: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        plan = self.plan
        if plan is not None and (at == plan.at or (plan.persistent and at > plan.at and name == self.struck)):
            self.struck = name
            arguments = self._strike(plan, name, real, arguments)
        try:
            result = real(*arguments, **keywords)
        except OSError:
            if plan is not None and at == plan.at and plan.fault == "kill_after":
                self.die()
            raise
        if name == "open":
            self._descriptors.add(result)
        elif name == "close":
            self._descriptors.discard(arguments[0])
        if self.observe is not None:
            self.observe(Effect(name, arguments, keywords, result))
        if plan is not None and at == plan.at and plan.fault == "kill_after":
            self.die()
        return result

    def die(self) -> None:
        """End this process as a loss of power would: nothing of it runs any more."""
        os.kill(os.getpid(), signal.SIGKILL)

    def _strike(self, plan: Plan, name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if plan.fault == "kill_before":
            self.die()
        if plan.fault == "interrupt":
            raise KeyboardInterrupt
        if plan.fault == "errno":
            if name == "close":
                # The system frees the descriptor even when it reports an error.
                self._descriptors.discard(arguments[0])
                real(*arguments)
            code = plan.code or ERRNOS[name][plan.at % len(ERRNOS[name])]
            raise OSError(code, os.strerror(code))
        if plan.fault == "short" and name in {"write", "pwrite"}:
            data = bytes(arguments[1])
            return (arguments[0], data[: max(1, len(data) // 2)], *arguments[2:])
        if plan.fault == "short" and name == "writev":
            data = b"".join(arguments[1])
            return (arguments[0], [data[: len(data) // 3], data[len(data) // 3 : len(data) // 2]])
        return arguments


def plans(log: list[str], kinds: tuple[Fault, ...]) -> list[Plan]:
    """Every plan for the effects a healthy run had."""
    found: list[Plan] = []
    for at, name in enumerate(log):
        if name in CHANGING:
            found += [Plan(at, kind) for kind in ("kill_before", "kill_after", "interrupt") if kind in kinds]
        if name in {"write", "writev", "pwrite"} and "short" in kinds:
            found.append(Plan(at, "short"))
        if "errno" in kinds:
            found += [Plan(at, "errno", code, keep) for code in ERRNOS[name] for keep in (False, True)]
    return found
