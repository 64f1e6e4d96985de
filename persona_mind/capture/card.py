"""The card of a capture: the log holds ids, and the words are looked up when it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, clip, one_line
from persona_hooks.errors import PersonaError
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.facts.shown import shown
from persona_mind.kernel.wording import kind_word, withheld

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_hooks.ports import Session
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Scope

COLUMNS: Final = 160
GONE: Final = phrase("(not remembered here now)")


def captured(
    access: Access, facts: Facts, session: Session, data: Mapping[str, object], notice: Callable[[], str]
) -> Card:
    """Return the card of a capture as it is to be shown now.

    What was forgotten since is not shown, and neither is anything without an owner or while memory is off.
    """
    listed = data.get("ids")
    ids = [item for item in listed if isinstance(item, str)] if isinstance(listed, list | tuple) else []
    lines = [f"[{handle}] {text}" for handle, text in zip(ids, _texts(access, facts, session, ids), strict=True)]
    back = say("`/mind forget {id}` takes it back.", id=ids[0] if len(ids) == 1 else "ID")
    first = data.get("first") is True
    return Card(
        title=say_n("Remembered {number} fact", "Remembered {number} facts", len(ids)),
        body=(*lines, back) if first else tuple(lines),
        level="success",
        hint=worded(notice()) if first else back,
    )


def _texts(access: Access, facts: Facts, session: Session, ids: list[str]) -> list[str]:
    try:
        if not access.enabled(session):
            return [say("(memory is off)")] * len(ids)
        scope = access.scope(session, access.owner(session))
    except PersonaError:
        return [say("(no owner)")] * len(ids)
    return [_text(facts, scope, handle) for handle in ids]


def _text(facts: Facts, scope: Scope, handle: str) -> str:
    try:
        fact = shown(facts.read(scope, handle))
    except PersonaError:
        return worded(GONE)
    if fact.withheld:
        return withheld(fact.withheld)
    return clip(f"({worded(kind_word(fact.kind))}) {one_line(fact.text)}", COLUMNS)
