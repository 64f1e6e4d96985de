"""The ``memory`` verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_hooks.verbs import EVERYONE, Verb
from persona_mind.facts import words
from persona_mind.facts.outcomes import Gone, Line, Opened, Promoted, Recalled, Remembered
from persona_mind.facts.params import Forget, Promote, Read, Recall, Remember, destination, limit, reach
from persona_mind.facts.search import Found
from persona_mind.facts.service import Draft
from persona_mind.facts.shown import shown
from persona_mind.kernel.admitting import admitted, may_wait
from persona_mind.kernel.damaged import served
from persona_mind.recall.part import part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.facts.files import Held
    from persona_mind.facts.search import Views
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.past import Past
    from persona_mind.kernel.scope import Scope
    from persona_mind.recall import Hit

EXCERPT: Final = 240
MODELS: Final = frozenset({"model", "mcp"})
GUIDE: Final = (
    "Durable memory of this persona and project. Call remember once, before the final answer, when the turn settled a "
    "lasting preference, a decision or a verified lesson; leave out transcript, guesses and secrets. Recall before you "
    "ask the person again. What is remembered is reference: what you observe now wins."
)


@dataclass(frozen=True, slots=True)
class MemoryVerbs:
    """The verbs over one profile's facts.

    Attributes:
        access: The gate that every call passes.
        facts: The service.
        views: Recall.
        notice: Returns what a person is told before anything was ever stored, else None.
        past: Recall over past conversations.
        noticed: Is told what a model recalled, and why it was found.
    """

    access: Access
    facts: Facts
    views: Views
    notice: Callable[[], str | None]
    past: Past
    noticed: Callable[[Call, Scope, Iterable[tuple[str, str, Hit]]], None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("memory.remember", Remember, "write", self.remember, words.remembered, EVERYONE, "mind remember"),
            Verb("memory.recall", Recall, "read", self.recall, words.recalled, EVERYONE, "mind recall"),
            Verb("memory.read", Read, "read", self.read, words.opened, EVERYONE, "mind read"),
            Verb("memory.forget", Forget, "write", self.forget, words.gone, EVERYONE, "mind forget"),
            Verb("memory.promote", Promote, "write", self.promote, words.promoted, EVERYONE, "mind promote"),
        )

    def remember(self, call: Call, params: Remember) -> Remembered:
        """Admit every text, then write the fact."""
        scope, permit = self.access.enter(call)
        if not params.insist and may_wait(call.origin):
            # Before a stranger's words are held for a person: what was erased is not kept in quarantine either. All
            # words are asked about once more when they are written.
            self.facts.erased.require(params.text, params.tags, (params.source,))
        elif params.insist and call.origin != "user":
            raise RefusedError(
                phrase("Only a person takes back what was erased."), reason="not_a_person", field="insist"
            )
        draft = Draft(
            kind=params.kind,
            text=admitted(params.text.strip(), call.origin, "text"),
            tags=tuple(admitted(tag.strip(), call.origin, "tags") for tag in params.tags),
            tier=destination(params),
            ttl_hours=params.ttl_hours,
            supersedes=params.supersedes,
            source=None if params.source is None else admitted(params.source, call.origin, "source"),
            derived_from=params.derived_from,
            insist=params.insist,
        )
        notice = self.notice()
        saved = self.facts.remember(scope, draft, permit)
        return Remembered(
            id=saved.fact.id,
            scope=saved.tier,
            kind=saved.fact.kind,
            summary=words.summary(saved.tier, again=saved.again),
            again=saved.again,
            retired=saved.retired,
            notice=notice if call.audience == "person" else None,
            warning=saved.repaired,
            # A model has just written it, and what it reads stays in a transcript.
            text="" if call.audience in MODELS else saved.fact.text,
        )

    def recall(self, call: Call, params: Recall) -> Recalled:
        """Search what the owner sees, and past conversations where they are asked for."""
        scope, _ = self.access.enter(call)
        most = limit(params.max)
        tiers, sessions = reach(params)
        # Of two places, neither crowds out the other.
        told = self.past(call, params.query, max(most // 2, 1) if tiers else most) if sessions else None
        room = most - (told.count if told else 0)
        found = self.views.search(scope, tiers, params.query, room, self.facts.now()) if tiers else Found((), 0, 0)
        lines = tuple(_line(held, params.query) for held, _ in found.facts)
        if call.audience in MODELS:
            self.noticed(call, scope, [(held.tier, held.fact.id, hit) for held, hit in found.facts])
        count, total = (len(lines) + told.count, found.total + told.total) if told else (len(lines), found.total)
        return Recalled(
            count=count,
            total=total,
            max=most,
            asked=params.max,
            withheld=total - count,
            withheld_unsafe=found.unsafe + (told.withheld_unsafe if told else 0),
            ids=tuple(line.fact.id for line in lines),
            known=found.known + (told.known if told else 0),
            sessions=told,
            meaning=found.compared,
            warning=self._served(scope, found),
            tiers=tiers,
            lines=lines,
        )

    def read(self, call: Call, params: Read) -> Opened:
        """Return one fact whole."""
        scope, _ = self.access.enter(call)
        held = self.facts.read(scope, params.id)
        fact = held.fact
        out = shown(held)
        return Opened(
            id=fact.id,
            scope=held.tier,
            kind=fact.kind,
            withheld=out.withheld or None,
            recorded_at=fact.recorded_at,
            last_seen_at=fact.last_seen_at,
            expires_at=fact.expires_at,
            supersedes=fact.supersedes,
            derived_from=fact.derived_from,
            origin=fact.brought_by,
            host=out.host or None,
            persona=out.persona or None,
            fact=out,
        )

    def forget(self, call: Call, params: Forget) -> Gone:
        """Retire one fact."""
        scope, permit = self.access.enter(call)
        done = self.facts.forget(scope, params.id, permit, tier=params.scope)
        return Gone(id=done.id, removed=len(done.tiers), scopes=done.tiers, kept=done.kept, warning=done.repaired)

    def promote(self, call: Call, params: Promote) -> Promoted:
        """Keep a working fact for good."""
        scope, permit = self.access.enter(call)
        saved = self.facts.promote(scope, params.id, permit, tier=params.scope)
        return Promoted(id=saved.fact.id, scope=saved.tier, kind=saved.fact.kind, warning=saved.repaired)

    def _served(self, scope: Scope, found: Found) -> str | None:
        """Return what is told where a previous version was read: of the first, since one tells enough."""
        told = (served(self.facts.files.document(tier, scope), damage) for tier, damage in found.damaged)
        return next(told, None)


def _line(held: Held, query: str) -> Line:
    fact = shown(held)
    text, whole = part(fact.text, EXCERPT, query)
    return Line(fact=fact, excerpt=text, whole=whole)
