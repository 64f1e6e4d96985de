"""The labels of a row: whose it is, what it is called. Files claim what they like, and cards and requests print it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

FORM: Final = "label.form"
"""The rule that a label breaks which no persona's file could be called by."""

UNREADABLE: Final = "(unreadable)"

_WORD: Final = re.compile(r"\S+")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
_HOST: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}", re.ASCII)
_HOST_LENGTH: Final = 32
_DIGITS: Final = re.compile(r"[a-z]?[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


@lru_cache(maxsize=256)
def broken(label: str) -> str:
    """Return the rule that a row's persona breaks, and so withholds the row; empty where it may be shown.

    It is the segment of a persona's files, ours and the original's: some words with nothing between them that could
    pass for a line of its own. What reads like an order or a secret all the same is held back as any text would be.
    """
    return FORM if _SEGMENT.fullmatch(label) is None else unsafe(label)


def unsafe(label: str) -> str:
    """Return the rule that an id or another short name breaks as a text that nobody answers for; empty without one."""
    if _DIGITS.fullmatch(label) is not None:
        return ""
    # The scanner takes a while to load, and the ids that programs make need none.
    from persona_store.admission import Withheld, show  # noqa: PLC0415

    verdict = show(label, "import")
    return verdict.rule if isinstance(verdict, Withheld) else ""


def harmless(label: str) -> str:
    """Return an id if it may stand in a card; for validation, so that the row of another one is kept and never shown.

    Raises:
        ValueError: It breaks a rule.
    """
    if rule := unsafe(label):
        raise ValueError(rule)
    return label


def session(name: str) -> str:
    """Return a session's id as it may be shown; a host may call a session what it likes, and so may a file."""
    return name if _WORD.fullmatch(name) and not unsafe(name) else UNREADABLE


@lru_cache(maxsize=64)
def host(name: str | None) -> str:
    """Return a host's name where it may be kept and shown; empty where it may not, or where there is none.

    It is the host's own claim: any program that starts ours may call itself anything.
    """
    short = "" if name is None or len(name) > _HOST_LENGTH else name.lower().replace(" ", "-")
    return short if _HOST.fullmatch(short) and not unsafe(short) else ""


def told(label: str | None) -> str:
    """Return a row's persona where it may be shown; empty where it may not, or where there is none."""
    return "" if label is None or broken(label) else label
