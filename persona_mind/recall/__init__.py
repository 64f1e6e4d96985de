"""Recall: finding what is remembered, and saying why it was found.

Pure and shared by every faculty: documents go in, hits come out, and each hit is explained by the terms its score is
the sum of. No file is touched and no clock is read. ``docs/recall.md`` holds the formula and the figures.

Nothing is loaded before it is used: whoever shows a short text needs no ranking.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from persona_mind.recall.explain import Hit, Term, why
    from persona_mind.recall.index import Index
    from persona_mind.recall.model import CONVERSATION, ITEMS, Doc, Profile, Synced

__all__ = ["CONVERSATION", "ITEMS", "Doc", "Hit", "Index", "Profile", "Synced", "Term", "why"]

_HOMES: Final = dict.fromkeys(("Hit", "Term", "why"), "explain") | {"Index": "index"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    found: object = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'model')}"), name)
    globals()[name] = found
    return found
