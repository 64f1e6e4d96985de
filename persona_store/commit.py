"""One durable change of one file: either the new bytes are there for good, or the old ones are untouched.

The order of the steps is the promise. The new bytes reach the disk under a name of their own before the old
version gives way, and so does the way to a new file; the old version stays as ``.bak``; the directory reaches the
disk before anybody is told.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from persona_hooks.errors import UncertainError
from persona_hooks.speech import phrase
from persona_store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


def replace_file(
    directory: files.Directory,
    name: str,
    pieces: Iterable[bytes],
    *,
    settle: Callable[[], None],
    keep: str | None,
    ancestors: tuple[Path, Sequence[str]] | None,
) -> files.Stamp | None:
    """Put new bytes in the place of ``name``, durably. Call under the file's lock.

    Args:
        directory: The open directory of the file.
        name: The file's name in it.
        pieces: The whole next version, in order.
        settle: Called once the new bytes are safe and just before the old version gives way; whatever it raises
            ends the change with nothing changed.
        keep: The name under which the present version is kept, or None when there is none worth keeping.
        ancestors: For a new file, the root and the directories that lead to it, made durable as well.

    Returns:
        The stamp of the file as it now stands, or None when the system would not say.

    Raises:
        OSError: The file system refused; the old version is untouched.
        UncertainError: The new version is in place, but the disk did not confirm it.
    """
    temporary, descriptor = directory.create_temporary(name)
    renamed = False
    try:
        files.write_all(descriptor, *pieces)
        files.mark(descriptor)
        files.sync_descriptor(descriptor)
        if ancestors is not None:
            # Before the rename: whoever finds the file need not ask whether the way to it is durable.
            files.sync_ancestors(*ancestors)
        settle()
        if keep is not None:
            keep_version(directory, name, keep)
        directory.rename(temporary, name)
        renamed = True
        _confirm(directory, name)
        return _stamp(descriptor)
    finally:
        _tidy(directory, None if renamed else temporary, descriptor)


def _stamp(descriptor: int) -> files.Stamp | None:
    # Everything is durable by now: failing here would deny what has happened.
    try:
        return files.Stamp.of(os.fstat(descriptor))
    except OSError:
        return None


def _confirm(directory: files.Directory, name: str) -> None:
    try:
        directory.sync()
    except OSError as error:
        raise UncertainError(
            phrase(
                "{path} was replaced, but the disk did not confirm it ({error}); look before you retry",
                path=directory.path / name,
                error=error.strerror,
            ),
            path=str(directory.path / name),
            errno=error.errno,
        ) from error


def keep_version(directory: files.Directory, name: str, keep: str) -> None:
    """Let ``keep`` be the present version of a file, in one step; durable with the directory's next sync."""
    live, kept = directory.stamp(name), directory.stamp(keep)
    if live is None or (kept is not None and kept.same_file(live)):
        # Renaming one name of a file over another one of it does nothing and would leave the first behind.
        return
    spare = files.temporary_name(name, "bak")
    if directory.link(name, spare):
        directory.rename(spare, keep)
    else:
        directory.copy(name, keep)


def _tidy(directory: files.Directory, temporary: str | None, descriptor: int) -> None:
    """Give everything back; what cannot be removed now is swept by the next writer."""
    files.close(descriptor)
    if temporary is not None:
        with contextlib.suppress(OSError):
            directory.unlink(temporary)


def sweep(directory: files.Directory, name: str) -> None:
    """Remove what interrupted writes of ``name`` left behind. Call under its lock only."""
    for loose in files.loose_files(directory, name):
        with contextlib.suppress(OSError):
            directory.unlink(loose)
