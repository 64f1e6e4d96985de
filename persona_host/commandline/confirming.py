"""A question on a terminal that is answered with yes or no, in the person's language or in English."""

from __future__ import annotations

import sys
import unicodedata

from persona_hooks.speech import say
from persona_host.embedded.painting import surface_for

ENGLISH = frozenset({"y", "yes"})


def confirmed(what: str, question: str, *, plain: bool) -> bool:
    """Print what would be done, ask, and return whether the answer is yes; no answer, and any other, is no.

    Args:
        what: What would be done, wrapped between words.
        question: Asked after it.
        plain: No colours.
    """
    surface = surface_for(plain=plain, stderr=True)
    surface.line(what)
    surface.write(f"{question} {say('[y/N]')}: ")
    answer = unicodedata.normalize("NFC", sys.stdin.readline()).strip().casefold()
    return answer in ENGLISH | {word.strip() for word in say("y, yes").split(",")}
