"""The words of the safekeeping verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.safekeeping.outcomes import (
        BackedUp,
        BackupsListed,
        BroughtBack,
        Erasure,
        Left,
        Merged,
        TakenIn,
    )

LISTED: Final = 20
_NO_RETURN: Final = (
    "Capture, import, restoring and merging refuse it from now on; `/mind remember … --insist` takes it back. "
    "Backups that you made elsewhere keep it, and restoring one leaves it out."
)


def erased(outcome: Erasure) -> Card:
    """Say what went, and by path what still holds it."""
    finished = (f"{_counted(outcome.finished, 'interrupted erasure')} completed.",) if outcome.finished else ()
    if outcome.what == "nothing":
        return Card(f"{outcome.id} was erased before; nothing of it is left here.", detail=finished, level="success")
    title = f"Erased for good: the {outcome.what} {outcome.id}, from {_counted(len(outcome.files), 'file')}"
    title += f" ({_counted(outcome.rows, 'row')})." if outcome.rows else "."
    return Card(
        title=title,
        body=tuple(_residue(outcome.left)),
        detail=(_NO_RETURN, *finished),
        level="warning" if outcome.left else "success",
    )


def backed_up(outcome: BackedUp) -> Card:
    """Say where the backup lies, and that it is not encrypted."""
    return Card(
        title=f"Backed up {_counted(outcome.files, 'file')}.",
        body=(one_line(outcome.path),),
        detail=("Only you can read it, but it is not encrypted. What is erased later stays in it.",),
        level="success",
        hint="`persona restore DIR` brings it back.",
    )


def listed(outcome: BackupsListed) -> Card:
    """List the backups inside the profile."""
    if not outcome.backups:
        return Card(
            "There is no backup yet.", hint="One is made each day after a conversation; `/mind backup` makes one."
        )
    return Card(
        title=f"{_counted(len(outcome.backups), 'backup')} in {one_line(outcome.folder)}",
        body=tuple(
            f"{one.name}: {f'{one.made}, {one.files} files' if one.made else 'damaged'}" for one in outcome.backups
        ),
        hint="`/mind restore NAME` says what one of them would bring back.",
    )


def brought_back(outcome: BroughtBack) -> Card:
    """Say what came back, what stayed out and where the replaced state is kept."""
    number = _counted(len(outcome.documents), "document")
    detail = [f"{_counted(outcome.withheld, 'row')} stayed out: erased since."] if outcome.withheld else []
    detail += (
        [f"As they were, since the backup does not know them: {len(outcome.untouched)}."] if outcome.untouched else []
    )
    detail += [f"What this replaced is kept as {outcome.kept}."] if outcome.kept else []
    return Card(
        title=f"Restored {number}." if outcome.documents else "Everything is already as the backup holds it.",
        body=_some(outcome.documents),
        detail=tuple(detail),
        level="success",
    )


def merged(outcome: Merged) -> Card:
    """Say what became of each conflict copy."""
    if not outcome.copies:
        return Card("There are no conflict copies.")
    unread = sum(not copy.merged for copy in outcome.copies)
    return Card(
        title=f"Merged {_counted(len(outcome.copies) - unread, 'conflict copy', 'conflict copies')}.",
        body=tuple(map(_copy, outcome.copies)),
        level="warning" if unread else "success",
    )


def _copy(copy: TakenIn) -> str:
    if not copy.merged:
        return f"{one_line(copy.path)}: cannot be read; it lies where it was"
    out = f", {copy.withheld} left out as erased" if copy.withheld else ""
    return f"{one_line(copy.path)}: {copy.added} added to {one_line(copy.document)}{out}"


def _residue(left: Sequence[Left]) -> Iterator[str]:
    if not left:
        yield "No file that was searched still holds it."
        return
    yield "These still hold it, or could not be searched:"
    yield from _some(tuple(f"{one.path}{'' if one.outside else ' (in the profile)'}" for one in left))


def _some(lines: Sequence[str]) -> tuple[str, ...]:
    more = (f"+{len(lines) - LISTED} more",) if len(lines) > LISTED else ()
    return (*(f"  {one_line(line)}" for line in lines[:LISTED]), *more)


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
