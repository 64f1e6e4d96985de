"""Facts on their way out: judged once more, and turned into lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_hooks.speech import phrase
from persona_mind.facts.model import Kind, Tier  # noqa: TC001 - outcomes hold this, and pydantic reads it
from persona_mind.kernel import labels
from persona_mind.kernel.rowfields import RowOrigin  # noqa: TC001 - as above
from persona_mind.kernel.showing import brought, judged_all

if TYPE_CHECKING:
    from persona_mind.facts.files import Held


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact as it may be shown.

    Attributes:
        text: Its text; empty where it is withheld.
        withheld: The rule that withholds it; empty where it is shown.
        persona: Who recorded it, where several personas read the file; empty where that breaks a rule.
        origin: Who brought the words.
        directive: It reads like an instruction, and a model wrote it.
        approved: It reads like an instruction, a stranger brought it, and a person approved it.
        host: The host that it came through; empty where none is named.
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
    host: str = ""

    @property
    def brought(self) -> str:
        """Who brought its words."""
        return brought(self.origin, directive=self.directive, approved=self.approved)

    @property
    def came(self) -> str:
        """Who brought its words, and through which host."""
        return phrase("{by} via {host}", by=self.brought, host=self.host) if self.host else self.brought


def shown(held: Held) -> ShownFact:
    """Return a fact as it may be shown now; a text, tag, source or persona that breaks a rule withholds the whole."""
    fact, origin = held.fact, held.fact.brought_by
    parts = [(part, origin) for part in (fact.text, fact.source or "", *fact.tags)]
    out = judged_all(parts, fact.approvals, fact.persona)
    text, source, *tags = out.texts
    return ShownFact(
        id=fact.id,
        kind=fact.kind,
        tier=held.tier,
        text=text,
        withheld=out.withheld,
        tags=tuple(tags),
        source=source,
        persona=out.label,
        origin=origin,
        directive=out.directive,
        approved=out.approved,
        host=labels.host(fact.host),
    )
