"""The part of a text that is shown where there is no room for all of it."""

from __future__ import annotations

from persona_hooks.cards import one_line


def part(text: str, limit: int, query: str = "") -> tuple[str, bool]:
    """Return at most ``limit`` characters of a text as one line, and whether that is all of it.

    What is returned is empty where no part can be shown without changing what the text says.

    Args:
        text: Any text.
        limit: In characters, ellipses included.
        query: Words around which to look for a part; the beginning without it.
    """
    line = one_line(text)
    if len(line) <= limit:
        return line, True
    # Most texts are short, and the analysis behind excerpts takes a while to load.
    from persona_mind.recall.excerpt import excerpt  # noqa: PLC0415

    found = excerpt(line, limit, query)
    return found.text, found.whole
