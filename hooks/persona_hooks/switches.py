"""Switches in the environment and in settings: what counts as a plain no."""

from __future__ import annotations

from typing import Final

_NO: Final = frozenset({"off", "false", "0", "no"})


def is_no(value: str | None) -> bool:
    """Return whether a value is a plain no: ``off``, ``false``, ``0`` or ``no``, in capitals too, spaces apart."""
    return (value or "").strip().lower() in _NO


def is_set(value: str | None) -> bool:
    """Return whether a variable was set to anything but a plain no; blank counts as not set."""
    return bool((value or "").strip()) and not is_no(value)
