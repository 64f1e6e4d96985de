"""What a conversation shows, as values, and the port that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from persona_hooks.cards import COMPACT_COLUMNS, Card, one_line, render
from persona_hooks.speech import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from persona_hooks.verbs import Answer

Kind = Literal["reply", "card", "answer", "tool", "notice", "no_model", "error", "handled"]


@dataclass(frozen=True, slots=True)
class Event:
    """One outcome.

    Attributes:
        kind: ``reply`` is the model's, ``answer`` a command's, ``tool`` a tool call's, ``card`` an entry of the log,
            ``handled`` a plugin's in the model's place; ``no_model`` and ``error`` stand where one would; ``notice``
            is the host's.
        ok: Whether it is what was asked for.
        card: The words.
        data: Facts for programs.
        whole: Show every line of the card: the person asked for it.
        said: A reply's text, which has no card.
    """

    kind: Kind
    ok: bool
    card: Card
    data: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    said: str = ""

    @property
    def text(self) -> str:
        """The whole text, as programs read it."""
        return self.said or self.card.text()


class Screen(Protocol):
    """Where a conversation is shown. Called from one thread at a time."""

    def waiting(self) -> None:
        """Show that the model is at work; whatever is shown next stands in its place."""

    def delta(self, text: str) -> None:
        """Show a piece of a reply that is being streamed."""

    def show(self, event: Event) -> None:
        """Show an outcome. A reply's text was streamed before; it ends here."""


def answered(answer: Answer) -> Event:
    """Return the event for a command's answer."""
    return Event("answer", answer.ok, answer.card, {"verb": answer.verb, **answer.details}, whole=True)


def carded(card: Card, kind: Kind = "card", data: Mapping[str, Any] | None = None, *, whole: bool = False) -> Event:
    """Return the event for a card; it is ok unless it warns."""
    return Event(kind, card.level in {"info", "success"}, card, data or {}, whole)


def shown(card: Card, columns: int | None, *, whole: bool) -> list[str]:
    """Return a card's lines, title first, hint last.

    Both come whole, since half of a notice or of an advice is none. A card that is not asked to be ``whole`` has three
    lines between them, cut at ``columns``; without ``columns`` (a pipe) nothing is cut.
    """
    compact = columns is not None and not whole
    _, *lines = render(replace(card, hint=""), columns=columns or COMPACT_COLUMNS, expanded=not compact)
    return [one_line(card.title), *lines, *([one_line(card.hint)] if card.hint else [])]


def stopped() -> Event:
    """Return the notice that a person stopped a reply."""
    return Event("notice", ok=True, card=Card(say("Stopped. What was said is kept."), level="warning"))
