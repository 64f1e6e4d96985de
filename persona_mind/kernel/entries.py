"""The entries that the mind leaves in session logs and renders: their types."""

from __future__ import annotations

from typing import Final

CARD: Final = "persona-mind-card"
"""What was captured from a person's words: ids."""
NOTE: Final = "pi-persona-mind-session-note"
"""What happened to a note of this conversation."""
WAKE: Final = "pi-persona-mind-wake"
"""A reminder: ids and deadlines, and how many more there were."""
