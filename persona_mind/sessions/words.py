"""The words of recall over past conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import Card, one_line, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_mind.kernel.past import Speaker
    from persona_mind.sessions.outcomes import Quote, TurnOpened
    from persona_mind.sessions.service import Found

_WHO: Final[dict[Speaker, str]] = {"user": "you", "model": "the model"}


def told(found: Found, quotes: Sequence[Quote]) -> Card:
    """List what was said."""
    unread = f"{found.unread} session logs could not be read" if found.unread else ""
    older = f"{found.older} older conversations are not searched" if found.older else ""
    if not found.known:
        return Card(title="There is no past conversation of this project to look in.", detail=_lines(unread))
    if not quotes:
        return Card(
            title="Nothing that was said in past conversations matches.",
            detail=_lines(unread, older),
            hint="Try other words.",
        )
    some = len(quotes) < found.total
    clipped = sum(not item.whole and not item.withheld for item in quotes)
    withheld = sum(bool(item.withheld) for item in quotes)
    return Card(
        title=f"{len(quotes)} of {found.total} turns recalled" if some else f"{_turns(len(quotes))} recalled",
        body=tuple(map(_line, quotes)),
        detail=_lines(
            f"+{found.total - len(quotes)} more" if some else "",
            f"{_turns(withheld)} withheld: the text breaks a rule" if withheld else "",
            f"{_turns(clipped)} shown in part; sessions.read (/mind session SESSION TURN) shows one whole"
            if clipped
            else "",
            unread,
            older,
        ),
    )


def opened(outcome: TurnOpened) -> Card:
    """Show one turn whole, among its neighbours."""
    who = "You" if outcome.role == "user" else "The model"
    when = f", {outcome.at[:16].replace('T', ' ')}" if outcome.at else ""
    body = (f"[withheld: {outcome.withheld}]",) if outcome.withheld else quoted(outcome.text)
    around = (("Around it:", *map(_line, outcome.around))) if outcome.around else ()
    return Card(title=f"{who} in session {one_line(outcome.session)}{when}", body=body, detail=around)


def _line(quote: Quote) -> str:
    cited = quote.cited
    when = f"{cited.at[:16].replace('T', ' ')}, " if cited.at else ""
    who = f"{_WHO[cited.role]}{', not the user' if quote.directive else ''}"
    text = f"[withheld: {quote.withheld}]" if quote.withheld else quote.text or "(too long to show in part; read it)"
    return f"- [{one_line(cited.session)} {one_line(cited.turn)}] ({when}{who}) {text}"


def _turns(number: int) -> str:
    return f"{number} turn" if number == 1 else f"{number} turns"


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
