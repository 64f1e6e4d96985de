"""The session logs of a project: found by what their headers say, read once, and then only as far as they grew.

A log is known by inode, size and time of change. Looking at thousands of files takes longer than searching them, so
that what was looked at counts for two seconds; a file that came or went in a folder is seen at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persona_hooks import logfile
from persona_hooks.errors import PersonaError
from persona_hooks.logformat import Header, parse_header
from persona_hooks.session_logs import SUFFIX
from persona_mind.kernel.scope import find_project
from persona_mind.sessions.model import EMBEDDED, PI
from persona_mind.sessions.reading import NOBODY, UNRECORDED, Passed, Reader, Said, Switched, embedded, pi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from persona_mind.kernel.scope import Project

FRESH_SECONDS: Final = 2.0
_CHECKED: Final = 64
"""Bytes before the end of what was read that must still stand there for a log to count as grown."""
_FIRST: Final = 64 * 1024
"""Bytes that a log's first line may have."""

Stamp = tuple[int, int, int]
"""Inode, size and time of change of a file."""


@dataclass(slots=True)
class Log:
    """One log, as far as it has been read.

    Attributes:
        said: What was said in it, in the order of writing, while memory was not off.
        unsaid: The ids and times of what was said while it was; forks repeat it, perhaps without the switch.
        unreadable: It is no log, or too long, or cannot be opened.
    """

    path: Path
    reader: Reader
    stamp: Stamp = (0, 0, 0)
    header: Header | None = None
    said: list[Said] = field(default_factory=list)
    unsaid: set[tuple[str, float | None]] = field(default_factory=set)
    unreadable: bool = False
    _off: bool = False
    _named: bool = False
    _speakers: dict[str | None, object] = field(default_factory=dict)
    _offset: int = 0
    _last: bytes = b""

    def read(self, stamp: Stamp) -> None:
        """Take in what the file holds by now; one that was replaced or changed is read anew."""
        if stamp == self.stamp:
            return
        grown = stamp[0] == self.stamp[0] and stamp[1] > self.stamp[1] and not self.unreadable
        self.stamp = stamp
        try:
            if not (grown and self._go_on()):
                self._begin()
            self.unreadable = self.header is None
        except PersonaError:
            self.said, self.header, self.unreadable = [], None, True

    def _begin(self) -> None:
        self.said, self.unsaid, self._off, self._offset, self._last = [], set(), False, 0, b""
        self._named, self._speakers = False, {}
        data, _ = logfile.read(self.path)
        first, newline, rest = data.partition(b"\n")
        self.header = parse_header(first if newline else b"", str(self.path))
        self._offset, self._last = len(first) + 1, (first + newline)[-_CHECKED:]
        self._take(rest)

    def _go_on(self) -> bool:
        data, _ = logfile.read(self.path, self._offset - len(self._last))
        if not data.startswith(self._last):
            return False
        self._take(data[len(self._last) :])
        return True

    def _take(self, data: bytes) -> None:
        # A line without its end is being written just now; it is read once it has one.
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            return
        for read in map(self.reader, whole.split(b"\n")):
            if isinstance(read, Switched):
                self._off = not read.on
            if isinstance(read, Said):
                self._hear(read)
            elif read is not None:
                self._pass(read)
        self._offset += len(whole)
        self._last = (self._last + whole)[-_CHECKED:]

    def _hear(self, said: Said) -> None:
        if self._off:
            self.unsaid.add((said.id, said.at))
        persona = said.persona
        if persona is UNRECORDED:
            persona = self._above(said.parent)
            self._follow(said.id, persona)
        if not self._off:
            self.said.append(said if persona is said.persona else replace(said, persona=persona))

    def _pass(self, step: Switched | Passed) -> None:
        """Keep whose conversation it is from entry to entry: along its branch, not along the file."""
        if isinstance(step, Switched) or step.persona is UNRECORDED:
            self._follow(step.id, self._above(step.parent))
            return
        self._named = True
        self._follow(step.id, step.persona)
        if step.doubted:
            self._speakers |= dict.fromkeys(step.doubted, NOBODY)
            self.said = [replace(said, persona=NOBODY) if said.id in step.doubted else said for said in self.said]

    def _above(self, parent: str | None) -> object:
        """Return whose conversation it was above an entry.

        Once somebody was named, what hangs from nothing that is known here may be anybody's, and is shown to nobody.
        """
        return self._speakers.get(parent, NOBODY if self._named else UNRECORDED)

    def _follow(self, key: str, persona: object) -> None:
        """Note whose it is below an entry: nobody's where one id stands for two entries that differ in it."""
        self._speakers[key] = persona if self._speakers.get(key, persona) == persona else NOBODY


