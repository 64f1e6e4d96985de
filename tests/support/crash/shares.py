"""A battery cut into shares that processes can take: a share is some of the points of one operation."""

from __future__ import annotations

import importlib
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tests.support.crash.battery import Operation, injure
from tests.support.crash.checks import scratch
from tests.support.crash.documents import OPERATIONS
from tests.support.crash.whole import WHOLE

if TYPE_CHECKING:
    from tests.support.crash.battery import Report


class Share(NamedTuple):
    """Each ``of``-th point of an operation from ``first`` on; ``verbs`` says that it is a verb of the registry."""

    name: str
    first: int
    of: int
    verbs: bool


class Done(NamedTuple):
    """What a share found, and the seconds it took."""

    report: Report
    seconds: float


def take(share: Share) -> Done:
    """Injure a share of an operation; the first share of a process loads what all of them need."""
    operation = (_verbs() if share.verbs else _operations())[share.name]
    began = time.monotonic()
    report = injure(operation, scratch(), every=share.of, first=share.first)
    return Done(report, time.monotonic() - began)


@cache
def _operations() -> dict[str, Operation]:
    return {one.name: one for one in (*OPERATIONS, *WHOLE)}


@cache
def _verbs() -> dict[str, Operation]:
    # The whole host is loaded for them, and no other operation needs it.
    registry = importlib.import_module("tests.support.crash.verbs")
    return {one.name: one for one in registry.operations()}
