"""Writing one whole file where a person wants it, outside any profile: private, durable, in one step."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from persona_hooks.errors import UNCHANGED, RefusedError, UncertainError
from persona_hooks.speech import phrase
from persona_store import commit, files
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from pathlib import Path


def publish(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file that only its owner can read; durable when this returns.

    Args:
        path: Where; the directory must be there.
        data: All of it.
        replace: Put it in the place of a file of that name.

    Raises:
        RefusedError: Something of that name is there, and ``replace`` is false; or it is no regular file.
        StorageError: The file system refused; nothing was changed.
        UncertainError: The file is there, but the disk did not confirm it.
    """
    with storage_errors(path), files.open_directory(path.parent, []) as directory:
        if directory.stamp(path.name) is not None and not replace:
            raise _exists(path)
        # What an end of a process left holds memories. Should another one write the same file just now, it is refused.
        commit.sweep(directory, path.name)
        temporary, descriptor = directory.create_temporary(path.name)
        try:
            files.write_all(descriptor, data)
            files.sync_descriptor(descriptor)
            if replace or not _linked(directory, temporary, path):
                directory.rename(temporary, path.name)
        finally:
            files.close(descriptor)
            # Once the file has its name, a leftover must not deny it.
            with contextlib.suppress(OSError):
                directory.unlink(temporary)
        _confirm(directory, path)


def _linked(directory: files.Directory, temporary: str, path: Path) -> bool:
    """Give the file its name unless another one got it meanwhile; False where there are no hard links."""
    try:
        return directory.link(temporary, path.name)
    except FileExistsError:
        raise _exists(path) from None


def _confirm(directory: files.Directory, path: Path) -> None:
    try:
        directory.sync()
    except OSError as error:
        raise UncertainError(
            phrase("{path} was written, but the disk did not confirm it ({error})", path=path, error=error.strerror),
            path=os.fspath(path),
        ) from error


def _exists(path: Path) -> RefusedError:
    return RefusedError(
        phrase(
            "{path} is there already; {unchanged}. Say `--force` to replace it, or name another file",
            path=path,
            unchanged=UNCHANGED,
        ),
        reason="exists",
        path=os.fspath(path),
    )
