"""What the ``mind`` verbs are called with."""

from __future__ import annotations

from persona_hooks.verbs import NoParams


class ShowSnapshot(NoParams):
    """Show what is remembered here: counts, and what the model is given."""


class Doctor(NoParams):
    """Say where memory is stored and how it fares. It shows no memory and repairs nothing."""


class Off(NoParams):
    """Turn memory off for this session."""


class On(NoParams):
    """Turn memory on for this session."""
