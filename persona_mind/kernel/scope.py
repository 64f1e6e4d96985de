"""Scope: which files a memory belongs to. The project is found from where the person works; the persona is the owner's.

Home is no project: someone who starts an agent there is not at work on a repository, and what is remembered there must
not come back in every folder below it.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_hooks.wellformed import checked_path

DEFAULT_SEGMENT: Final = "_default"
"""The file name of the owner that has no persona."""
SHARED_SEGMENT: Final = "_shared"

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
)
_HASHED: Final = re.compile(r"-[0-9a-f]{12}\Z", re.ASCII)


class Project(NamedTuple):
    """Where the person works.

    Attributes:
        root: The nearest directory above that is a Git work tree, else the working directory itself.
        slug: The name of the project's files: readable, and unique by a hash of the canonical path.
        home: True where the root is the person's home directory, which is no project.
    """

    root: Path
    slug: str
    home: bool


class Scope(NamedTuple):
    """Whose memory, and where.

    Attributes:
        persona: The persona's name; None for the owner that has none.
        segment: The persona's part of a file name, and its name on the rows that others can see.
        project: The project.
    """

    persona: str | None
    segment: str
    project: Project


def find_project(cwd: Path, home: Path) -> Project:
    """Return the project that ``cwd`` belongs to. It need not exist.

    Raises:
        InvalidError: No system has such a path.
    """
    start, base = canonical(checked_path(cwd, "cwd")), canonical(home)
    # Each verb asks anew, since a work tree may begin at any time; only what follows from the path alone is kept.
    root = next((place for place in _upwards(start) if place != base and _has_git(place)), start)
    return Project(root, _slug(root), home=root == base)


def segment(persona: str | None) -> str:
    """Return the part of a file name that stands for ``persona``; no two names share one.

    Raises:
        RefusedError: The name ends as the hashed segment of another name does, so that the two would share a file.
    """
    if persona is None:
        return DEFAULT_SEGMENT
    name = unicodedata.normalize("NFC", persona)
    short = _UNSAFE.sub("-", name).strip("-.")[:64]
    if not short:
        return f"persona-{_hash(name, 12)}"
    if _reserved(short):
        return f"persona-{short}-{_hash(name, 12)}"
    # A name with capitals would share its file with the same name in small letters on Windows.
    if short != name or (os.name == "nt" and name != name.lower()):
        return f"{short}-{_hash(name, 12)}"
    if _HASHED.search(name):
        raise RefusedError(
            phrase("This persona's name ends like the file name of another persona. Rename it."),
            reason="shared_file_name",
        )
    return short


def canonical(path: Path) -> Path:
    """Return the path's one true form: absolute, links resolved, NFC, in lower case on Windows."""
    name = os.path.abspath(path)  # noqa: PTH100
    try:
        link, place = os.lstat(name), os.stat(name)  # noqa: PTH116
    except OSError:
        return _resolved.__wrapped__(name)
    # A link may lead elsewhere tomorrow, and another project's memory is not to come along.
    return _resolved(name, (link.st_dev, link.st_ino, link.st_mtime_ns), (place.st_dev, place.st_ino))


@lru_cache(maxsize=256)
def _resolved(name: str, *_as_seen: tuple[int, ...]) -> Path:
    real = unicodedata.normalize("NFC", os.path.realpath(name))
    return Path(real.lower() if os.name == "nt" else real)


@lru_cache(maxsize=256)
def _upwards(place: Path) -> tuple[Path, ...]:
    return (place, *place.parents)


def _has_git(place: Path) -> bool:
    try:
        os.lstat(f"{place}{os.sep}.git")
    except OSError:  # absent, or not ours to look at: in both cases no work tree that we can name
        return False
    return True


@lru_cache(maxsize=256)
def _slug(root: Path) -> str:
    # No store may be called like a hidden file, and people do keep repositories such as ~/.dotfiles.
    name = _UNSAFE.sub("-", root.name).strip("-").lstrip("-.")[:48] or "project"
    return f"{name}-{_hash(str(root), 24)}"


def _hash(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]


def _reserved(short: str) -> bool:
    lowered = short.lower()
    return lowered in {DEFAULT_SEGMENT, SHARED_SEGMENT} or lowered.partition(".")[0] in _DEVICES
