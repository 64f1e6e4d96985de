"""The card of a reminder: the log holds ids, and the words are looked up when it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line
from persona_hooks.errors import PersonaError
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.backlog.lines import line, shown
from persona_mind.kernel.wording import persona_word, state_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from persona_hooks.ports import Session
    from persona_mind.backlog.model import Item
    from persona_mind.backlog.service import Backlog
    from persona_mind.kernel.access import Access

CHARACTERS: Final = 200
GONE: Final = phrase("(no longer in the backlog)")
HINT: Final = phrase("`/mind backlog take ID`, `snooze ID`, `done ID` or `drop ID`.")


def reminder(access: Access, backlog: Backlog, session: Session, data: Mapping[str, object]) -> Card:
    """Return the card of a reminder as it is to be shown now.

    What was removed since is not shown, and neither is anything without an owner or while memory is off.
    """
    listed = data.get("ids")
    ids = [item for item in listed if isinstance(item, str)] if isinstance(listed, list | tuple) else []
    given = data.get("more")
    more = given if isinstance(given, int) and given > 0 else 0
    number = len(ids) + more
    lines = [f"[{handle}] {text}" for handle, text in zip(ids, _texts(access, backlog, session, ids), strict=True)]
    return Card(
        title=say_n("Reminder", "{number} reminders", number),
        body=tuple(lines),
        detail=(say("+{number} more; `/mind backlog` lists them", number=more),) if more else (),
        hint=worded(HINT),
    )


def _texts(access: Access, backlog: Backlog, session: Session, ids: Sequence[str]) -> list[str]:
    try:
        if not access.enabled(session):
            return [say("(memory is off)")] * len(ids)
        scope = access.scope(session, access.owner(session))
        found = backlog.recorded(scope.project, set(ids))
    except PersonaError:
        return [say("(no owner)")] * len(ids)
    return [_text(backlog, found[handle], scope.segment) if handle in found else worded(GONE) for handle in ids]


def _text(backlog: Backlog, item: Item, segment: str) -> str:
    out = shown(item, backlog.now())
    text, _ = line(out, CHARACTERS)
    whose = f" · {one_line(worded(persona_word(out.persona)))}" if out.persona not in {"", segment} else ""
    state = "" if item.active else f" ({worded(state_word(item.state))})"
    return f"({worded(out.brought)}) {worded(text)}{whose}{state}"
