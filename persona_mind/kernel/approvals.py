"""What a person approved, kept on the row that holds it: the way out lets exactly that pass, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, Field

from persona_mind.kernel.rowfields import ROW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_store.admission import Admitted

MAX_RULES: Final = 8
MAX_APPROVALS: Final = 128
"""On one row: a text, a source and as many tags as a row may have, with room to spare."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Rule = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,63}$")]


class RowApproval(BaseModel):
    """A person's consent to one text of a row.

    Attributes:
        digest: SHA-256 of the text, so that the consent cannot be moved to another one.
        rules: The rules that it excuses.
        rules_version: The version of the rules it was given under.
    """

    model_config = ROW

    digest: Digest
    rules: Annotated[tuple[Rule, ...], Field(max_length=MAX_RULES, strict=False)]
    rules_version: int


# Not strict about the sequence: an entry of a journal brings a list, a row of a document a tuple.
RowApprovals = Annotated[tuple[RowApproval, ...], Field(max_length=MAX_APPROVALS, strict=False)]


def approvals_of(texts: Iterable[Admitted | None]) -> tuple[RowApproval, ...] | None:
    """Return what has to stand on a row that holds these texts; None where nobody had to approve anything."""
    given = [text.approval for text in texts if text is not None and text.approval is not None]
    found = (RowApproval(digest=one.digest, rules=one.rules, rules_version=one.rules_version) for one in given)
    return tuple(dict.fromkeys(found)) or None


def joined(new: tuple[RowApproval, ...] | None, old: tuple[RowApproval, ...] | None) -> tuple[RowApproval, ...] | None:
    """Return the approvals of a row that is written anew: what was given now, then what stood on it."""
    return tuple(dict.fromkeys((*(new or ()), *(old or ()))))[:MAX_APPROVALS] or None
