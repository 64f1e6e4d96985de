"""What the host lends over the wire: a place to show things, and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_hooks.cards import one_line, render
from persona_hooks.errors import StorageError
from persona_hooks.ports import Completed
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from persona_hooks.cards import Card, Level
    from persona_hooks.ports import Completion
    from persona_host.adapters.stdio.peer import Json, Peer

GRACE = 2.0
"""Seconds by which we wait longer than the host, whose own deadline gives the better answer."""


class RemoteUi:
    """``ports.Ui`` over the wire; where nobody watches, the host drops it."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def notify(self, text: str, level: Level = "info") -> None:
        """Show one short line now."""
        self._peer.notify("ui.notify", {"text": one_line(text), "level": level})

    def status(self, key: str, text: str | None) -> None:
        """Set or clear a plugin's place in the status line."""
        self._peer.notify("ui.status", {"key": key, "text": None if text is None else one_line(text)})


class RemoteModels:
    """``ports.Models`` over the wire: the session's exact model, with the host's own credentials."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def complete(self, request: Completion) -> Completed:
        """Return the reply; see ``ports.Models``."""
        parameters = {
            "system": request.system,
            "prompt": request.prompt,
            "role": request.role,
            "maxTokens": request.max_tokens,
            "deadlineMs": int(request.deadline_seconds * 1000),
        }
        result = self._peer.request(
            "model.complete", parameters, seconds=request.deadline_seconds + GRACE, with_call=True
        )
        try:
            return Completed(
                text=str(result["text"]),
                model=str(result["model"]),
                input_tokens=int(result.get("inputTokens", 0)),
                output_tokens=int(result.get("outputTokens", 0)),
            )
        except (KeyError, TypeError, ValueError):
            raise StorageError(
                phrase("The host answered a completion in a form unknown here."), reason="bad_answer"
            ) from None


def card_on_the_wire(card: Card) -> Json:
    """Return ``card`` as the host shows it: plain lines, already clean of terminal sequences."""
    return {"level": card.level, "compact": render(card), "expanded": render(card, expanded=True)}
