"""The door of every text that a verb stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from persona_hooks.verbs import Origin
    from persona_store.admission import Admitted


def admitted(text: str, origin: Origin, field: str) -> Admitted:
    """Return ``text`` as something that may be stored.

    Raises:
        RefusedError: It breaks a rule; the error names the field, the rule and the place, never the text.
    """
    # The scanner takes a while to load, and most commands store nothing.
    from persona_store.admission import Admitted, admit  # noqa: PLC0415

    verdict = admit(text, origin)
    if isinstance(verdict, Admitted):
        return verdict
    raise verdict.error(field)
