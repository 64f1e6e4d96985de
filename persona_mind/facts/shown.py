"""Facts on their way out: judged once more, and turned into lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_mind.facts.model import Kind, Tier  # noqa: TC001 - outcomes hold this, and pydantic reads it
from persona_mind.kernel.approvals import judged
from persona_mind.kernel.rowfields import RowOrigin  # noqa: TC001 - as above

if TYPE_CHECKING:
    from persona_mind.facts.files import Held


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact as it may be shown.

    Attributes:
        text: Its text; empty where it is withheld.
        withheld: The rule that withholds it; empty where it is shown.
        persona: Who recorded it, where several personas read the file.
        origin: Who brought the words.
        directive: It reads like an instruction, and a model wrote it.
        approved: It reads like an instruction, a stranger brought it, and a person approved it.
    """

    id: str
    kind: Kind
    tier: Tier
    text: str
    withheld: str
    tags: tuple[str, ...]
    source: str
    persona: str
    origin: RowOrigin
    directive: bool
    approved: bool = False


def shown(held: Held) -> ShownFact:
    """Return a fact as it may be shown now; a text, tag or source that breaks a rule withholds the whole."""
    # The scanner takes a while to load, and an empty memory needs none.
    from persona_store.admission import Shown  # noqa: PLC0415

    fact, origin = held.fact, held.fact.brought_by
    parts = [judged(text, origin, fact.approvals) for text in (fact.text, fact.source or "", *fact.tags)]
    texts = [part.text for part in parts if isinstance(part, Shown)]
    broken = next((part.rule for part in parts if not isinstance(part, Shown)), "")
    text, source, *tags = [""] * len(parts) if broken else texts
    flags = frozenset[str]().union(*(part.flags for part in parts if isinstance(part, Shown)))
    return ShownFact(
        id=fact.id,
        kind=fact.kind,
        tier=held.tier,
        text=text,
        withheld=broken,
        tags=tuple(tags),
        source=source,
        persona=fact.persona or "",
        origin=origin,
        directive="directive" in flags,
        approved="approved" in flags,
    )
