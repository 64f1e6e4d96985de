"""The words of the ``archive`` verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_mind.archive.outcomes import Exported, Imported, SourceReport

_COUNTS: Final = (
    ("added", "added"),
    ("renewed", "renewed"),
    ("known", "known"),
    ("quarantined", "waiting for you"),
    ("refused", "refused"),
    ("failed", "failed"),
    ("skipped", "left out"),
)


def imported(outcome: Imported) -> Card:
    """Say what became of everything, then of each source."""
    number = f"{outcome.added} {'memory' if outcome.added == 1 else 'memories'}"
    title = f"Would import {number}; nothing was written" if outcome.rehearsed else f"Imported {number}"
    hint = "`/mind quarantine` shows what waits for you." if outcome.quarantined and not outcome.rehearsed else ""
    ignored = (f"{outcome.ignored} files hold no memories and were passed over.",) if outcome.ignored else ()
    return Card(
        title=f"{title}, from {len(outcome.sources)} {'source' if len(outcome.sources) == 1 else 'sources'}.",
        body=tuple(line for source in outcome.sources for line in _lines(source)),
        detail=ignored,
        level="warning" if outcome.failed or outcome.refused else "success",
        hint=hint,
    )


def exported(outcome: Exported) -> Card:
    """Say what was written, and that it is not encrypted."""
    told = ", ".join(f"{count} {part}" for part, count in outcome.entries.items())
    whose = "all personas and projects" if outcome.everything else "what this persona sees here"
    return Card(
        title=f"Exported {whose}: {told}.",
        body=(f"{outcome.path} ({outcome.bytes:,} bytes)",),
        detail=("Only you can read the file, but it is not encrypted. What waits in quarantine is not in it.",),
        level="success",
        hint="`persona import FILE` takes it back.",
    )


def _lines(source: SourceReport) -> Iterator[str]:
    counts = [f"{value} {word}" for name, word in _COUNTS if (value := getattr(source, name))]
    form = f" ({source.format})" if source.format else ""
    yield f"{one_line(source.name)}{form}: {', '.join(counts) or 'nothing in it'}"
    for problem in source.problems:
        yield f"  {one_line(problem.where)}: {one_line(problem.what)}"
    told, left = len(source.problems), source.refused + source.failed
    if told and left > told:
        yield f"  +{left - told} more"
