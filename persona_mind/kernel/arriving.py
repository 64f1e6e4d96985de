"""Through which host words come where that is not the host that serves now: a held call is made once more elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_via: ContextVar[str] = ContextVar("persona_mind_via")


@contextmanager
def arriving(host: str) -> Iterator[None]:
    """Let what is written inside say that it came through ``host``; empty for one that is not known."""
    before = _via.set(host)
    try:
        yield
    finally:
        _via.reset(before)


def via(serving: str) -> str:
    """Return the host that words come through now: the one that serves, unless they came before, through another."""
    return _via.get(serving)
