"""What ids stand for now, over the faculties whose entries reach a request."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError
from persona_hooks.speech import phrase
from persona_mind.backlog.lines import shown as shown_item
from persona_mind.facts.shown import shown as shown_fact
from persona_mind.facts.words import mark
from persona_mind.kernel.wording import state_word
from persona_mind.recall.part import part
from persona_mind.recorder.tell import Described, Known
from persona_mind.recorder.words import tier_word
from persona_store.structure import inline

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from persona_hooks.verbs import Call
    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.files import Held
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.scope import Scope
    from persona_mind.notes.model import Note
    from persona_mind.notes.service import Notes
    from persona_mind.notes.shown import ShownNote

EXCERPT: Final = 120


@dataclass(frozen=True, slots=True)
class Describing:
    """The faculties that are asked."""

    facts: Facts
    backlog: Backlog
    notes: Notes

    def __call__(self, call: Call, scope: Scope) -> dict[str, Known]:
        """Return everything that the owner can see now, by id. Reads only."""
        return self._items(scope) | self._noted(call, scope) | self._remembered(scope)

    def _remembered(self, scope: Scope) -> dict[str, Known]:
        return {
            held.fact.id: Known(
                held.fact.recorded, held.tier in {"persona", "shared"}, ranked=True, describe=partial(_fact, held)
            )
            for held in self.facts.visible(scope)
        }

    def _noted(self, call: Call, scope: Scope) -> dict[str, Known]:
        try:
            view = self.notes.view(call.session, scope)
        except PersonaError:
            return {}  # `notes` says why; the other memories can be told of all the same
        return {
            note.id: Known(note.saved, everywhere=False, ranked=False, describe=partial(_note, view.shown, note))
            for note in view.notes
        }

    def _items(self, scope: Scope) -> dict[str, Known]:
        now = self.backlog.now()
        return {
            item.id: Known(item.created, everywhere=False, ranked=False, describe=partial(_item, item, now))
            for item in self.backlog.own(scope)
        }


def _fact(held: Held) -> Described:
    out = shown_fact(held)
    return Described(
        phrase("{tier} {mark}", tier=tier_word(held.tier), mark=mark(out, told=False)), _line(out.text, out.withheld)
    )


def _note(show: Callable[[Note], ShownNote], note: Note) -> Described:
    out = show(note)
    return Described(phrase("noted here: {mark}", mark=out.mark), _line(out.text, out.withheld))


def _item(item: Item, now: datetime) -> Described:
    out = shown_item(item, now)
    return Described(phrase("backlog {state}", state=state_word(out.state)), _line(out.text, out.withheld))


def _line(text: str, withheld: str) -> str:
    if withheld:
        return phrase("[withheld: {rule}]", rule=withheld)
    return part(inline(text), EXCERPT)[0] or phrase("(too long to show in part)")
