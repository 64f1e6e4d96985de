"""Turning what the operating system says into errors a caller can act on."""

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING

from persona_hooks.errors import PersonaError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise what the file system refuses as StorageError: nothing was changed, ``path`` and ``errno`` say where."""
    try:
        yield
    except PersonaError:
        raise
    except OSError as error:
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the StorageError for one refusal of the file system."""
    code = errno.errorcode.get(error.errno or 0, "EIO")
    return StorageError(
        f"{path}: the file system refused ({error.strerror or code}); nothing was changed",
        reason=code.lower(),
        path=str(path),
        errno=error.errno,
    )


@contextlib.contextmanager
def partly() -> Iterator[None]:
    """Let errors say that earlier steps of the same operation may have changed something."""
    try:
        yield
    except PersonaError as error:
        error.changed = "unknown"
        raise
