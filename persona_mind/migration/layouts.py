"""Where the original's earlier releases kept memory, and where each of their files belongs now.

Releases before 0.7 wrote another root. Releases before 0.5.3 named a project's files by the path as it was typed, and a
persona's file without the hash that keeps two names apart: that last name may be several personas' file, so it counts
only where a person says so.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from persona_store.oserrors import storage_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_mind.kernel.scope import Scope

Kind = Literal["ltm", "stm", "backlog"]

ROOT: Final = "pi-persona-mind"
FOLDERS: Final[dict[Kind, str]] = {"ltm": "memory/ltm", "stm": "memory/stm", "backlog": "backlog"}

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_RESERVED: Final = re.compile(r"(?i:_shared|_default|con|prn|aux|nul|com[1-9]|lpt[1-9])", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\.json", re.ASCII)


class Source(NamedTuple):
    """An old file, and the document that it goes into.

    Attributes:
        root: The root it stands below.
        relative: Its path there.
        destination: The document's path below the present root.
    """

    kind: Kind
    root: Path
    relative: str
    destination: str

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.root / self.relative


def root_files(old: Path) -> Iterator[Source]:
    """Yield the files of the old root, in order; there need be none.

    Raises:
        StorageError: A directory cannot be looked into.
    """
    for kind, folder in FOLDERS.items():
        with storage_errors(old / folder):
            try:
                with os.scandir(old / folder) as found:
                    names = sorted(entry.name for entry in found if entry.is_file(follow_symlinks=False))
            except (FileNotFoundError, NotADirectoryError):
                continue
        for name in names:
            if _NAME.fullmatch(name):
                yield Source(kind, old, f"{folder}/{name}", f"{folder}/{name}")


def project_files(roots: tuple[Path, ...], cwd: Path, home: Path, scope: Scope) -> Iterator[Source]:
    """Yield the files that a project had under its older name, where that differs."""
    old = old_slug(cwd, home)
    if old != scope.project.slug and not scope.project.home:
        for kind in ("stm", "backlog"):
            yield from _there(kind, roots, old, scope.project.slug)


def persona_files(roots: tuple[Path, ...], scope: Scope) -> Iterator[Source]:
    """Yield the files that may be this persona's under its older name, or another persona's."""
    old = old_segment(scope)
    if old is not None:
        yield from _there("ltm", roots, old, scope.segment)


def old_segment(scope: Scope) -> str | None:
    """Return the name that the persona's files had before names were kept apart, where it differs from today's."""
    if scope.persona is None:
        return None
    short = re.sub(r"\A[-.]+|[-.]+\Z", "", _UNSAFE.sub("-", scope.persona))[:64]
    if not short:
        return None
    old = f"persona-{short}" if _RESERVED.fullmatch(short) else short
    return None if old == scope.segment else old


def old_slug(cwd: Path, home: Path) -> str:
    """Return the name that the files of the project at ``cwd`` had: made of its path as typed, links and all."""
    start = Path(os.path.abspath(cwd))  # noqa: PTH100 - a link in it is not resolved, which is the point
    root = next((place for place in (start, *start.parents) if place != home and _is_repository(place)), start)
    name = _UNSAFE.sub("-", root.name or "project").strip("-")[:48] or "project"
    digest = hashlib.sha256(os.fspath(root).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{name}-{digest[:24]}"


def _there(kind: Kind, roots: tuple[Path, ...], old: str, new: str) -> Iterator[Source]:
    folder = FOLDERS[kind]
    for root in roots:
        if os.path.lexists(root / folder / f"{old}.json"):
            yield Source(kind, root, f"{folder}/{old}.json", f"{folder}/{new}.json")


def _is_repository(place: Path) -> bool:
    return os.path.lexists(place / ".git")
