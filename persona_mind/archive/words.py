"""The words of the ``archive`` verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line
from persona_hooks.speech import phrase, say, say_n, thousands, worded
from persona_mind.kernel.wording import more

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_mind.archive.outcomes import Exported, Imported, SourceReport


def imported(outcome: Imported) -> Card:
    """Say what became of everything, then of each source."""
    number = outcome.added
    title = say_n(
        "Imported {number} memory from {sources}.",
        "Imported {number} memories from {sources}.",
        number,
        sources=_sources(outcome),
    )
    if outcome.rehearsed:
        title = say_n(
            "Would import {number} memory from {sources}; nothing was written.",
            "Would import {number} memories from {sources}; nothing was written.",
            number,
            sources=_sources(outcome),
        )
    waits = outcome.quarantined and not outcome.rehearsed
    ignored = say_n(
        "{number} file holds no memories and was passed over.",
        "{number} files hold no memories and were passed over.",
        outcome.ignored,
    )
    return Card(
        title=title,
        body=tuple(line for source in outcome.sources for line in _lines(source)),
        detail=(ignored,) if outcome.ignored else (),
        level="warning" if outcome.failed or outcome.refused else "success",
        hint=say("`/mind quarantine` shows what waits for you.") if waits else "",
    )


def exported(outcome: Exported) -> Card:
    """Say what was written, and that it is not encrypted."""
    told = ", ".join(f"{count} {worded(_PARTS.get(part, part))}" for part, count in outcome.entries.items())
    title = say("Exported what this persona sees here: {entries}.", entries=told)
    if outcome.everything:
        title = say("Exported all personas and projects: {entries}.", entries=told)
    return Card(
        title=title,
        body=(say("{path} ({number} bytes)", path=outcome.path, number=thousands(outcome.bytes)),),
        detail=(say("Only you can read the file, but it is not encrypted. What waits in quarantine is not in it."),),
        level="success",
        hint=say("`persona import FILE` takes it back."),
    )


_PARTS: Final = {"facts": phrase("facts"), "backlog": phrase("backlog"), "notes": phrase("notes")}


def _sources(outcome: Imported) -> str:
    return say_n("{number} source", "{number} sources", len(outcome.sources))


def _lines(source: SourceReport) -> Iterator[str]:
    counts = [
        say("{number} added", number=source.added) if source.added else "",
        say("{number} renewed", number=source.renewed) if source.renewed else "",
        say("{number} known", number=source.known) if source.known else "",
        say("{number} waiting for you", number=source.quarantined) if source.quarantined else "",
        say("{number} refused", number=source.refused) if source.refused else "",
        say("{number} failed", number=source.failed) if source.failed else "",
        say("{number} left out", number=source.skipped) if source.skipped else "",
    ]
    form = f" ({source.format})" if source.format else ""
    yield f"{one_line(source.name)}{form}: {', '.join(filter(None, counts)) or say('nothing in it')}"
    for problem in source.problems:
        yield f"  {one_line(worded(problem.where))}: {one_line(worded(problem.what))}"
    told, left = len(source.problems), source.refused + source.failed
    if told and left > told:
        yield f"  {more(left - told)}"
