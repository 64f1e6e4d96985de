"""What the verb of moving in is called with."""

from __future__ import annotations

from persona_hooks.verbs import NoParams


class MigratePersona(NoParams):
    """Move in what an early release stored under this persona's name before such names were kept apart."""
