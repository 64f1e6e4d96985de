"""Recall: finding what is remembered, and saying why it was found.

Pure and shared by every faculty: documents go in, hits come out, and each hit is explained by the terms its score is
the sum of. No file is touched and no clock is read. ``docs/recall.md`` holds the formula and the figures.
"""

from __future__ import annotations

from persona_mind.recall.explain import Hit, Term, why
from persona_mind.recall.index import Index
from persona_mind.recall.model import CONVERSATION, ITEMS, Doc, Profile, Synced

__all__ = ["CONVERSATION", "ITEMS", "Doc", "Hit", "Index", "Profile", "Synced", "Term", "why"]
