"""Many processes writing one profile at once, some of them killed, and what must be true afterwards."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.crash.documents import adding, ids, store

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Commit:
    """One acknowledged change: when it was asked for, when it was acknowledged, and its place in the order."""

    identity: str
    sequence: int
    began: float
    ended: float


@dataclass
class Trace:
    """What the writers say they did, and what is there in the end."""

    commits: list[Commit] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    killed: int = 0
    slowest_after_kill: float = 0.0

    def violations(self) -> list[str]:
        found = []
        acknowledged = [commit.identity for commit in self.commits]
        lost = set(acknowledged) - set(self.final)
        if lost:
            found.append(f"{len(lost)} acknowledged changes are lost")
        if len(set(self.final)) != len(self.final):
            found.append("a change is there twice")
        if len(set(self.final) - set(acknowledged)) > self.killed:
            found.append("more unacknowledged changes than kills")
        return found + order_violations(self.commits, self.final)


def order_violations(commits: list[Commit], final: list[str]) -> list[str]:
    """Linearizability, cheap here since every commit names its place.

    The order of places must agree with real time, and with the order of the rows.
    """
    found = []
    ordered = sorted(commits, key=lambda commit: commit.sequence)
    if len({commit.sequence for commit in ordered}) != len(ordered):
        found.append("two changes have one place in the order")
    earliest_end = float("inf")
    for commit in reversed(ordered):
        if earliest_end < commit.began:
            found.append(f"{commit.identity} came after a change that began once it had ended")
        earliest_end = min(earliest_end, commit.ended)
    places = {identity: place for place, identity in enumerate(final)}
    order = [places[commit.identity] for commit in ordered if commit.identity in places]
    if order != sorted(order):
        found.append("the rows stand in another order than the changes")
    return found


def slow_renames(seconds: float) -> None:
    """Let every rename of this process wait first, as on a busy disk, so that writers meet where it matters."""
    real = os.rename

    def rename(source: str, target: str, **keywords: int) -> None:
        time.sleep(seconds)
        real(source, target, **keywords)

    os.rename = rename  # type: ignore[assignment]


def write_many(root: Path, processes: int, adds: int, *, kills: int = 0, seed: int = 0, slow: float = 0.0) -> Trace:
    """Let processes add rows to one document, killing some at random; each killed one is replaced.

    With ``slow`` every rename waits so many seconds first.
    """
    logs = root.parent / f"{root.name}-logs"
    logs.mkdir()
    trace, chance = Trace(), random.Random(seed)
    running = {_start(root, logs, f"w{number}", adds, slow): f"w{number}" for number in range(processes)}
    while running:
        if trace.killed < kills:
            time.sleep(chance.uniform(0.005, 0.05))
            _kill_one(root, logs, running, adds, chance, trace)
        else:
            pid, status = os.wait()
            name = running.pop(pid)
            assert status == 0, f"{name} ended with {status}: {(logs / name).read_text()[-500:]}"
    trace.commits = [_commit(line) for log in sorted(logs.iterdir()) for line in log.read_text().splitlines()]
    trace.final = ids(root)
    return trace


def _kill_one(root: Path, logs: Path, running: dict[int, str], adds: int, chance: random.Random, trace: Trace) -> None:
    pid = chance.choice(sorted(running))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    name = running.pop(pid)
    if not os.WIFSIGNALED(status):
        # It had ended before the kill came.
        assert status == 0, f"{name} ended with {status}: {(logs / name).read_text()[-500:]}"
        return
    trace.killed += 1
    began = time.monotonic()
    before = len(ids(root))
    while len(ids(root)) == before and running:
        time.sleep(0.001)
        if time.monotonic() - began > 30 or _all_done(running):
            break
    trace.slowest_after_kill = max(trace.slowest_after_kill, time.monotonic() - began)
    heir = f"{name}+"
    running[_start(root, logs, heir, adds)] = heir


def _all_done(running: dict[int, str]) -> bool:
    return all(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None for pid in running)


def _start(root: Path, logs: Path, name: str, adds: int, slow: float = 0.0) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        log = os.open(logs / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if slow:
                slow_renames(slow)
            _write(root, log, name, adds)
            code = 0
        except BaseException as error:  # noqa: BLE001 - told to the parent
            os.write(log, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)
    return pid


def _write(root: Path, log: int, name: str, adds: int) -> None:
    mine, document = store(root)
    for number in range(adds):
        identity = f"{name}-{number}"
        began = time.monotonic()
        with mine.transaction(timeout=120) as transaction:
            sequence = transaction.update(document, adding(document, identity)).snapshot.sequence
        os.write(log, f"{identity} {sequence} {began!r} {time.monotonic()!r}\n".encode())


def _commit(line: str) -> Commit:
    identity, sequence, began, ended = line.split()
    return Commit(identity, int(sequence), float(began), float(ended))
