"""Previous versions, swept so that they keep nothing that the present ones do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.errors import UNCHANGED, ConflictError
from persona_hooks.speech import phrase
from persona_store import commit, copies, files, foreign_lock, recovery
from persona_store.locks import DEFAULT_TIMEOUT, LockName, Rank
from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_store.copies import Holding
    from persona_store.document import Document
    from persona_store.jsontext import JsonValue
    from persona_store.transaction import Profile


def scrub(
    profile: Profile,
    document: Document[dict[str, JsonValue]],
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> bool:
    """Replace a document's previous version by its present one. Durable when this returns.

    Returns:
        False where it was left as it was, since it is the newer of the two: a person has yet to choose.
    """
    name = LockName(Rank.STORE, document.family, document.relative)
    with profile.locks.hold(name, timeout, check), storage_errors(document.path):
        directory = document.open()
        if directory is None:
            return True
        with directory:
            commit.sweep(directory, document.name)
            snapshot = document.read_in(directory)
            if recovery.is_older_than_previous(document, directory, snapshot):
                return False
            if snapshot.exists and directory.stamp(document.backup_name) is not None:
                # No second name of the live file: an edit in place would damage both.
                directory.copy(document.name, document.backup_name)
                directory.sync()
            return True


def sweep_both(
    profile: Profile,
    document: Document[dict[str, JsonValue]],
    holding: Holding,
    check: Callable[[], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> tuple[bool | None, bool | None]:
    """Take rows out of a document and of its newer previous version, each of which stays what it is. Durable.

    Returns:
        Of the previous version and of the document's own file whether it changed; None where it cannot be read and
        holds what is to go.
    """
    name = LockName(Rank.STORE, document.family, document.relative)
    with profile.locks.hold(name, timeout, check) as hold, storage_errors(document.path):
        foreign_lock.wait(document.path, timeout, check)

        def settle() -> None:
            hold.check()
            foreign_lock.refuse(document.path)
            if check is not None:
                check()

        with files.open_directory(document.root, document.parts) as directory:
            previous = _sweep(directory, document.backup_name, holding, settle)
            return previous, _sweep(directory, document.name, holding, settle)


def _sweep(directory: files.Directory, name: str, holding: Holding, settle: Callable[[], None]) -> bool | None:
    stamp, data = directory.stamp(name), directory.read_head(name, copies.MAX_SEARCHED)
    kept = copies.kept_of(data, holding)
    if kept is None or kept == data:
        return None if kept is None else False

    def unmoved() -> None:
        settle()
        if directory.stamp(name) != stamp:
            path = directory.path / name
            raise ConflictError(
                phrase("{path} kept changing; {unchanged}", path=path, unchanged=UNCHANGED), path=str(path)
            )

    commit.replace_file(directory, name, [kept], settle=unmoved, keep=None, ancestors=None)
    return True
