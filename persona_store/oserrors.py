"""Turning what the operating system says into errors a caller can act on."""

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING

from persona_hooks.errors import UNCHANGED, PersonaError, StorageError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class storage_errors:  # noqa: N801 - it is used as a function; a generator would cost each change more
    """Raise what the file system refuses as StorageError: nothing was changed, ``path`` and ``errno`` say where."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Turn what was raised, if it is the file system's."""
        if isinstance(error, OSError) and not isinstance(error, PersonaError):
            raise storage_error(self._path, error) from error


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the StorageError for one refusal of the file system."""
    code = errno.errorcode.get(error.errno or 0, "EIO")
    return StorageError(
        phrase(
            "{path}: the file system refused ({error}); {unchanged}",
            path=path,
            error=error.strerror or code,
            unchanged=UNCHANGED,
        ),
        reason=code.lower(),
        path=str(path),
        errno=error.errno,
    )


@contextlib.contextmanager
def partly() -> Iterator[None]:
    """Let errors say that earlier steps of the same operation may have changed something; their messages follow."""
    try:
        yield
    except PersonaError as error:
        error.changed = "unknown"
        raise
