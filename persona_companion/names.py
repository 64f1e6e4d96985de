"""Names of personas: their one spelling, and which names may not stand side by side."""

from __future__ import annotations

import unicodedata
from typing import Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase

MAX_NAME: Final = 128
"""The longest name in characters, as the messages of the bus allow."""

NONE: Final = "none"
"""What a person writes to ask for no persona; so it is no persona's name."""


def canonical(name: str) -> str:
    """Return the one spelling under which a name is kept and compared: NFC, without space around it."""
    return unicodedata.normalize("NFC", name).strip()


def check(name: str) -> None:
    """Raise unless the canonical ``name`` may be a persona's.

    Raises:
        RefusedError: It is too long, reserved, a device name of Windows, mixes scripts or hides characters.
            The message does not repeat it.
    """
    from persona_store.confusables import check_name  # noqa: PLC0415 - its tables are not needed where nobody is named

    if len(name) > MAX_NAME:
        raise RefusedError(
            phrase("This persona name is refused: it is longer than {limit} characters.", limit=MAX_NAME),
            reason="unsafe_name",
        )
    check_name(name, kind="persona")


def likeness(name: str) -> str:
    """Return a key that is equal for names that people, or file systems, would take for each other."""
    from persona_store.confusables import skeleton  # noqa: PLC0415 - as above

    return skeleton(name)
