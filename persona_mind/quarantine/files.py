"""The file that the quarantine of a profile stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_mind.quarantine.model import HeldCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_store.document import Document
    from persona_store.transaction import Profile

FILE: Final = "quarantine.json"


def document(profile: Profile) -> Document[HeldCall]:
    """Return the document; naming it touches no disk."""
    return profile.document(FILE, HeldCall)


def erase_previous(profile: Profile, check: Callable[[], None] | None = None) -> None:
    """Let the file's previous version be the present one, so that a text that left the file is nowhere beside it.

    The profile's transaction must be held.
    """
    # Few commands erase.
    from persona_store.document import Document  # noqa: PLC0415
    from persona_store.previous import scrub  # noqa: PLC0415
    from persona_store.rows import RawCodec  # noqa: PLC0415

    scrub(profile, Document(profile.root, FILE, RawCodec()), check)
