"""The battery without child processes: an operation is injured in this one, so that a whole stage takes a second.

A kill is played: from the chosen effect on nothing reaches the disk any more, whatever the code still tries; then its
locks are let go and its open files closed, as the system would do. What only a real end of a process shows is for the
real battery.
"""

# ruff: noqa: ANN401 - the functions of os are passed through as they are
from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from persona_hooks.errors import PersonaError
from persona_store import files
from tests.support.crash.battery import Operation, untidy
from tests.support.crash.effects import CHANGING, READING, Fault, Plan, Shim, plans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Dead(BaseException):
    """The process would not be there any more."""


@dataclass
class Mortal(Shim):
    """A shim that goes again."""

    dead: bool = False
    lives_on: bool = False
    _real: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def install(self) -> None:
        """Put it in front of the file effects of this process, until ``remove``."""
        self._real = {name: getattr(_module(name), name) for name in (*CHANGING, *READING)}
        super().install()

    def remove(self) -> None:
        """Take it away, and close what an ended process would have left open, unless this one lives on."""
        self.dead, self.plan = False, None
        for name, real in self._real.items():
            setattr(_module(name), name, real)
        for descriptor in () if self.lives_on else self._descriptors:
            with suppress(OSError):
                os.close(descriptor)

    def die(self) -> None:
        """Let nothing happen any more."""
        self.dead = True
        raise Dead

    def _perform(
        self, at: int, name: str, real: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        if self.dead:
            raise Dead
        return super()._perform(at, name, real, arguments, keywords)


def _module(name: str) -> Any:
    return fcntl if name == "flock" else os


@contextmanager
def injured(root: Path, plan: Plan | None = None, *, lives_on: bool = False) -> Iterator[Mortal]:
    """Break file effects below a directory for the length of a block, after which the process ends or lives on."""
    shim, young = Mortal(str(root), plan, lives_on=lives_on), files.YOUNG_NS
    # Whether bytes are compared must not hang on how fast this machine is just now.
    files.YOUNG_NS = 1 << 62  # type: ignore[misc]
    shim.install()
    try:
        yield shim
    finally:
        shim.remove()
        files.YOUNG_NS = young  # type: ignore[misc]


def effects_of(operation: Operation, scratch: Path) -> list[str]:
    """Return the file effects of a healthy run, by name."""
    root = _seeded(operation, scratch / "healthy")
    with injured(root) as shim:
        operation.run(root)
    return list(shim.log)


def injure_inside(operation: Operation, scratch: Path, kinds: tuple[Fault, ...]) -> list[str]:
    """Injure an operation at every effect, and return what it broke; as `battery.injure`."""
    template = _seeded(operation, scratch / "template")
    before = operation.look(template)
    healthy = shutil.copytree(template, scratch / "after")
    with injured(healthy) as shim:
        operation.run(healthy)
    after, found = operation.look(healthy), list[str]()
    for number, plan in enumerate(plans(shim.log, kinds)):
        # A directory of its own each: nothing that this process knows of one run may help another.
        root = shutil.copytree(template, scratch / f"point-{number}")
        where = f"{operation.name}: {plan.fault} at {plan.at} ({shim.log[plan.at]}, errno {plan.code})"
        found += [f"{where}: {fault}" for fault in _faults(operation, root, plan, shim.log[plan.at], (before, after))]
        shutil.rmtree(root)
    return found


def goes_on(
    root: Path, first: Callable[[], object], again: Callable[[], object], kinds: tuple[Fault, ...]
) -> list[str]:
    """Injure one call of a process that lives on, at every effect; return where the next one did not get in.

    Args:
        root: Below which the effects are.
        first: The call that is injured. Its process keeps what it knows, and it can be made any number of times.
        again: The next call, of another process that this one keeps out if it still holds something, and of this one.
        kinds: Which faults; kills need a process that ends.
    """
    with injured(root, lives_on=True) as shim:
        first()
    found = []
    for plan in plans(list(shim.log), kinds):
        error = _error_of(first, root, plan, lives_on=True)
        if not isinstance(error, None | PersonaError | KeyboardInterrupt):
            found.append(f"{plan}: {error!r}")
        after = _error_of(again, root, None, lives_on=True)
        if after is not None:
            found.append(f"{plan} ({shim.log[plan.at]}): the next call did not get in: {after!r}")
    return found


def _seeded(operation: Operation, root: Path) -> Path:
    root.mkdir(mode=0o700)
    operation.seed(root)
    return root


def _faults(operation: Operation, root: Path, plan: Plan, name: str, states: tuple[object, object]) -> Iterator[str]:
    before, after = states
    error = _error_of(partial(operation.run, root), root, plan)
    if not isinstance(error, None | PersonaError | KeyboardInterrupt | Dead):
        yield f"not an error of ours: {error!r}"
    state = operation.look(root)
    if not operation.legal(before, after, state):
        yield f"an illegal state: {state}"
    if error is None and state != after:
        yield "acknowledged, but lost"
    if error is None and plan.fault == "errno" and name == "fsync":
        yield "acknowledged without the disk's word"
    if getattr(error, "changed", "") == "no" and state != before:
        yield "said that nothing was changed, but something was"
    again = _error_of(partial(operation.again or operation.run, root), root, None)
    if again is not None:
        yield f"the next writer did not get in: {again!r}"
    yield from untidy(root)


def _error_of(
    work: Callable[[], object], root: Path, plan: Plan | None, *, lives_on: bool = False
) -> BaseException | None:
    """Return what ended the work; None where nothing did."""
    try:
        with injured(root, plan, lives_on=lives_on):
            work()
    except BaseException as error:  # noqa: BLE001 - judged by the caller
        return error
    return None
