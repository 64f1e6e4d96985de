"""The verb ``mind.why``: why did it say that, and which memories never help?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.speech import phrase
from persona_hooks.verbs import PEOPLE, Verb
from persona_mind.kernel import labels
from persona_mind.recorder import words
from persona_mind.recorder.outcomes import Occasion, Used, Why
from persona_mind.recorder.params import AskWhy
from persona_mind.recorder.tell import Known, last_request, occasions, useless, uses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Scope
    from persona_mind.recorder.model import Turn
    from persona_mind.recorder.service import Recorder
    from persona_mind.recorder.tell import Uses

OCCASIONS: Final = 5

Describe = Callable[["Call", "Scope"], Mapping[str, Known]]
"""Returns every memory that the owner can see now, by id."""


@dataclass(frozen=True, slots=True)
class WhyVerbs:
    """The verb over the recorder's log.

    Attributes:
        access: The gate that every call passes.
        recorder: The log.
        describe: What the ids stand for now; what it does not know is not told of.
    """

    access: Access
    recorder: Recorder
    describe: Describe

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return it."""
        return (Verb("mind.why", AskWhy, "read", self.why, words.why, PEOPLE, "mind why"),)

    def why(self, call: Call, params: AskWhy) -> Why:
        """Tell of the last request, of one memory, or of those that never help."""
        scope, _ = self.access.enter(call)
        if params.id is not None and params.unused:
            raise InvalidError(phrase("mind.why: name a memory, or ask for the unused ones, not both."), field="unused")
        turns = self.recorder.turns(call.session, scope)
        known = self.describe(call, scope)
        if params.id is not None:
            return _of_memory(turns, known, params.id, scope)
        if params.unused:
            return _of_useless(turns, known, scope)
        turn = last_request(turns, call.session.id, scope.project.slug)
        return Why(recorded=len(turns)) if turn is None else _of_turn(turns, known, turn)


def _of_turn(turns: Sequence[Turn], known: Mapping[str, Known], turn: Turn) -> Why:
    items = tuple(item for item in turn.items if item.id in known)
    return Why(
        recorded=len(turns),
        turn=turn.id,
        at=turn.at,
        session=labels.session(turn.session),
        items=items,
        gone=len(turn.items) - len(items),
        left=dict(turn.left or {}),
        withheld=turn.withheld,
        about={item.id: known[item.id].describe() for item in items},
    )


def _of_memory(turns: Sequence[Turn], known: Mapping[str, Known], handle: str, scope: Scope) -> Why:
    about = known.get(handle)
    if about is None:
        raise NotFoundError(phrase("No memory of this id is visible here; recall lists those that are."), field="id")
    return Why(
        recorded=len(turns),
        memory=Used(id=handle, uses=uses(turns, handle, about, scope.project.slug), about=about.describe()),
        occasions=tuple(
            Occasion(turn=turn.id, at=turn.at, item=item) for turn, item in occasions(turns, handle)[:OCCASIONS]
        ),
    )


def _of_useless(turns: Sequence[Turn], known: Mapping[str, Known], scope: Scope) -> Why:
    found = useless(turns, known, scope.project.slug)
    return Why(
        recorded=len(turns),
        unmatched=_described(found.unmatched, known),
        unseen=_described(found.unseen, known),
        early=found.early,
    )


def _described(listed: Sequence[tuple[str, Uses]], known: Mapping[str, Known]) -> tuple[Used, ...]:
    """Return memories with their uses, the first of them in words."""
    return tuple(
        Used(id=handle, uses=use, about=known[handle].describe() if place < words.LISTED else None)
        for place, (handle, use) in enumerate(listed)
    )
