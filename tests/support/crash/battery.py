"""One operation, injured at every file effect it has, and judged each time by what is left on the disk.

The operation is a callable, so that a sweep over all verbs of a registry can use this as it stands.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pickle
import random
import select
import shutil
import signal
import stat
import traceback
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast

import filelock  # noqa: F401 - every child needs it; imported once here, it is not imported again in each

from persona_hooks.errors import PersonaError
from tests.support.crash.effects import Fault, Plan, Shim, plans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ALL: tuple[Fault, ...] = ("kill_before", "kill_after", "interrupt", "short", "errno")
PATIENCE = 60.0


def either(before: object, after: object, state: object) -> bool:
    """The rule for an operation of one step: it happened or it did not."""
    return bool(state in (before, after))


@dataclass(frozen=True)
class Operation:
    """What is injured.

    Attributes:
        name: For reports.
        seed: Fills an empty directory with the state before; runs unharmed.
        run: The operation; runs in a child process, with the fault. Returning means that it was acknowledged.
        look: Reads the state as a value that compares; runs unharmed in a fresh process and must not raise.
        again: What the next writer does; must succeed whatever happened. Defaults to ``run``.
        legal: Whether a state may be left by an interrupted run, given the states before and after.
        prepare: What has to be there before the operation can run; runs in its child, unharmed.
    """

    name: str
    seed: Callable[[Path], None]
    run: Callable[[Path], object]
    look: Callable[[Path], object]
    again: Callable[[Path], object] | None = None
    legal: Callable[[object, object, object], bool] = either
    prepare: Callable[[Path], object] | None = None


@dataclass
class Report:
    """What a battery found; ``violations`` is empty when the promise held."""

    operation: str
    points: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Take in what was found at other points of the same operation."""
        self.points += other.points
        self.kinds += other.kinds
        self.outcomes += other.outcomes
        self.violations += other.violations

    def plain(self) -> dict[str, object]:
        """Return it as data for JSON."""
        return {**vars(self), "kinds": dict(self.kinds), "outcomes": dict(self.outcomes)}


@dataclass(frozen=True)
class Outcome:
    """How a child ended: ``acknowledged``, ``died``, ``stuck``, or the name of an error."""

    word: str
    changed: str = ""
    expected: bool = True
    value: object = None
    log: tuple[str, ...] = ()
    detail: str = ""


