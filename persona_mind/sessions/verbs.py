"""The ``sessions`` verbs, and what a recall asks of past conversations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_hooks.verbs import EVERYONE, Verb
from persona_mind.kernel.past import Told
from persona_mind.kernel.settings import SESSIONS
from persona_mind.sessions import words
from persona_mind.sessions.outcomes import TurnOpened
from persona_mind.sessions.params import ReadTurn
from persona_mind.sessions.shown import cited, quote

if TYPE_CHECKING:
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Scope
    from persona_mind.sessions.model import Turn
    from persona_mind.sessions.outcomes import Quote
    from persona_mind.sessions.service import Sessions

EXCERPT: Final = 240
AROUND: Final = 1
"""Turns that are shown before and after one that is read."""
GUIDE: Final = (
    "What was said in past conversations here. `memory` recall with the scope `sessions` cites session and turn."
)


@dataclass(frozen=True, slots=True)
class SessionVerbs:
    """The verbs over past conversations.

    Attributes:
        access: The gate that every call passes.
        sessions: The service.
    """

    access: Access
    sessions: Sessions

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (Verb("sessions.read", ReadTurn, "read", self.read, words.opened, EVERYONE, "mind session"),)

    def recall(self, call: Call, query: str, limit: int) -> Told:
        """Search what was said; see ``kernel.past.Past``.

        Raises:
            RefusedError: The person has turned it off.
        """
        scope = self._enter(call)
        judged: dict[str, Quote] = {}

        def withheld(turn: Turn) -> bool:
            if turn.key not in judged:
                judged[turn.key] = quote(turn, EXCERPT, query)
            return bool(judged[turn.key].withheld)

        found = self.sessions.search(call.session, scope, query, limit, withheld)
        quotes = [judged[turn.key] for turn, _ in found.turns]
        return Told(
            count=len(quotes),
            total=found.total,
            known=found.known,
            withheld_unsafe=found.unsafe,
            turns=tuple(item.cited for item in quotes),
            meaning=found.compared,
            words=lambda: words.told(found, quotes),
        )

    def read(self, call: Call, params: ReadTurn) -> TurnOpened:
        """Return one turn whole. Its pieces are judged together; what stands around it, by itself."""
        scope = self._enter(call)
        pieces, around = self.sessions.read(call.session, scope, params.session, params.turn, AROUND)
        from persona_store.admission import Shown, show  # noqa: PLC0415 - the scanner takes a while to load

        shown = [show(turn.text, turn.role) for turn in pieces]
        broken = next((part.rule for part in shown if not isinstance(part, Shown)), "")
        where = cited(pieces[0])
        return TurnOpened(
            session=where.session,
            turn=where.turn,
            at=where.at,
            role=where.role,
            withheld=broken or None,
            text="" if broken else "\n".join(part.text for part in shown if isinstance(part, Shown)),
            around=tuple(quote(turn, EXCERPT) for turn in around),
        )

    def _enter(self, call: Call) -> Scope:
        scope, _ = self.access.enter(call)
        if not self.access.settings(call.session).sessions:
            raise RefusedError(
                phrase(
                    "Recall over past conversations is off; `{setting}` in persona/settings.json turns it on.",
                    setting=SESSIONS,
                ),
                reason="sessions_off",
            )
        return scope
