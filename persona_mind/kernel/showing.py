"""The way out of every row: its texts and its label are judged together, and one broken rule withholds the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.speech import phrase
from persona_mind.kernel import labels
from persona_mind.kernel.wording import by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.kernel.approvals import RowApproval
    from persona_mind.kernel.rowfields import RowOrigin
    from persona_store.admission import Shown, Withheld


class Judged(NamedTuple):
    """A row's texts as they may be shown now.

    Attributes:
        withheld: The rule that withholds the row; empty where it is shown.
        texts: As many as were judged, in their order; all empty where the row is withheld.
        label: Whose the row is; empty where that is nobody or may not be shown.
        flags: What stands out about the texts.
    """

    withheld: str
    texts: tuple[str, ...]
    label: str
    flags: frozenset[str]

    @property
    def directive(self) -> bool:
        """It reads like an instruction, and a model wrote it."""
        return "directive" in self.flags

    @property
    def approved(self) -> bool:
        """It reads like an instruction, a stranger brought it, and a person approved it."""
        return "approved" in self.flags


def judged_all(
    parts: Iterable[tuple[str, RowOrigin]],
    approvals: tuple[RowApproval, ...] | None = None,
    label: str | None = None,
) -> Judged:
    """Judge a row by the rules of now.

    Args:
        parts: Its texts, each with who brought it.
        approvals: The row's.
        label: The segment of the persona that the row says it is of.
    """
    # The scanner takes a while to load, and an empty memory needs none.
    from persona_store.admission import Shown  # noqa: PLC0415

    verdicts = [judged(text, origin, approvals) for text, origin in parts]
    broken = next((one.rule for one in verdicts if not isinstance(one, Shown)), "")
    broken = broken or (labels.broken(label) if label else "")
    texts = tuple("" if broken or not isinstance(one, Shown) else one.text for one in verdicts)
    flags = frozenset[str]().union(*(one.flags for one in verdicts if isinstance(one, Shown)))
    return Judged(broken, texts, labels.told(label or None), flags)


def judged(text: str, origin: RowOrigin, approvals: tuple[RowApproval, ...] | None) -> Shown | Withheld:
    """Return one text of a row as it may be shown now; see ``persona_store.admission.show``.

    Args:
        text: As it is stored.
        origin: The row's.
        approvals: The row's.
    """
    # The scanner takes a while to load, and an empty memory needs none.
    from persona_store.admission import Approval, Shown, show  # noqa: PLC0415
    from persona_store.examination import digest  # noqa: PLC0415

    own = digest(text) if approvals else ""
    for given in approvals or ():
        if given.digest != own:
            continue
        # What only the second opinion held is shown without an approval, too; but then nobody is told of it.
        excused = show(text, origin, approval=Approval(given.digest, given.rules, given.rules_version))
        if isinstance(excused, Shown) and "approved" in excused.flags:
            return excused
    return show(text, origin)


def brought(origin: RowOrigin, *, directive: bool, approved: bool) -> str:
    """Return the phrase for who brought a row's words; what reads like an order must not be taken for the person's."""
    if directive:
        return phrase("{by}, not the user", by=by(origin))
    return phrase("{by}, approved", by=by(origin)) if approved else by(origin)