def child(work: Callable[[], object], shim: Shim | None = None, prepare: Callable[[], object] | None = None) -> Outcome:
    """Do something in a forked process and tell how it ended; ``prepare`` is done before the shim is installed."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _in_child(work, shim, prepare, write_end)
    os.close(write_end)
    try:
        return _await(pid, read_end)
    finally:
        os.close(read_end)


def _in_child(
    work: Callable[[], object], shim: Shim | None, prepare: Callable[[], object] | None, write_end: int
) -> None:
    real_write, real_exit = os.write, os._exit
    try:
        # Plain data: an engine loaded anew has other classes of the same names.
        payload = pickle.dumps(_ended(work, shim, prepare))
        view = memoryview(payload)
        while view:
            view = view[real_write(write_end, view) :]
    finally:
        # Nothing may lead a child back into its parent's program.
        real_exit(0)


def _ended(work: Callable[[], object], shim: Shim | None, prepare: Callable[[], object] | None) -> tuple[object, ...]:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    # Whether bytes are compared must not hang on how fast this machine is just now.
    importlib.import_module("persona_store.files").YOUNG_NS = 1 << 62  # type: ignore[attr-defined]
    word, changed, known, value, detail = "acknowledged", "", True, None, ""
    try:
        if prepare is not None:
            prepare()
        if shim is not None:
            shim.install()
        value = work()
    except BaseException as error:  # noqa: BLE001 - the parent judges it
        known = isinstance(error, PersonaError | KeyboardInterrupt)
        word, changed = type(error).__name__, getattr(error, "changed", "")
        detail = str(error) if known else traceback.format_exc()
    return word, changed, known, value, tuple(shim.log) if shim else (), detail


def _await(pid: int, read_end: int) -> Outcome:
    chunks = []
    while select.select([read_end], [], [], PATIENCE)[0]:
        chunk = os.read(read_end, 1 << 20)
        if not chunk:
            os.waitpid(pid, 0)
            break
        chunks.append(chunk)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return Outcome("stuck")
    if not chunks:
        return Outcome("died")
    return Outcome(*pickle.loads(b"".join(chunks)))  # noqa: S301 - written by our own child


@contextmanager
def copied(template: Path, scratch: Path) -> Iterator[Path]:
    """A fresh copy of a seeded directory."""
    target = scratch / "agent"
    shutil.copytree(template, target, symlinks=True)
    try:
        yield target
    finally:
        shutil.rmtree(target)


def injure(
    operation: Operation,
    scratch: Path,
    kinds: tuple[Fault, ...] = ALL,
    every: int = 1,
    stop_at: int = 0,
    first: int = 0,
    sample: int = 0,
) -> Report:
    """Run the whole battery.

    Args:
        operation: What to injure.
        scratch: An empty directory, best in memory.
        kinds: Which faults.
        every: Take each n-th point only, for a quick look, or to share the points among processes.
        stop_at: Give up after so many violations; 0 means never.
        first: The first point that is taken, counted from 0.
        sample: Take so many of these only, always the same ones; 0 means all.
    """
    template = scratch / "template"
    template.mkdir(mode=0o700)
    _must(child(lambda: operation.seed(template)), "seed")
    before = _look(operation, template)
    with copied(template, scratch) as root:
        healthy = child(partial(operation.run, root), Shim(str(root)), _prepared(operation, root))
        _must(healthy, "healthy run")
        after = _look(operation, root)
    report = Report(operation.name)
    wanted = plans(list(healthy.log), kinds)[first::every]
    if sample:
        wanted = random.Random(operation.name).sample(wanted, min(sample, len(wanted)))
    for plan in wanted:
        with copied(template, scratch) as root:
            outcome = child(partial(operation.run, root), Shim(str(root), plan), _prepared(operation, root))
            _judge(operation, root, plan, outcome, (before, after), healthy.log[plan.at], report)
        if stop_at and len(report.violations) >= stop_at:
            break
    shutil.rmtree(template)
    return report


def _prepared(operation: Operation, root: Path) -> Callable[[], object] | None:
    return None if operation.prepare is None else partial(operation.prepare, root)


def _must(outcome: Outcome, what: str) -> None:
    if outcome.word != "acknowledged":
        raise AssertionError(f"{what}: {outcome.word} {outcome.detail}")


def _look(operation: Operation, root: Path) -> object:
    outcome = child(lambda: operation.look(root))
    _must(outcome, "look")
    return outcome.value


def _judge(
    operation: Operation,
    root: Path,
    plan: Plan,
    outcome: Outcome,
    states: tuple[object, object],
    name: str,
    report: Report,
) -> None:
    report.points += 1
    report.kinds[plan.fault] += 1
    report.outcomes[outcome.word] += 1
    where = f"{operation.name}: {plan.fault} at {plan.at} ({name}, errno {plan.code}, persistent {plan.persistent})"
    report.violations += [f"{where}: {fault}" for fault in _faults(operation, root, plan, outcome, states, name)]


def _faults(
    operation: Operation, root: Path, plan: Plan, outcome: Outcome, states: tuple[object, object], name: str
) -> Iterator[str]:
    before, after = states
    yield from _ended_badly(plan, outcome)
    looked = child(lambda: _look_and_go_on(operation, root))
    if looked.word != "acknowledged":
        yield f"unreadable: {looked.detail}"
        return
    state, again = cast("tuple[object, str]", looked.value)
    if not operation.legal(before, after, state):
        yield f"an illegal state: {json.dumps(state, default=str)[:300]}"
    if outcome.word == "acknowledged" and state != after:
        yield "acknowledged, but lost"
    if outcome.changed == "no" and state != before:
        yield f"said that nothing was changed, but something was ({outcome.word}: {outcome.detail})"
    if plan.fault == "errno" and name == "fsync" and outcome.word == "acknowledged":
        yield "acknowledged without the disk's word"
    if again:
        yield f"the next writer did not get in: {again}"
    yield from untidy(root)


def _ended_badly(plan: Plan, outcome: Outcome) -> Iterator[str]:
    if outcome.word == "stuck":
        yield "stuck"
    if plan.fault.startswith("kill") and outcome.word != "died":
        yield f"the kill did not happen: {outcome.word}"
    if not outcome.expected:
        yield f"not an error of ours: {outcome.detail}"
    if outcome.changed != "no" and "nothing was changed" in outcome.detail.lower():
        yield f"says that nothing was changed, and does not know ({outcome.word}: {outcome.detail})"


def _look_and_go_on(operation: Operation, root: Path) -> tuple[object, str]:
    state = operation.look(root)
    try:
        (operation.again or operation.run)(root)
    except Exception:  # noqa: BLE001 - told to the judge
        return state, traceback.format_exc()
    return state, ""


def untidy(root: Path) -> Iterator[str]:
    """What lies below a directory that should not: temporaries, and files that others could read."""
    for path in root.rglob("*"):
        status = path.lstat()
        if stat.S_IMODE(status.st_mode) & 0o077:
            yield f"{path.name} can be read by others"
        if path.name.startswith(".") and (".tmp-" in path.name or ".bak-" in path.name):
            yield f"{path.name} was left behind"
