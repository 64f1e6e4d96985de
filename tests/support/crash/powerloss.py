"""What a disk may hold after the power fails: every legal state, made and judged.

While a program runs, its file effects are recorded as operations on files and directories. Cut anywhere, the disk
holds everything that was synced and any part of what was not: a file's bytes absent, half there, zeros or whole;
a directory's changes in any combination, whatever their order.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from tests.support.crash.battery import child
from tests.support.crash.effects import Effect, Plan, Shim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

Event = tuple[object, ...]
Variant = Literal["none", "half", "zeros", "full"]
VARIANTS: tuple[Variant, ...] = ("none", "half", "zeros", "full")


@dataclass
class Recorder:
    """Turns effects into events on numbered files and directories; number 0 is the root."""

    root: str
    events: list[Event] = field(default_factory=list)
    _names: dict[int, dict[str, int]] = field(default_factory=lambda: {0: {}})
    _open: dict[int, tuple[int, int]] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)
    _next: int = 1

    def observe(self, effect: Effect) -> None:
        handler = getattr(self, f"_{effect.name}", None)
        if handler is not None:
            handler(effect)

    def acknowledge(self) -> None:
        self.events.append(("ack",))

    def _place(self, path: object, descriptor: int | None) -> tuple[int, str]:
        text = os.fspath(cast("str", path))
        if descriptor is not None:
            return self._open[descriptor][0], text
        parts = text[len(self.root) :].strip("/").split("/")
        node = 0
        for part in parts[:-1]:
            node = self._names[node][part]
        return node, parts[-1]

    def _node(self, path: object, descriptor: int | None) -> int:
        if os.fspath(cast("str", path)).rstrip("/") == self.root and descriptor is None:
            return 0
        directory, name = self._place(path, descriptor)
        return self._names[directory][name]

    def _fresh(self) -> int:
        self._next += 1
        return self._next

    def _open_(self, effect: Effect) -> None:
        path, flags = effect.arguments[0], cast("int", effect.arguments[1])
        if os.fspath(path).rstrip("/") == self.root:
            self._open[effect.result] = (0, 0)
            return
        directory, name = self._place(path, effect.keywords.get("dir_fd"))
        if flags & os.O_CREAT and name not in self._names[directory]:
            number = self._fresh()
            self._names[directory][name] = number
            self._sizes[number] = 0
            self.events.append(("file", number))
            self.events.append(("set", directory, name, number))
        number = self._names[directory][name]
        self._open[effect.result] = (number, self._sizes.get(number, 0) if flags & os.O_APPEND else 0)

    def _mkdir(self, effect: Effect) -> None:
        directory, name = self._place(effect.arguments[0], effect.keywords.get("dir_fd"))
        number = self._fresh()
        self._names[directory][name] = number
        self._names[number] = {}
        self.events.append(("directory", number))
        self.events.append(("set", directory, name, number))

    def _write(self, effect: Effect) -> None:
        number, offset = self._open[cast("int", effect.arguments[0])]
        data = bytes(effect.arguments[1])[: effect.result]
        self._open[cast("int", effect.arguments[0])] = (number, offset + len(data))
        self._put(number, offset, data)

    def _writev(self, effect: Effect) -> None:
        pieces = b"".join(cast("list[bytes]", effect.arguments[1]))
        self._write(Effect("write", (effect.arguments[0], pieces), {}, effect.result))

    def _pwrite(self, effect: Effect) -> None:
        number, _ = self._open[cast("int", effect.arguments[0])]
        self._put(number, cast("int", effect.arguments[2]), bytes(effect.arguments[1])[: effect.result])

    def _put(self, number: int, offset: int, data: bytes) -> None:
        self._sizes[number] = max(self._sizes[number], offset + len(data))
        self.events.append(("write", number, offset, data))

    def _fsync(self, effect: Effect) -> None:
        self.events.append(("sync", self._open[cast("int", effect.arguments[0])][0]))

    def _rename(self, effect: Effect) -> None:
        source, old = self._place(effect.arguments[0], effect.keywords.get("src_dir_fd"))
        target, new = self._place(effect.arguments[1], effect.keywords.get("dst_dir_fd"))
        number = self._names[source].pop(old)
        self._names[target][new] = number
        self.events.append(("rename", source, old, target, new, number))

    def _link(self, effect: Effect) -> None:
        number = self._node(effect.arguments[0], effect.keywords.get("src_dir_fd"))
        target, name = self._place(effect.arguments[1], effect.keywords.get("dst_dir_fd"))
        self._names[target][name] = number
        self.events.append(("set", target, name, number))

    def _unlink(self, effect: Effect) -> None:
        directory, name = self._place(effect.arguments[0], effect.keywords.get("dir_fd"))
        self._names[directory].pop(name)
        self.events.append(("del", directory, name))


def record(steps: Iterable[Callable[[Path], object]], root: Path, plan: Plan | None = None) -> list[Event]:
    """Run steps in a child process below an empty directory; each is followed by an ``ack`` event.

    A ``plan`` injures one effect; the steps must bear it.
    """
    todo = list(steps)
    recorder = Recorder(str(root))

    def observe(effect: Effect) -> None:
        if effect.name == "open":
            recorder._open_(effect)
        else:
            recorder.observe(effect)

    def work() -> list[Event]:
        for step in todo:
            step(root)
            recorder.acknowledge()
        return recorder.events

    outcome = child(work, Shim(str(root), plan, observe))
    assert outcome.word == "acknowledged", outcome.detail
    return cast("list[Event]", outcome.value)


@dataclass
class Disk:
    """What is durable, and what is on its way."""

    directories: dict[int, dict[str, int]] = field(default_factory=lambda: {0: {}})
    files: dict[int, bytes] = field(default_factory=dict)
    moving: list[tuple[int, ...] | tuple[object, ...]] = field(default_factory=list)
    dirty: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    acknowledged: int = 0

    def apply(self, event: Event) -> None:
        match event:
            case ("ack",):
                self.acknowledged += 1
            case ("file", int(number)):
                self.files[number] = b""
            case ("directory", int(number)):
                self.directories[number] = {}
            case ("write", int(number), int(offset), bytes(data)):
                self.dirty.setdefault(number, []).append((offset, data))
            case ("sync", int(number)) if number in self.directories:
                self._settle(number)
            case ("sync", int(number)):
                self.files[number] = written(self.files[number], self.dirty.pop(number, []), "full")
            case _:
                self.moving.append(event)

    def _settle(self, directory: int) -> None:
        for change in [change for change in self.moving if change[1] == directory]:
            _change(self.directories, change)
            self.moving.remove(change)


def written(old: bytes, writes: list[tuple[int, bytes]], variant: Variant) -> bytes:
    """Return a file's bytes when its unsynced writes reached the disk in this way."""
    if variant == "none":
        return old
    image = bytearray(old)
    for offset, data in writes:
        kept = data[: len(data) // 2] if variant == "half" else bytes(len(data)) if variant == "zeros" else data
        image.extend(bytes(max(0, offset + len(kept) - len(image))))
        image[offset : offset + len(kept)] = kept
    return bytes(image)


def _change(directories: dict[int, dict[str, int]], change: tuple[object, ...]) -> None:
    match change:
        case ("set", int(directory), str(name), int(number)):
            directories[directory][name] = number
        case ("del", int(directory), str(name)):
            directories[directory].pop(name, None)
        case ("rename", int(source), str(old), int(target), str(new), int(number)):
            directories[source].pop(old, None)
            directories[target][new] = number
        case _:
            raise AssertionError(f"an unknown change: {change[0]!r}")


State = tuple[dict[int, dict[str, int]], dict[int, bytes]]


def states(disk: Disk, cap: int, chance: random.Random) -> Iterator[State]:
    """Every state the disk may be found in, at most ``cap`` of them; beyond that a random choice."""
    moving, dirty = disk.moving, sorted(disk.dirty)
    choices = len(moving) + 2 * len(dirty)
    if 2**choices <= cap:
        subsets: Iterable[tuple[bool, ...]] = itertools.product((False, True), repeat=len(moving))
        picks = [(subset, mix) for subset in subsets for mix in itertools.product(VARIANTS, repeat=len(dirty))]
    else:
        picks = [
            (tuple(chance.random() < 0.5 for _ in moving), tuple(chance.choice(VARIANTS) for _ in dirty))
            for _ in range(cap)
        ]
        prefixes = [tuple(at < length for at in range(len(moving))) for length in range(len(moving) + 1)]
        picks += [(prefix, (variant,) * len(dirty)) for prefix in prefixes for variant in VARIANTS]
    for subset, mix in picks:
        directories = {number: dict(names) for number, names in disk.directories.items()}
        for change, kept in zip(moving, subset, strict=True):
            if kept:
                _change(directories, change)
        files = dict(disk.files)
        for number, variant in zip(dirty, mix, strict=True):
            files[number] = written(files[number], disk.dirty[number], variant)
        yield directories, files


def materialise(state: State, root: Path) -> None:
    """Lay a state out as real files."""
    directories, files = state
    made: dict[int, Path] = {}

    def lay(number: int, path: Path) -> None:
        path.mkdir(mode=0o700, exist_ok=True)
        for name, inner in directories[number].items():
            target = path / name
            if inner in directories:
                lay(inner, target)
            elif inner in made:
                os.link(made[inner], target)
            else:
                target.write_bytes(files[inner])
                target.chmod(stat.S_IRUSR | stat.S_IWUSR)
                made[inner] = target

    lay(0, root)


def shape(state: State) -> int:
    """A value equal for states that look the same from outside."""
    directories, files = state

    def part(number: int) -> object:
        if number in files:
            return files[number]
        return frozenset((name, part(inner)) for name, inner in directories[number].items())

    return hash(part(0))


@dataclass
class Findings:
    """How many states there were, and which broke the promise."""

    states: int = 0
    points: int = 0
    violations: list[str] = field(default_factory=list)


def judge(
    events: list[Event],
    scratch: Path,
    verdict: Callable[[Path, int], str | None],
    *,
    cap: int = 400,
    seed: int = 0,
    stop_at: int = 0,
    since: int = 0,
) -> Findings:
    """Cut the power after every event and judge each state.

    Args:
        events: From `record`.
        scratch: Where states are laid out, best in memory.
        verdict: Given a state's directory and how many steps were acknowledged, says what is wrong, or None.
        cap: States tried after each event.
        seed: For the random choice beyond the cap.
        stop_at: Give up after so many violations; 0 means never.
        since: The first event to cut after.
    """
    found = Findings()
    disk, chance, seen = Disk(), random.Random(seed), set[tuple[int, int]]()
    for at, event in enumerate(events):
        disk.apply(event)
        if at < since:
            continue
        found.points += 1
        for state in states(disk, cap, chance):
            key = (disk.acknowledged, shape(state))
            if key in seen:
                continue
            seen.add(key)
            found.states += 1
            root = scratch / "state"
            materialise(state, root)
            wrong = verdict(root, disk.acknowledged)
            shutil.rmtree(root)
            if wrong is not None:
                found.violations.append(f"after event {at} {event[:3]!r}, {disk.acknowledged} acknowledged: {wrong}")
                if stop_at and len(found.violations) >= stop_at:
                    return found
    return found
