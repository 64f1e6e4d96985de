"""The words of recall over past conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line, quoted
from persona_hooks.speech import phrase, say, say_n, worded
from persona_mind.kernel.wording import lines, moment, more, turns, withheld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.kernel.past import Speaker
    from persona_mind.sessions.outcomes import Quote, TurnOpened
    from persona_mind.sessions.service import Found

_WHO: Final[dict[Speaker, str]] = {"user": phrase("you"), "model": phrase("the model")}


def told(found: Found, quotes: Sequence[Quote]) -> Card:
    """List what was said, and how far likeness of meaning took part in finding it."""
    card = _listed(found, quotes)
    return card if found.compared is None else replace(card, detail=(*card.detail, *found.compared.told()))


def _listed(found: Found, quotes: Sequence[Quote]) -> Card:
    missing = lines(
        say_n("{number} session log could not be read", "{number} session logs could not be read", found.unread)
        if found.unread
        else "",
        say_n(
            "{number} older conversation is not searched", "{number} older conversations are not searched", found.older
        )
        if found.older
        else "",
    )
    if not found.known:
        title = say("There is no past conversation of this project to look in.")
        return Card(title=title, detail=missing[:1] if found.unread else ())
    if not quotes:
        title = say("Nothing that was said in past conversations matches.")
        return Card(title=title, detail=missing, hint=say("Try other words."))
    count, total = len(quotes), found.total
    clipped = sum(not item.whole and not item.withheld for item in quotes)
    unsafe = found.unsafe
    title = say_n("{number} turn recalled", "{number} turns recalled", count)
    if count < total:
        title = say("{count} of {turns} recalled", count=count, turns=turns(total))
    whole = say(
        "{turns} shown in part; sessions.read (/mind session SESSION TURN) shows one whole", turns=turns(clipped)
    )
    return Card(
        title=title,
        body=tuple(map(_line, quotes)),
        detail=lines(
            more(total - count),
            say("{turns} withheld: the text breaks a rule", turns=turns(unsafe)) if unsafe else "",
            whole if clipped else "",
            *missing,
        ),
    )


def opened(outcome: TurnOpened) -> Card:
    """Show one turn whole, among its neighbours."""
    session = one_line(outcome.session)
    title = say("The model in session {session}", session=session)
    if outcome.role == "user":
        title = say("You in session {session}", session=session)
    when = f", {moment(outcome.at)}" if outcome.at else ""
    body = (withheld(outcome.withheld),) if outcome.withheld else quoted(outcome.text)
    around = ((say("Around it:"), *map(_line, outcome.around))) if outcome.around else ()
    return Card(title=f"{title}{when}", body=body, detail=around)


def _line(quote: Quote) -> str:
    cited = quote.cited
    when = f"{moment(cited.at)}, " if cited.at else ""
    who = _WHO[cited.role]
    said = say("{who}, not the user", who=who) if quote.directive else worded(who)
    text = withheld(quote.withheld) if quote.withheld else quote.text or say("(too long to show in part; read it)")
    return f"- [{one_line(cited.session)} {one_line(cited.turn)}] ({when}{said}) {text}"
