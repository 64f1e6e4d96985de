"""What can go wrong, one branch for each thing a caller can do about it.

    PersonaError
    ├── RefusedError (PermissionError)        not allowed; change the request, or ask the owner
    │   └── InvalidError (ValueError)         the request itself is malformed; correct the named field
    ├── NotFoundError (LookupError)           the named thing is not there
    ├── ConflictError (RuntimeError)          something changed in between; read again, then retry
    ├── BusyError (TimeoutError)              somebody else holds it; wait and retry
    ├── CorruptError (ValueError)             what is on disk cannot be trusted; run ``persona doctor``
    ├── UnsupportedVersionError (ValueError)  written by a newer release; upgrade, nothing was touched
    ├── CapacityError (OverflowError)         a limit is reached; forget something or raise it
    ├── StorageError (OSError)                the file system refused; nothing was changed
    └── UncertainError (RuntimeError)         it may or may not have happened; look before you retry

Every error carries data for programs (``reason``, ``details``) and says whether anything was ``changed``.
No error carries the text of a memory or of a secret: a message names the file, the field or the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from persona_hooks.speech import Phrase, phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

Changed = Literal["yes", "no", "unknown"]
Detail = str | int | float | bool | None | list[str] | list[dict[str, str | bool]]

UNCHANGED: Final = phrase("nothing was changed")
"""Stands as a value in each message that says so: ``phrase("Busy; {unchanged}.", unchanged=UNCHANGED)``.

Whoever learns that earlier steps of the same operation did change something sets ``changed``, and the message follows.
"""
_PERHAPS: Final = phrase("earlier steps may have changed something")


class PersonaError(Exception):
    """The base of every error this project raises on purpose.

    Args:
        message: One sentence for a person: what happened and what to do, as a ``phrase`` where a card may show it.
            Never a memory's text.
        reason: A short stable word for programs, such as ``"no_companion"``; defaults to the branch's own.
        changed: Whether the operation changed anything: ``"yes"``, ``"no"`` or ``"unknown"``.
        details: Further facts for programs: a path, a field, an owner, a rule, a limit.
    """

    default_reason: ClassVar[str] = "error"
    default_changed: ClassVar[Changed] = "no"

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        changed: Changed | None = None,
        **details: Detail,
    ) -> None:
        super().__init__(message)
        self._message = message
        self.reason = reason or self.default_reason
        self.changed: Changed = changed or self.default_changed
        self.details: Mapping[str, Detail] = details

    @property
    def message(self) -> str:
        """The sentence for a person; what it says of changes is what ``changed`` says now."""
        if self.changed == "no" or not isinstance(self._message, Phrase):
            return self._message
        return self._message.replacing(UNCHANGED, _PERHAPS)

    def __str__(self) -> str:
        """Return the sentence, since OSError would print an errno tuple."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by data, so that errors cross process pools."""
        return _rebuild, (type(self), self.message, self.reason, self.changed, dict(self.details))


def _rebuild(
    kind: type[PersonaError], message: str, reason: str, changed: Changed, details: dict[str, Detail]
) -> PersonaError:
    return kind(message, reason=reason, changed=changed, **details)


class RefusedError(PersonaError, PermissionError):
    """The owner, a rule or a limit of the design does not allow it. Nothing was changed."""

    default_reason = "refused"


class InvalidError(RefusedError, ValueError):
    """The request is malformed; ``details["field"]`` names the argument. Nothing was changed."""

    default_reason = "invalid"


class NotFoundError(PersonaError, LookupError):
    """The named thing does not exist, or is not visible to this owner. Nothing was changed."""

    default_reason = "not_found"


class ConflictError(PersonaError, RuntimeError):
    """What the caller saw is no longer so: another writer came first. Nothing was changed."""

    default_reason = "conflict"


class BusyError(PersonaError, TimeoutError):
    """A lock or a slot is held by someone else; ``details`` names the holder. Nothing was changed."""

    default_reason = "busy"


class CorruptError(PersonaError, ValueError):
    """A file cannot be trusted; ``details["path"]`` names it. What was read is kept."""

    default_reason = "corrupt"


class UnsupportedVersionError(PersonaError, ValueError):
    """A file or a message is of a version this release does not know. It is left untouched."""

    default_reason = "unsupported_version"


class CapacityError(PersonaError, OverflowError):
    """A limit would be exceeded; ``details["limit"]`` names it. Nothing was changed."""

    default_reason = "capacity"


class StorageError(PersonaError, OSError):
    """The file system refused an operation before anything was changed."""

    default_reason = "storage_error"


class UncertainError(PersonaError, RuntimeError):
    """The operation failed after the point where it may have taken effect. Look before retrying."""

    default_reason = "uncertain"
    default_changed = "unknown"
