"""Making whole directory trees durable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from persona_store import commit, files

if TYPE_CHECKING:
    from pathlib import Path


def sync_path(path: Path) -> None:
    """Make the names in a directory durable."""
    with files.open_directory(path, []) as directory:
        directory.sync()


def sync_tree(root: Path) -> None:
    """Make the names in a directory and all below it durable, innermost first; files sync themselves."""
    for path, _, _ in os.walk(root, topdown=False):
        sync_path(root / os.path.relpath(path, root))


def put(directory: files.Directory, name: str, data: bytes) -> None:
    """Write a whole small file durably, in one step, keeping no previous version. Call where nobody else writes it."""
    commit.sweep(directory, name)
    replace(directory, name, data)


def replace(directory: files.Directory, name: str, data: bytes) -> None:
    """Do what `put` does, without a look at what interrupted ones left."""
    commit.replace_file(directory, name, [data], settle=lambda: None, keep=None, ancestors=None)
