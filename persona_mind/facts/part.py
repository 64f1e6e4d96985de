"""The part of a text that is shown where there is no room for all of it."""

from __future__ import annotations


def part(text: str, limit: int, query: str = "") -> tuple[str, bool]:
    """Return at most ``limit`` characters of a text and whether that is all of it; nothing where a cut would change it.

    Args:
        text: One line.
        limit: In characters, ellipses included.
        query: Words around which to look for a part; the beginning without it.
    """
    if len(text) <= limit:
        return text, True
    # Most texts are short, and the analysis behind excerpts takes a while to load.
    from persona_mind.recall.excerpt import excerpt  # noqa: PLC0415

    found = excerpt(text, limit, query)
    return found.text, found.whole
