"""Real disks that are full, cut short, read-only or out of descriptors, and real writers stopped and cut off."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from persona_hooks.errors import PersonaError
from tests.support.crash.battery import child, untidy
from tests.support.crash.checks import scratch
from tests.support.crash.documents import add, ids, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGE = 4096


def can_mount() -> bool:
    """Whether this process may mount file systems."""
    return os.geteuid() == 0 and shutil.which("mount") is not None and sys.platform == "linux"


@contextlib.contextmanager
def mounted(options: str, source: str = "tmpfs", kind: str = "tmpfs") -> Iterator[Path]:
    """A file system of one's own."""
    target = scratch()
    subprocess.run(["mount", "-t", kind, "-o", options, source, str(target)], check=True)  # noqa: S607 - system tools
    try:
        yield target
    finally:
        subprocess.run(["umount", "-l", str(target)], check=True)  # noqa: S607 - system tools


def _attempt(root: Path, prepare: Callable[[], None]) -> list[str]:
    """Try a change under a limit; whatever it says must be true, and the next one must get in."""

    def work() -> None:
        prepare()
        add(root, "limited")

    before = ids(root)
    outcome = child(work)
    found = []
    if not outcome.expected:
        found.append(f"not an error of ours: {outcome.detail[-300:]}")
    state = ids(root)
    if state not in (before, [*before, "limited"]):
        found.append(f"holds {state}")
    if outcome.word == "acknowledged" and "limited" not in state:
        found.append("acknowledged, but lost")
    if outcome.changed == "no" and state != before:
        found.append("said that nothing was changed")
    return found


def _recovers(root: Path) -> list[str]:
    name = f"again-{time.monotonic_ns()}"
    try:
        add(root, name)
    except PersonaError as error:
        return [f"the next writer did not get in: {error}"]
    return ([] if name in ids(root) else ["the next change was lost"]) + list(untidy(root))


def full_disk() -> tuple[int, list[str]]:
    """A disk with every number of free pages from none to enough."""
    found: list[str] = []
    for free in range(16):
        with mounted("size=256k,mode=700") as root:
            for identity in ("one", "two"):
                add(root, identity)
            _fill(root / "ballast", free)
            found += [f"{free} free pages: {fault}" for fault in _attempt(root, lambda: None)]
            (root / "ballast").unlink()
            found += [f"{free} free pages, later: {fault}" for fault in _recovers(root)]
    return 16, found


def _fill(ballast: Path, free: int) -> None:
    with ballast.open("wb", buffering=0) as stream:
        ballast.chmod(0o600)
        try:
            while True:
                stream.write(b"x" * PAGE)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        stream.truncate(max(0, stream.tell() // PAGE - free) * PAGE)


def short_files() -> tuple[int, list[str]]:
    """A limit on the size of files at every step."""
    root = scratch()
    add(root, "one")
    size = store(root)[1].path.stat().st_size
    found: list[str] = []
    steps = range(0, size * 2 + 400, 16)
    for limit in steps:

        def prepare(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

        found += [f"files of {limit} bytes: {fault}" for fault in _attempt(root, prepare)]
        _without(root, "limited")
    return len(steps), found + _recovers(root)


def _without(root: Path, identity: str) -> None:
    mine, document = store(root)
    with mine.transaction() as transaction:
        transaction.update(
            document, lambda there: [row for row in there.rows if row.value is None or row.value.id != identity]
        )


def few_descriptors() -> tuple[int, list[str]]:
    """Every number of descriptors too few."""
    root = scratch()
    add(root, "one")
    found: list[str] = []
    for spare in range(12):

        def prepare(spare: int = spare) -> None:
            lowest = os.dup(0)
            os.close(lowest)
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

        found += [f"{spare} descriptors: {fault}" for fault in _attempt(root, prepare)]
        _without(root, "limited")
    return 12, found + _recovers(root)


def read_only() -> tuple[int, list[str]]:
    """A disk that becomes read-only."""
    with mounted("size=1m,mode=700") as root:
        add(root, "one")
        _remount(root, "ro")
        found = _attempt(root, lambda: None)
        found += [] if ids(root) == ["one"] else ["reading failed"]
        _remount(root, "rw")
        return 1, found + _recovers(root)


def _remount(root: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(root)], check=True)  # noqa: S607 - system tools


def other_account() -> tuple[int, list[str]]:
    """A process of an account that may not write."""
    root = scratch()
    add(root, "one")

    def prepare() -> None:
        os.setgid(65534)
        os.setuid(65534)

    return 1, _attempt(root, prepare) + _recovers(root)


def another_device() -> tuple[int, list[str]]:
    """A file that is a mount of its own cannot be replaced, and is not copied over instead."""
    root = scratch()
    add(root, "one")
    path = store(root)[1].path
    subprocess.run(["mount", "--bind", str(path), str(path)], check=True)  # noqa: S607 - system tools
    try:
        held = path.read_bytes()
        found = _attempt(root, lambda: None)
        found += [] if path.read_bytes() == held else ["the file was written over"]
    finally:
        subprocess.run(["umount", str(path)], check=True)  # noqa: S607 - system tools
    return 1, found + _recovers(root)


WITHOUT_ROOT = (short_files, few_descriptors)
WITH_ROOT = (full_disk, read_only, other_account, another_device)