@dataclass(slots=True)
class _Folder:
    """A folder of logs. Pi names one for a working directory, and gives /a/b-c and /a/b/c the same.

    Attributes:
        projects: Whose each log is, by its name and inode; None while its first line is no header.
        logs: Those that were read, by their names.
    """

    reader: Reader
    projects: dict[tuple[str, int], str | None] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)


@dataclass(slots=True)
class _Look:
    """What was seen of a project when it was last looked at."""

    at: float
    folders: list[tuple[Path, int]]
    logs: list[Log]
    stamps: list[tuple[Path, Stamp]]


class Logs:
    """All logs below one agent directory. Making it touches no disk, and using it writes nothing."""

    def __init__(self, agent_dir: Path, home: Path, monotonic: Callable[[], float]) -> None:
        self.roots: tuple[tuple[Path, Reader], ...] = (
            (agent_dir / EMBEDDED, embedded),
            (agent_dir / PI, pi),
        )
        self._home = home
        self._monotonic = monotonic
        self._folders: dict[Path, _Folder] = {}
        self._slugs: dict[str, str] = {}
        self._looked: dict[str, _Look] = {}

    def of(self, project: Project) -> list[Log]:
        """Return a project's logs, those written to last first; the same list while none of them changed."""
        folders = list(self._listed())
        now = self._monotonic()
        known = self._looked.get(project.slug)
        if known is not None and known.folders == folders and 0 <= now - known.at < FRESH_SECONDS:
            return known.logs
        logs = [log for path, _ in folders for log in self._look(path, project)]
        logs.sort(key=lambda log: (log.stamp[2], log.path.name), reverse=True)
        stamps = [(log.path, log.stamp) for log in logs]
        if known is not None and known.stamps == stamps:
            known.at, known.folders = now, folders
            return known.logs
        self._looked[project.slug] = _Look(now, folders, logs, stamps)
        return logs

    def _listed(self) -> Iterator[tuple[Path, int]]:
        """Yield every folder of logs with its time of change."""
        for root, reader in self.roots:
            for entry in _entries(root):
                status = _status(entry) if entry.is_dir(follow_symlinks=False) else None
                if status is not None:
                    path = Path(entry.path)
                    self._folders.setdefault(path, _Folder(reader))
                    yield path, status.st_mtime_ns

    def _look(self, path: Path, project: Project) -> list[Log]:
        """Return the project's logs in one folder, read as far as they are now."""
        folder = self._folders[path]
        files = [item for item in _entries(path) if item.name.endswith(SUFFIX) and item.is_file(follow_symlinks=False)]
        known = folder.projects
        folder.projects = {
            key: self._of(item.path) if known.get(key) is None else known[key] for item in files for key in [_key(item)]
        }
        if project.slug not in folder.projects.values():
            return []
        found: dict[str, Log] = {}
        for item in files:
            # What cannot be read may be this project's as well as another's, and is told of in each.
            status = _status(item) if folder.projects[_key(item)] in {project.slug, None} else None
            if status is not None:
                log = found[item.name] = folder.logs.get(item.name) or Log(Path(item.path), folder.reader)
                log.read((status.st_ino, status.st_size, status.st_mtime_ns))
        folder.logs.update(found)
        return [log for log in found.values() if log.header is None or self._slug(log.header.cwd) == project.slug]

    def _of(self, path: str) -> str | None:
        """Return whose a log is, from its first line alone; None where that is no header."""
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - a name from a directory's listing
                return self._slug(parse_header(file.readline(_FIRST), path).cwd)
        except (OSError, PersonaError):
            return None

    def _slug(self, cwd: str) -> str:
        """Return the project of a working directory; nothing where it is none, which a relative one is not."""
        if cwd not in self._slugs:
            self._slugs[cwd] = find_project(Path(cwd), self._home).slug if os.path.isabs(cwd) else ""  # noqa: PTH117
        return self._slugs[cwd]


def _key(item: os.DirEntry[str]) -> tuple[str, int]:
    return item.name, item.inode()


def _status(item: os.DirEntry[str]) -> os.stat_result | None:
    """Return what is known of a file; None where it is gone, which hosts may do with theirs at any time."""
    try:
        return item.stat(follow_symlinks=False)
    except OSError:
        return None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # not there, or not ours to look at: no conversation that we could quote
        return []
