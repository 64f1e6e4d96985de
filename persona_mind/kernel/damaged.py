"""What a person is told of a document whose previous version had to serve: it may lack the last change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from persona_hooks.speech import phrase
from persona_store.layout import shown

if TYPE_CHECKING:
    from pathlib import Path

    from persona_store.document import Damage, Document

MISSING: Final = "missing"
"""The reason of a damage that leaves nothing to keep."""


def served(document: Document[Any], damage: Damage | None) -> str | None:
    """Return the phrase about a version that was read in place of a damaged one; None where nothing is damaged."""
    if damage is None:
        return None
    if damage.reason == MISSING:
        return phrase(
            "{path} is missing; its previous version is shown, the last change may be missing", path=_of(document)
        )
    return phrase(
        "{path} is damaged; its previous version is shown, the last change may be missing; the next change keeps what "
        "is damaged beside it",
        path=_of(document),
    )


def repaired(document: Document[Any], damage: Damage | None) -> str | None:
    """Return the phrase about a change that stands on the previous version of a damaged one; None where it does not."""
    return None if damage is None else _repaired(document.path, damage.reason)


def recovered(path: Path, reason: str, at: str) -> str:
    """Return the phrase about a document that was carried on from its previous version at a time."""
    return phrase("{what} ({at})", what=_repaired(path, reason), at=at)


def _repaired(path: Path, reason: str) -> str:
    if reason == MISSING:
        return phrase(
            "{path} was missing; its previous version went on, the last change may be missing", path=shown(path)
        )
    kept = _kept(path)
    if kept is None:
        return phrase(
            "{path} was damaged; its previous version went on, the last change may be missing", path=shown(path)
        )
    return phrase(
        "{path} was damaged; its previous version went on, the last change may be missing; what was damaged is kept as "
        "{name}",
        path=shown(path),
        name=kept,
    )


def _kept(path: Path) -> str | None:
    """Return the name of the damaged version of a file that was put aside last."""
    beginning = f"{path.name}.corrupt-"
    try:
        numbers = [
            name[len(beginning) :]
            for name in (found.name for found in path.parent.iterdir())
            if name.startswith(beginning)
        ]
    except OSError:
        return None
    last = max((int(number) for number in numbers if number.isdecimal()), default=None)
    return None if last is None else shown(f"{beginning}{last}")


def _of(document: Document[Any]) -> str:
    return shown(document.path)
