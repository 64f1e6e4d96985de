"""The file that says where a server answers and with which token, for as long as it does.

Whoever keeps one holds a lock on it. One that nobody holds was left by a server that was killed, and the next one that
starts removes it.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from persona_hooks.errors import StorageError
from persona_hooks.speech import phrase
from persona_store import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def keeping(folder: Path, port: int, url: str, token: str) -> Iterator[Path]:
    """Keep address and token of the server at ``port`` in a file that only this user can read; give its path.

    Raises:
        StorageError: It cannot be written.
    """
    path = folder / f"mcp-{port}.json"
    descriptor = _written(path, json.dumps({"url": url, "token": token}, indent=2) + "\n")
    try:
        sweep(folder)
        yield path
    finally:
        _remove(path, descriptor)
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove the files of servers that are gone, also unfinished ones; what is no such file is left alone."""
    for path in (*folder.glob("mcp-[0-9]*.json"), *folder.glob(".mcp-[0-9]*.json.tmp-*")):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                # An empty one holds no token, and whoever has just made it may not have locked it yet.
                if os.fstat(descriptor).st_size and _locked(descriptor):
                    _remove(path, descriptor)
            finally:
                os.close(descriptor)


def _written(path: Path, text: str) -> int:
    """Write a file that never was anything else; return it open, and locked before anybody can see it."""
    fresh = path.with_name(files.temporary_name(path.name))
    descriptor = -1
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        _locked(descriptor)
        os.write(descriptor, text.encode())
        fresh.replace(path)
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        fresh.unlink(missing_ok=True)
        raise StorageError(phrase("{path} cannot be written.", path=path), path=str(path)) from error
    return descriptor


def _remove(path: Path, descriptor: int) -> None:
    """Remove a file unless another one has taken its name: the port may be another server's by now."""
    with suppress(OSError):
        if os.path.samestat(path.lstat(), os.fstat(descriptor)):
            path.unlink()


def _locked(descriptor: int) -> bool:
    """Return whether a file is locked by us now, until it is closed; never where the platform has no such lock."""
    if sys.platform == "win32":
        return False
    import fcntl  # noqa: PLC0415 - not on every platform

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
