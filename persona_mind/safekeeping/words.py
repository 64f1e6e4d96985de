"""The words of the safekeeping verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.kernel.wording import lines, moment, more

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from persona_mind.safekeeping.outcomes import (
        BackedUp,
        BackupsListed,
        BroughtBack,
        Erasure,
        Faulty,
        Left,
        LeftAsItWas,
        Merged,
        TakenIn,
    )

LISTED: Final = 20
_NO_RETURN: Final = phrase(
    "Capture, import, restoring and merging refuse it from now on; `/mind remember … --insist` or `/mind backlog add … "
    "--insist` takes it back. Backups that you made elsewhere keep it, and restoring one leaves it out."
)
_FOREIGN: Final = phrase(
    "What was erased where this backup comes from stayed out. This profile has a key of its own and cannot note it "
    "down, so the same words can be taken in again."
)


def erased(outcome: Erasure) -> Card:
    """Say what went, and by path what still holds it."""
    finished = say_n(
        "{number} interrupted erasure completed.", "{number} interrupted erasures completed.", outcome.finished
    )
    older = (finished,) if outcome.finished else ()
    if outcome.what == "nothing":
        title = say("{id} was erased before; no document, copy or backup here has that id any more.", id=outcome.id)
        # Its words are nowhere: what else may hold them cannot be searched for again.
        named = say("What still held its words was named then.")
        return Card(title, detail=(named, *older), level="success")
    files = _files(len(outcome.files))
    title = say("{what}, from {files}.", what=_erased(outcome), files=files)
    if outcome.rows:
        rows = say_n("{number} row", "{number} rows", outcome.rows)
        title = say("{what}, from {files} ({rows}).", what=_erased(outcome), files=files, rows=rows)
    return Card(
        title=title,
        body=tuple(_residue(outcome.left)),
        detail=(worded(_NO_RETURN), *older),
        level="warning" if outcome.left else "success",
    )


def _erased(outcome: Erasure) -> str:
    match outcome.what:
        case "fact":
            return say("Erased for good: the fact {id}", id=outcome.id)
        case "item":
            return say("Erased for good: the item {id}", id=outcome.id)
        case "note":
            return say("Erased for good: the note {id}", id=outcome.id)
        case _:
            return say("Erased for good: the held call {id}", id=outcome.id)


def backed_up(outcome: BackedUp) -> Card:
    """Say where the backup lies, that it is not encrypted, and what of the profile was damaged."""
    return Card(
        title=say("Backed up {files}.", files=_files(outcome.files)),
        body=(one_line(outcome.path), *_some([_faulty(one) for one in outcome.damaged])),
        detail=(say("Only you can read it, but it is not encrypted. What is erased later stays in it."),),
        level="warning" if outcome.damaged else "success",
        hint=say("`persona restore DIR` brings it back."),
    )


def listed(outcome: BackupsListed) -> Card:
    """List the backups inside the profile."""
    if not outcome.backups:
        hint = say("One is made each day after a conversation; `/mind backup` makes one.")
        return Card(say("There is no backup yet."), hint=hint)
    return Card(
        title=say_n(
            "{number} backup in {folder}",
            "{number} backups in {folder}",
            len(outcome.backups),
            folder=one_line(outcome.folder),
        ),
        body=tuple(
            f"{one.name}: {f'{moment(one.made)}, {_files(one.files)}' if one.made else say('damaged')}"
            for one in outcome.backups
        ),
        hint=say("`/mind restore NAME` says what one of them would bring back."),
    )


def brought_back(outcome: BroughtBack) -> Card:
    """Say what came back, what did not and why, what stayed out, and where the replaced state is kept."""
    out = say_n("{number} row stayed out: erased since.", "{number} rows stayed out: erased since.", outcome.withheld)
    untouched = say("As they were, since the backup does not know them: {number}.", number=len(outcome.untouched))
    return Card(
        title=_restored(outcome),
        body=(
            *_some(outcome.documents),
            *_some([_left(one) for one in outcome.left]),
            *_some([_faulty(one) for one in outcome.damaged]),
        ),
        detail=lines(
            out if outcome.withheld else "",
            untouched if outcome.untouched else "",
            say("What this replaced is kept as {name}.", name=outcome.kept) if outcome.kept else "",
            worded(_FOREIGN) if outcome.foreign else "",
        ),
        level="warning" if outcome.left or outcome.damaged else "success",
        hint=_way_out(outcome.left),
    )


def _way_out(left: Sequence[LeftAsItWas]) -> str:
    if any(one.reason == "tombstones" for one in left):
        return say(
            "`tombstones.json` cannot be trusted, so nobody can tell what was erased. To restore all the same, move it "
            "out of the profile by hand, `tombstones.json.bak` too if that cannot be read; then restore again."
        )
    return say("Restore it again to bring back what was left as it was.") if left else ""


def _restored(outcome: BroughtBack) -> str:
    if outcome.left:
        return say_n(
            "Restored {number} document; not restored: {left}.",
            "Restored {number} documents; not restored: {left}.",
            len(outcome.documents),
            left=len(outcome.left),
        )
    if outcome.documents:
        return say_n("Restored {number} document.", "Restored {number} documents.", len(outcome.documents))
    if outcome.damaged:
        return say("Nothing was restored.")
    return say("Everything is already as the backup holds it.")


def _left(one: LeftAsItWas) -> str:
    document = one_line(one.document)
    match one.reason:
        case "fingerprint" | "conflict":
            return say("{path}: changed meanwhile", path=document)
        case "busy":
            return say("{path}: somebody else holds it", path=document)
        case "unsupported_version" | "unknown_field":
            return say("{path}: a newer release wrote it", path=document)
        case "tombstones":
            return say("{path}: left out, since it may hold what was erased", path=document)
        case _:
            return say("{path}: could not be replaced; `/mind doctor` says more", path=document)


def _faulty(one: Faulty) -> str:
    document = one_line(one.document)
    match one.fault:
        case "previous":
            return say("{path}: damaged; the backup brings its previous version back", path=document)
        case "unreadable":
            return say("{path}: damaged; the backup brings nothing of it back", path=document)
        case "newer":
            return say("{path}: only a newer release brings it back", path=document)


def merged(outcome: Merged) -> Card:
    """Say what became of each conflict copy."""
    if not outcome.copies:
        return Card(say("There are no conflict copies."))
    unread = sum(not copy.merged for copy in outcome.copies)
    return Card(
        title=say_n("Merged {number} conflict copy.", "Merged {number} conflict copies.", len(outcome.copies) - unread),
        body=tuple(map(_copy, outcome.copies)),
        level="warning" if unread or any(copy.kept for copy in outcome.copies) else "success",
        hint=_one_key() if any(copy.reason == "key" for copy in outcome.copies) else "",
    )


def _one_key() -> str:
    return say(
        "Two machines made a key each, so nobody can tell what was erased. Move the copy of `profile.key` out of the "
        "profile, merge again, and erase once more what the other machine had erased."
    )


def _copy(copy: TakenIn) -> str:
    path, document = one_line(copy.path), one_line(copy.document)
    if copy.reason == "key":
        return say("{path}: lies where it was, since there are two keys", path=path)
    if not copy.merged:
        return say("{path}: cannot be read and lies where it was; look at it, then move or delete it", path=path)
    came = [say("{path}: {number} added to {document}", path=path, number=copy.added, document=document)]
    if copy.renewed:
        came.append(say("{number} brought up to date", number=copy.renewed))
    if copy.withheld:
        came.append(say("{number} left out as erased", number=copy.withheld))
    if copy.kept:
        came.append(say("what no rule settles is kept as {name}", name=one_line(copy.kept)))
    return ", ".join(came)


def _residue(left: Sequence[Left]) -> Iterator[str]:
    if not left:
        yield say("No file that was searched still holds it.")
        return
    yield say("These still hold it, or could not be searched:")
    yield from _some(tuple(one.path if one.outside else say("{path} (in the profile)", path=one.path) for one in left))


def _some(paths: Sequence[str]) -> tuple[str, ...]:
    rest = (more(len(paths) - LISTED),) if len(paths) > LISTED else ()
    return (*(f"  {one_line(path)}" for path in paths[:LISTED]), *rest)


def _files(number: int) -> str:
    return say_n("{number} file", "{number} files", number)
